import {
  DirectiveError,
  textMessage,
  type Directive,
  type Effect,
  type EffectContext,
  type EffectExecutor,
  type JsonValue,
} from "@keelson/protocol";
import { jsonValue } from "../../../json/index.ts";
import { truncateText } from "../../../json/truncate-text.ts";
import { directiveOf, effectOf, isHandoff, type DeclaredEffect } from "../../../session/outbox.ts";
import { isOfMemory } from "../../../session/remembered-items.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import { DEFAULT_MAX_OUTPUT_BYTES } from "../../../tools/tool-definition.ts";
import { narrowAuthority } from "../../definition/permissions/narrow-authority.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { endingByHook } from "../hooks/halted-by-hook.ts";
import { checkEnding } from "../../turn/run-ending.ts";
import { afterOwnCorrections } from "./corrected-version.ts";
import { runControlFor } from "./run-control.ts";
import type { Step } from "../../turn/moments.ts";
import { effectsOfRun } from "./run-effects.ts";

/** After so many attempts that no process lived to see the end of, an effect counts as failed: it may be what ends them. */
const MAX_ATTEMPTS = 3;

function hasOpenDirectives(loop: Loop): boolean {
  const { outbox } = runOf(loop);
  return outbox !== undefined && outbox.openDirectives > 0 && effectsOfRun(loop).executor !== undefined;
}

/**
 * Executes the directives declared so far, in order. What one returns goes before the model as a user message, in the same append
 * as the mark that it is done. One that fails is told as a warning.
 */
async function carryOutDirectives(loop: Loop): Promise<void> {
  const { execution } = loop;
  for (const declared of [...(runOf(loop).outbox?.open.values() ?? [])]) {
    const directive = directiveOf(declared);
    if (directive === undefined) continue;
    const value = await carryOut(loop, declared, execution.signal);
    if (value === undefined && execution.signal.aborted) checkEnding(loop);
    if (value === undefined) continue;
    const message = textMessage("user", `Result of ${inWords(directive)}:\n${asText(value)}`);
    execution.put(`effect/${declared.id}/value`, "message", { message });
  }
  if (execution.hasUnread) await loop.readInbox();
}

export const directivesStep: Step = { name: "directives", applies: hasOpenDirectives, run: (loop) => carryOutDirectives(loop) };

/**
 * Writes what was remembered so far, before what it was said in leaves the conversation: from then on the model has it of the memory alone, and
 * nobody knows yet how the run ends. What is to be forgotten waits for the result: it can't be brought back.
 */
export async function carryOutRemembered(loop: Loop): Promise<void> {
  const { signal } = loop.execution;
  if (effectsOfRun(loop).executor === undefined) return;
  for (const declared of [...(runOf(loop).outbox?.open.values() ?? [])]) {
    if (signal.aborted) return;
    if (isRemembered(declared)) await carryOut(loop, declared, signal);
  }
}

/** Executes all that is open, in order, once the run has its result. Nothing is routed back any more. */
export async function carryOutEffects(loop: Loop): Promise<void> {
  if (await wasAborted(loop)) return;
  const { signal, dispose } = signalAfterEnd(loop);
  try {
    for (const declared of [...(runOf(loop).outbox?.open.values() ?? [])]) {
      if (signal.aborted) return;
      if (effectsOfRun(loop).handoffs === "caller" && isHandoff(declared)) continue;
      await carryOut(loop, declared, signal);
    }
  } finally {
    dispose();
  }
}

/** One attempt, between a record that it begins and a mark that it is done. Interrupted by `signal`, it is left without a mark; none begins after it. */
async function carryOut(loop: Loop, declared: DeclaredEffect, signal: AbortSignal): Promise<JsonValue | undefined> {
  if (signal.aborted) return undefined;
  const { execution } = loop;
  const { id } = declared;
  const effect = afterOwnCorrections(effectOf(declared, execution.runId), runOf(loop).outbox?.effects.values() ?? []);
  const attempt = declared.attempts + 1;
  if (attempt > MAX_ATTEMPTS) {
    const message = `it was begun ${declared.attempts} times, and each time the process ended before it was done`;
    return fail(loop, effect, id, new DirectiveError({ kind: "execution-failed", directive: nameOf(effect), message }));
  }
  execution.put(`effect/${id}/attempt/${attempt}`, "effect-attempt", { id }, "power");
  await execution.flush();
  const context: EffectContext = {
    runId: execution.runId,
    session: execution.session,
    agent: loop.agent.name,
    idempotencyKey: id,
    attempt,
    signal,
    authority: narrowAuthority(loop.authority, { untrusted: sessionOf(loop).untrusted }),
    run: runControlFor(loop, id),
  };
  execution.goOutside(`the effect "${nameOf(effect)}"`);
  let value: JsonValue | undefined;
  try {
    const returned = await unlessAborted((effectsOfRun(loop).executor as EffectExecutor).execute(effect, context), signal);
    if (returned === ABORTED) return undefined;
    value = returned === undefined || returned === null ? undefined : jsonValue(returned);
  } catch (error) {
    fail(loop, effect, id, error);
    const ending = startsAgent(effect) ? endingByHook(error) : undefined;
    if (ending) throw ending;
    return undefined;
  }
  execution.put(`effect/${id}/done`, "effect-done", { id, ...(value !== undefined && { value }) });
  return value;
}

/** A failed effect is marked and told; it never loses the run. */
function fail(loop: Loop, effect: Effect, id: string, error: unknown): undefined {
  const { failure } = DirectiveError.is(error)
    ? error
    : new DirectiveError({ kind: "execution-failed", directive: nameOf(effect), message: describeThrown(error) });
  loop.execution.put(`effect/${id}/done`, "effect-done", { id, failure: failure });
  loop.execution.emit({ type: "status", level: "warn", status: `The effect "${nameOf(effect)}" (${id}) failed: ${failure.message}` });
  return undefined;
}

const ABORTED: unique symbol = Symbol("aborted");

/** An executor that ignores its signal is left behind. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
  let abort = (): void => {};
  const aborted = new Promise<typeof ABORTED>((resolve) => {
    abort = () => resolve(ABORTED);
  });
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", abort);
    // Whatever becomes of it after it was left behind has nobody to tell.
    work.catch(() => {});
  }
}

/** Whether somebody aborted the run since it has its result: nobody reads its inbox any more. */
async function wasAborted(loop: Loop): Promise<boolean> {
  const { execution } = loop;
  if (!execution.hasUnread) return false;
  const { inboxBase } = runOf(loop);
  return (await execution.unread()).some(({ type, seq }) => type === "abort" && seq > inboxBase);
}

/** How long the effects of a run may take once its own time is over. */
const GRACE_MS = 60_000;

/** Aborting a run that has its result interrupts its effects; its deadline does not, but leaves them a while only. */
function signalAfterEnd(loop: Loop): { readonly signal: AbortSignal; dispose(): void } {
  const { execution } = loop;
  const controller = new AbortController();
  let cancel = (): void => {};
  const onAbort = (): void => {
    const reason: unknown = execution.signal.reason;
    if (reason === "timeout" || reason === "stop-grace")
      cancel = execution.clock.after(GRACE_MS, () => controller.abort(reason), { keepAlive: false });
    else controller.abort(reason);
  };
  execution.signal.addEventListener("abort", onAbort, { once: true });
  if (execution.signal.aborted) onAbort();
  // A signal fires once: that somebody aborts a run that is out of time is seen in its inbox.
  const { inboxBase } = runOf(loop);
  const unlisten = execution.journal.onInbox(({ type, seq }) => {
    if (type === "abort" && seq > inboxBase) controller.abort("aborted");
  });
  return {
    signal: controller.signal,
    dispose() {
      cancel();
      unlisten();
      execution.signal.removeEventListener("abort", onAbort);
    },
  };
}

/** Hooks have a say in it. */
function startsAgent(effect: Effect): boolean {
  return effect.type === "directive" && effect.directive.type === "spawn-agent";
}

function isRemembered({ record }: DeclaredEffect): boolean {
  const effect = record.type === "effect" ? record.data.effect : undefined;
  return effect?.type === "write-memory" && isOfMemory(effect.options?.metadata);
}

function nameOf(effect: Effect): string {
  return effect.type === "directive" ? effect.directive.type : effect.type;
}

function inWords(directive: Directive): string {
  if (directive.type === "run-instruction") return `the instruction "${directive.instruction}"`;
  if (directive.type === "custom") return `the directive "${directive.customType}"`;
  return `the directive "${directive.type}"`;
}

function asText(value: JsonValue): string {
  return truncateText(typeof value === "string" ? value : JSON.stringify(value), DEFAULT_MAX_OUTPUT_BYTES).text;
}
