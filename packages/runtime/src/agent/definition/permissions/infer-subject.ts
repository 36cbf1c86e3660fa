import type { PermissionSubject } from "./judged-call.ts";

/**
 * What a tool asks the model of its run is judged as a call of this name: rules such as `infer` or `infer(notes)` are about it. What stands
 * in the parentheses is who asks: the server that the tool speaks for, or the tool.
 */
export const INFER: PermissionSubject = { name: "infer", effect: "write", risk: "medium" };
