import type { EffectExecutor, Orchestrator, Tool } from "@keelson/protocol";
import type { Seams } from "./seams.ts";
import { shortId } from "./step.ts";

/** A tool as a process reaches it. */
export function disturbedTool(seams: Seams, tool: Tool): Tool {
  return Object.assign(Object.create(tool) as Tool, {
    execute: ((input, call) =>
      seams.pass("tool", `${shortId(call.callId)} of \`${tool.name}\``, async () => tool.execute(input, call))) satisfies Tool["execute"],
    ...(tool.reconcile && {
      reconcile: ((input, call) =>
        seams.pass(
          "reconcile",
          `${shortId(call.callId)} of \`${tool.name}\``,
          async () => tool.reconcile?.(input, call) ?? "unknown",
        )) satisfies Tool["reconcile"],
    }),
  });
}

export function disturbedEffects(seams: Seams, effects: EffectExecutor): EffectExecutor {
  return {
    supports: (effect) => effects.supports(effect),
    execute: (effect, context) =>
      seams.pass("effect", `${effect.type} ${shortId(context.idempotencyKey)}`, () => effects.execute(effect, context)),
  };
}

/** An orchestrator as a process reaches it: what it is told may come twice, late, or be told in vain. */
export function disturbedOrchestrator<O extends Orchestrator>(seams: Seams, orchestrator: O): O {
  const { wake } = orchestrator;
  return {
    ...orchestrator,
    start: ((operator, input, options) =>
      seams.pass("start", operator, () => orchestrator.start(operator, input, options))) satisfies Orchestrator["start"],
    ...(wake && {
      wake: ((session) => seams.pass("wake", session, () => wake.call(orchestrator, session))) satisfies Orchestrator["wake"],
    }),
  };
}
