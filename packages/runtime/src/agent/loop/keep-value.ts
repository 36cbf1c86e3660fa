import { type JsonValue, ToolError } from "@keelson/protocol";
import { asJson } from "../../json/json-value.ts";
import { sessionOf, type Loop } from "../turn/loop.ts";
import type { RunningCall } from "../turn/pending-call.ts";

/** UTF-8 bytes of JSON. The state of a session is folded, copied into snapshots and held in memory. */
const MAX_KEPT_BYTES = 64 * 1024;

/** Keeps a value that a tool gives while it runs. It is recorded with the result. */
export function keepValue(loop: Loop, call: RunningCall, name: string, value: JsonValue): void {
  const kept = asJson(value);
  const all = { ...sessionOf(loop).kept, ...Object.fromEntries(call.keeps), [name]: kept };
  const bytes = Buffer.byteLength(JSON.stringify(all));
  if (bytes > MAX_KEPT_BYTES)
    throw new ToolError({
      kind: "execution-failed",
      tool: call.tool.name,
      message: `The value "${name}" of the tool "${call.tool.name}" was not kept: the session would keep ${bytes} bytes, and the limit is ${MAX_KEPT_BYTES}.`,
    });
  call.keeps.set(name, kept);
}
