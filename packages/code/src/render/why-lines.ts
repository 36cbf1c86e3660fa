import type { ApprovalRequest } from "@keelson/protocol";
import { printableLine } from "../text/printable.ts";

/** The whole reason of a question, in the words of permissions: the risk of the tool, the mode, and the rules that decided. */
export function whyLines({ operation, risk, reason }: Pick<ApprovalRequest, "operation" | "risk" | "reason">): string[] {
  return [`  ${printableLine(operation)}, ${risk} risk: ${printableLine(reason)}`];
}
