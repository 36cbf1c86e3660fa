import type { JsonObject } from "@keelson/protocol";
import { refuse, settleCall, type ReadyCall, type SettledCall } from "../../turn/pending-call.ts";
import type { Loop } from "../../turn/loop.ts";
import { findTools } from "./find-tools.ts";
import { loadTools } from "./load-tools.ts";
import { turnToolsOf } from "./turn-tools.ts";

/** Answers a call of the generated tool from what was recorded. What it finds is in the requests that follow. */
export function searchTools(loop: Loop, call: ReadyCall): SettledCall {
  const { query } = call.input as { readonly query: string };
  const found = findTools(turnToolsOf(loop).listed, query);
  if (found.length === 0)
    return refuse(call, `No tool fits ${JSON.stringify(query)}. Search with other words, or with names from the list of this tool.`);
  loadTools(
    loop,
    call.key,
    found.map(({ name }) => name),
  );
  const tools = found.map(({ name, description, inputSchema }): JsonObject => ({ name, description, inputSchema }));
  return settleCall(call, "ran", { output: { tools }, isError: false });
}
