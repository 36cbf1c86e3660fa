import type { JsonValue, ToolOutput } from "@keelson/protocol";
import { Suspension } from "../../session/suspension.ts";
import type { LeafResult } from "../../tools/execute-leaf.ts";
import { recordEffects } from "../features/effects/declare-effects.ts";
import { guardKey } from "../turn/call-key.ts";
import type { PendingCall } from "../turn/pending-call.ts";
import { noteArguments } from "../features/hooks/tool-hooks.ts";
import { moveFor } from "../features/strategies/enforce-strategy.ts";
import type { Executed } from "../turn/call-result.ts";
import type { CallResult } from "../../context/rule-methods.ts";
import type { Loop } from "../turn/loop.ts";
import { constraintOn } from "../features/strategies/constraint.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";

/** Why the run does not go on behind a batch, once all of it is told. */
export interface BatchEnding {
  suspensions?: Suspension[];
  thrown?: { readonly error: unknown };
}

/** What ran is told, also where a rule that looks at a result throws or halts: that ends the run after it. */
export async function commitJudged(loop: Loop, batch: readonly PendingCall[], ending: BatchEnding): Promise<void> {
  for (const call of batch) {
    const { result } = call;
    let judged: CallOutcome | undefined;
    try {
      if (result !== undefined && result.suspended === undefined && ending.thrown === undefined)
        judged = await passRules(loop, call, result);
    } catch (error) {
      ending.thrown = { error };
    }
    commitResult(loop, call, ending, judged);
  }
}

/** Puts what a call came to into the log, or notes that it waits. */
export function commitResult(loop: Loop, call: PendingCall, ending: BatchEnding, judged?: CallOutcome): void {
  const { result } = call;
  if (result?.suspended) {
    (ending.suspensions ??= []).push(result.suspended);
    return;
  }
  const outcome = judged ?? result ?? (call.answer as NonNullable<PendingCall["answer"]>);
  putResult(loop, call, outcome);
  if (result?.ending) ending.thrown ??= { error: result.ending };
  if (!outcome.isError && constraintOn(loop) !== undefined) moveFor(loop, call);
}

/** Of all calls of a batch that wait. */
export function suspensionOf(suspensions: readonly Suspension[]): Suspension {
  return new Suspension(
    (suspensions[0] as Suspension).reason,
    suspensions.flatMap(({ waits }) => waits),
  );
}

/** What the model is told. */
interface CallOutcome {
  readonly output: ToolOutput;
  readonly isError: boolean;
  readonly blob?: LeafResult["blob"];
}

/** Rules may look at what a tool returned, put something else in its place, or halt. */
async function passRules(loop: Loop, call: PendingCall, result: Executed): Promise<CallOutcome> {
  const { context } = loop;
  const { blob } = result;
  return context.run<CallOutcome>({
    type: "execute-tool",
    phase: "after",
    key: call.key,
    input: { name: call.tool?.name ?? call.part.name, input: call.input ?? null },
    execute: () => result,
    show: ({ output, isError }) => ({ output: output as JsonValue, isError }),
    accept: (changed) => ({ ...replacement(changed), ...(blob && { blob }) }),
  });
}

/** A rule returns what it was shown, changed, or with an output alone. */
function replacement(changed: JsonValue): { readonly output: JsonValue; readonly isError: boolean } {
  const { output, isError, ...others } = (typeof changed === "object" && changed !== null ? changed : {}) as Partial<CallResult>;
  if (output === undefined || typeof isError !== "boolean" || Object.keys(others).length > 0) return { output: changed, isError: false };
  return { output, isError };
}

function putResult(loop: Loop, call: PendingCall, outcome: CallOutcome): void {
  const { result } = call;
  const name = call.tool?.name ?? call.part.name;
  const ran = result !== undefined || call.ran === true;
  if (ran && hooksOf(loop)?.afterTools) noteArguments(loop, call);
  if (call.declared !== undefined && result?.isError === false) recordEffects(loop, call.declared, call.part.id);
  loop.execution.put(
    `${call.key}/result`,
    "tool-result",
    {
      callId: call.part.id,
      name,
      output: outcome.output as JsonValue,
      isError: outcome.isError,
      durationMs: result?.durationMs ?? 0,
      ...(outcome.blob && { blob: outcome.blob }),
      ...(ran && { executed: guardKey(name, call), ...(call.tool?.effect !== "read" && { changed: true }) }),
    },
    call.tool?.effect === "write" && ran ? "power" : undefined,
  );
}
