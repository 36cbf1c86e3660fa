import { refuse, type OpenCall, type SettledCall } from "../../turn/pending-call.ts";
import type { Loop } from "../../turn/loop.ts";
import { loadedKey, loadTools } from "./load-tools.ts";
import { turnToolsOf } from "./turn-tools.ts";

/** A call that does not fit a tool of which the model knows the name alone is answered with what it would have to know. */
export function explainTool<C extends OpenCall>(loop: Loop, call: C | SettledCall): C | SettledCall {
  if (call.state !== "settled" || call.why !== "invalid-arguments" || call.tool === undefined) return call;
  const { name } = call.tool;
  const { listed, deferred } = turnToolsOf(loop);
  const schema = listed.find((tool) => tool.name === name);
  // After a crash it may be told of whole by now, for this very call.
  if (schema === undefined || !(deferred.includes(schema) || loop.execution.has(loadedKey(call.key)))) return call;
  loadTools(loop, call.key, [name]);
  const { description, inputSchema } = schema;
  return refuse(
    call,
    `${String(call.result.output)}\n${name}: ${description}\nIts arguments: ${JSON.stringify(inputSchema)}`,
    "invalid-arguments",
  );
}
