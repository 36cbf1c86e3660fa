import type { JsonValue, ToolOutput } from "@keelson/protocol";
import { asJson } from "../../json/json-value.ts";
import { Suspension } from "../../session/suspension.ts";
import type { LeafResult } from "../../tools/execute-leaf.ts";
import { recordEffects } from "../features/effects/declare-effects.ts";
import { guardKey } from "../turn/call-key.ts";
import { toolNameOf, type EndedCall, type ExecutedCall, type SettledCall } from "../turn/pending-call.ts";
import { noteArguments } from "../features/hooks/tool-hooks.ts";
import { moveFor } from "../features/strategies/enforce-strategy.ts";
import type { CallResult } from "../../context/rule-methods.ts";
import type { Loop } from "../turn/loop.ts";
import type { Sources } from "./sources-of.ts";
import { constraintOn } from "../features/strategies/constraint.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";

/** Why the run does not go on behind a batch, once all of it is told. */
export interface BatchEnding {
  suspensions?: Suspension[];
  thrown?: { readonly error: unknown };
}

/** What ran is told, also where a rule that looks at a result throws or halts: that ends the run after it. */
export async function commitJudged(loop: Loop, batch: readonly EndedCall[], sources: Sources, ending: BatchEnding): Promise<void> {
  for (const call of batch) {
    let judged: CallOutcome | undefined;
    try {
      if (call.state === "executed" && ending.thrown === undefined) judged = await passRules(loop, call);
    } catch (error) {
      ending.thrown = { error };
    }
    commitResult(loop, call, sources, ending, judged);
  }
}

/** Puts what a call came to into the log, or notes that it waits. */
export function commitResult(loop: Loop, call: EndedCall, sources: Sources, ending: BatchEnding, judged?: CallOutcome): void {
  if (call.state === "waiting") {
    (ending.suspensions ??= []).push(call.suspension);
    return;
  }
  const outcome = judged ?? call.result;
  putResult(loop, call, outcome, sources.get(call.key));
  if (call.state === "executed" && call.result.ending) ending.thrown ??= { error: call.result.ending };
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
async function passRules({ context }: Loop, { key, tool, input, result }: ExecutedCall): Promise<CallOutcome> {
  const { blob } = result;
  return context.run<CallOutcome>({
    type: "execute-tool",
    phase: "after",
    key,
    input: { name: tool.name, input },
    execute: () => result,
    show: ({ output, isError }) => ({ output: output as JsonValue, isError }),
    accept: (changed) => ({ ...replacement(changed), ...(blob && { blob }) }),
  });
}

/** A rule returns what it was shown, changed, or with an output alone. */
function replacement(changed: JsonValue): { readonly output: JsonValue; readonly isError: boolean } {
  const { output, isError, ...others } = (typeof changed === "object" && changed !== null ? changed : {}) as Partial<CallResult>;
  if (output === undefined || typeof isError !== "boolean" || Object.keys(others).length > 0)
    return { output: asJson(changed), isError: false };
  return { output: asJson(output), isError };
}

function putResult(loop: Loop, call: ExecutedCall | SettledCall, outcome: CallOutcome, untrusted: readonly string[] | undefined): void {
  const name = toolNameOf(call);
  const ran = call.state === "executed" || call.why === "ran";
  if (ran && hooksOf(loop)?.afterTools) noteArguments(loop, call);
  if (call.state === "executed" && !call.result.isError) recordEffects(loop, call.declared, call.part.id);
  if (call.state === "executed" && call.keeps.size > 0 && call.result.failure === undefined)
    loop.execution.put(`${call.key}/kept`, "tool-kept", { callId: call.part.id, values: Object.fromEntries(call.keeps) });
  loop.execution.put(
    `${call.key}/result`,
    "tool-result",
    {
      callId: call.part.id,
      name,
      output: outcome.output as JsonValue,
      isError: outcome.isError,
      durationMs: call.state === "executed" ? call.result.durationMs : 0,
      ...(outcome.blob && { blob: outcome.blob }),
      ...(ran && { executed: guardKey(name, call), ...(call.tool?.effect !== "read" && { changed: true }) }),
      ...(call.state === "executed" && outcome.isError && loop.execution.interrupting.aborted && { interrupted: true }),
      ...(untrusted && { untrusted }),
    },
    call.tool?.effect === "write" && ran ? "power" : undefined,
  );
}
