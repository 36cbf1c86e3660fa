import type { LogId, NewRecord } from "@keelson/protocol";

export const LOG: LogId = "session/one" as LogId;
export const OTHER: LogId = "session/two" as LogId;
export const record = (key: string, data: NewRecord["data"] = { key }): NewRecord => ({ key, type: "note", data });
