import { AgentError, LogError, type ChildSpec, type OperatorOutput } from "@keelson/protocol";
import { Suspension } from "../../../session/suspension.ts";
import type { Loop } from "../../turn/loop.ts";
import { askHooks, notifyHooks } from "./ask-hooks.ts";
import { haltedBy } from "./halted-by-hook.ts";
import { hooksAt } from "./loop-hooks.ts";

/**
 * Starts a child between its hooks. A child that waits has not stopped.
 * @throws AgentError when a hook refuses the child
 */
export async function startWithHooks(loop: Loop, spec: ChildSpec, start: () => Promise<OperatorOutput>): Promise<OperatorOutput> {
  await beforeChild(loop, spec);
  let output: OperatorOutput;
  try {
    output = await start();
  } catch (error) {
    if (!(error instanceof Suspension) && !LogError.is(error)) await afterChild(loop, spec, "error");
    throw error;
  }
  await afterChild(loop, spec, output.exitReason.type);
  return output;
}

/** What hooks say of a child before it begins. @throws AgentError when one refuses it */
export async function beforeChild(loop: Loop, { key, operator, call, input }: ChildSpec): Promise<void> {
  const hooks = hooksAt(loop, "subagent-start", operator);
  if (hooks === undefined) return;
  const message = input.message.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const verdict = await askHooks(loop, {
    point: "subagent-start",
    key: `${key}/hooks/subagent-start`,
    hooks,
    payload: { agentName: operator, ...(message !== "" && { initialMessage: message }) },
    callId: call,
  });
  if (verdict?.type !== "abort") return;
  if (verdict.ends === "run") throw haltedBy(verdict);
  throw new AgentError({
    kind: "other",
    message: `The agent "${operator}" was not started. Refused by the hook "${verdict.by}": ${verdict.reason}`,
  });
}

/** Tells hooks that a child is over. */
export async function afterChild(loop: Loop, { key, operator, call }: ChildSpec, reason: string): Promise<void> {
  const hooks = hooksAt(loop, "subagent-stop", operator);
  if (hooks === undefined) return;
  await notifyHooks(loop, {
    point: "subagent-stop",
    key: `${key}/hooks/subagent-stop`,
    hooks,
    payload: { agentName: operator, reason },
    callId: call,
  });
}
