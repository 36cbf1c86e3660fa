import { prepareCall, type CallArguments } from "../../tools/prepare-call.ts";
import type { Tool } from "@keelson/protocol";
import { readyCall, refuse, type ArrivedCall, type OpenCall, type ReadyCall, type SettledCall } from "../turn/pending-call.ts";

/** Reads arguments, repairs what is safe to repair, and holds them against the schema of the tool. */
export async function fitArguments(call: ArrivedCall | OpenCall, tool: Tool, given: CallArguments): Promise<ReadyCall | SettledCall> {
  const prepared = await prepareCall(tool, given);
  if (prepared.ok) return readyCall(call, { tool, input: prepared.input, value: prepared.value });
  return { ...refuse(call, prepared.message, "invalid-arguments"), tool };
}
