import { AgentError, type Directive } from "@keelson/protocol";
import type { JsonPatch } from "../../../json/json-patch.ts";
import { asRecorded } from "../../../session/as-recorded.ts";
import type { Execution } from "../../../session/execution.ts";
import type { VerdictData } from "../../../session/record-data.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import { declareEffects, directiveEffects } from "../effects/declare-effects.ts";
import { sessionOf, type Loop } from "../../turn/loop.ts";
import type { MemoryEffect, Plugin, PluginCallbacks, PluginDirectives, PluginState } from "../../definition/plugins/define-plugin.ts";
import { draftState } from "./state-draft.ts";

/** One callback that is to be asked. */
export interface Question {
  readonly plugin: Plugin;
  /** Place in the log. */
  readonly key: string;
  readonly callback: keyof PluginCallbacks<unknown>;
  ask(state: PluginState<unknown>): Promise<PluginDirectives>;
  /** Where the events end that it is asked about. */
  readonly shownUpTo?: number;
}

/** Asks a callback, once. What it changed and what it asks for stand in the log with its verdict. */
export async function askPlugin(loop: Loop, question: Question): Promise<void> {
  const { execution } = loop;
  const verdict = await execution.decide<Verdict | undefined>(
    question.key,
    () => verdictOf(loop, question),
    (data) => record(execution, question, data),
  );
  applyVerdict(loop, question, verdict);
}

/** {@link askPlugin} of a callback that can't influence the run: that it threw is told, and its state is as it was. */
export async function askObserver(loop: Loop, question: Question): Promise<void> {
  try {
    await askPlugin(loop, question);
  } catch (error) {
    warnOfPanic(loop, error);
  }
}

function warnOfPanic(loop: Loop, error: unknown): void {
  if (!AgentError.is(error, "panic")) throw error;
  loop.execution.emit({ type: "status", level: "warn", status: error.message });
}

interface Verdict {
  readonly patch?: JsonPatch | undefined;
  readonly directives?: readonly (Directive | MemoryEffect)[];
}

function applyVerdict(loop: Loop, { key }: Question, verdict: Verdict | undefined): void {
  if (verdict?.directives === undefined) return;
  if (verdict.patch) loop.execution.put(`${key}/state`, "state-update", { patch: verdict.patch });
  declareEffects(loop, key, directiveEffects(verdict.directives));
}

/** A verdict that changes the state and asks for nothing is no more than the record of that change. */
function record(execution: Execution, { key, shownUpTo }: Question, data: VerdictData): void {
  const { patch, directives } = (data.value ?? {}) as Verdict;
  const about = shownUpTo === undefined ? undefined : { shownUpTo };
  if (patch !== undefined && directives === undefined) execution.put(key, "state-update", { patch, ...about });
  else execution.put(key, "decision", { ...data, ...about });
}

async function verdictOf(loop: Loop, { plugin, callback, ask }: Question): Promise<Verdict> {
  const draft = draftState(plugin, sessionOf(loop).agentState);
  try {
    const directives = checkedDirectives(await ask(draft.state));
    const patch = draft.finish();
    return directives.length === 0 ? { patch } : { patch, directives: asRecorded(directives) };
  } catch (cause) {
    const name = `${callback} of plugin "${plugin.name}"`;
    throw new AgentError({ kind: "panic", callback: name, message: `${name} threw: ${describeThrown(cause)}` }, { cause });
  }
}

/** @throws TypeError when they are none */
export function checkedDirectives(directives: PluginDirectives): readonly (Directive | MemoryEffect)[] {
  if (directives === undefined) return [];
  if (Array.isArray(directives) && directives.every((directive) => typeof (directive as Partial<Directive> | null)?.type === "string"))
    return directives;
  throw new TypeError("it must return a list of directives, or nothing");
}
