import type { ToolCall } from "@keelson/protocol";
import { digestOf, shortHash } from "../../json/index.ts";
import type { PendingCall } from "../gates/pending-call.ts";
import { declareInCall } from "../effects/declare-in-call.ts";
import { sessionOf, type Loop } from "./loop.ts";

/** What a tool is given beside its input. */
export function toolCall(loop: Loop, call: PendingCall, number: number, signal: AbortSignal): ToolCall {
  const { execution, world } = loop;
  if (call.declared !== undefined) call.declared.length = 0;
  const callId = call.part.id;
  return {
    callId,
    runId: execution.runId,
    session: execution.session,
    agent: loop.agent.name,
    // Few tools ask for it, and it costs two hashes.
    get idempotencyKey() {
      return idempotencyKey(loop, call);
    },
    attempt: number,
    signal,
    stopping: execution.stopping,
    progress: (message, ratio) => execution.emit({ type: "tool-progress", callId, message, ...(ratio !== undefined && { ratio }) }),
    declare: (effect) => declareInCall(loop, call, effect),
    ...(loop.agent.options.cwd !== undefined && { cwd: loop.agent.options.cwd }),
    ...world,
  };
}

/** The same on every attempt, also where the tool has another version by then. */
export function idempotencyKey(loop: Loop, call: PendingCall): string {
  const first = loop.execution.lookup(`${call.key}/reserved/1`)?.data["idempotencyKey"];
  if (typeof first === "string") return first;
  const tool = call.tool as NonNullable<PendingCall["tool"]>;
  return `k_${shortHash(`${sessionOf(loop).id}/${call.part.id}/${tool.name}/${tool.version}/${digestOf(call.input ?? null)}`, 32)}`;
}
