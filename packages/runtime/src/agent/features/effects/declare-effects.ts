import { DirectiveError, effectCodec, type Directive, type Effect, type FilterDecision, type SerializedError } from "@keelson/protocol";
import { shortHash } from "../../../json/digest.ts";
import { problemOfEmitted } from "../../../session/shown-event.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import type { MemoryEffect } from "../../definition/plugins/define-plugin.ts";
import type { Admission, Declaration } from "../../turn/declaration.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { effectsOfRun } from "./run-effects.ts";

/** Effects of one run. More are refused: all of them are kept until the run is over. */
export const MAX_EFFECTS: number = 10_000;

/**
 * The one way of effects into the log. Directives pass the agent's filters first; a rejected one is kept as a record and told
 * as a warning, and what it asks for does not happen. Everything is put, nothing flushed: effects stand in the same append as
 * what declared them. Declared again under the same key, as in a replay, they are the same effects.
 *
 * @param key names the declaration within the run, as in `t3/plugin/notes/after-turn`
 * @param causationId the call or turn that declares them; default: what the key names, else the turn
 */
export function declareEffects(loop: Loop, key: string, effects: readonly Effect[], causationId?: string): readonly Declaration[] {
  if (effects.length === 0) return NOTHING;
  return recordEffects(
    loop,
    effects.map((effect, index) => admitEffect(loop, `${key}/effect/${index}`, effect, index)),
    causationId ?? causeOf(loop, key),
  );
}
const NOTHING: readonly Declaration[] = [];

/**
 * Decides about an effect and records nothing. Pure, but for what the log knows already.
 * @param before how many were admitted with it and are not recorded yet
 */
export function admitEffect(loop: Loop, key: string, given: Effect, before: number): Admission {
  const id = effectId(loop, key);
  const recorded = loop.execution.lookup(key, "directive-rejected", "directive", "effect");
  // What a replay finds in the log was admitted then, whatever the filters would say now.
  if (recorded?.type === "directive-rejected") return { type: "rejected", key, id, by: recorded.data.by, error: recorded.data.error };
  if (recorded || isDeclared(loop, id)) return { type: "declared", key, id, effect: given };
  let effect: Effect;
  try {
    effect = effectCodec.decode(JSON.parse(JSON.stringify(given)));
  } catch (cause) {
    const type = String((given as Partial<Effect> | undefined)?.type);
    return refused(key, id, type, `it can't be recorded as JSON of its type (${describeThrown(cause)})`, cause);
  }
  if ((runOf(loop).outbox?.effects.size ?? 0) + before >= MAX_EFFECTS)
    return refused(key, id, effect.type, `the run has declared ${MAX_EFFECTS} effects already, which is the limit`);
  const problem = problemOfEmission(effect);
  if (problem !== undefined) return refused(key, id, "emit", problem);
  const { filters } = effectsOfRun(loop);
  if (effect.type !== "directive" || filters === undefined) return { type: "declared", key, id, effect };
  const decision = filters.apply(effect.directive);
  if (decision.type === "suppress") return { type: "suppressed", key, id, by: decision.by };
  if (decision.type === "reject") return { type: "rejected", key, id, by: decision.by, error: decision.error };
  return passed(key, id, decision);
}

/** What a filter made of a directive goes into the log, so it is held against the same shape. */
function passed(key: string, id: string, { directive }: Extract<FilterDecision, { readonly type: "pass" }>): Admission {
  try {
    const effect = effectCodec.decode(JSON.parse(JSON.stringify({ type: "directive", directive })));
    const problem = problemOfEmission(effect);
    if (problem !== undefined) return refused(key, id, "emit", `of what a filter made of it, ${problem}`);
    return { type: "declared", key, id, effect };
  } catch (cause) {
    return refused(key, id, "directive", `a filter made of it what is no directive (${describeThrown(cause)})`, cause);
  }
}

/** Puts admitted effects into the log, in this order. */
export function recordEffects(loop: Loop, admissions: readonly Admission[], causationId: string): readonly Declaration[] {
  const { execution } = loop;
  for (const admission of admissions) {
    const { type, key, id } = admission;
    if (type === "suppressed" || isDeclared(loop, id)) continue;
    if (type === "rejected") {
      if (execution.has(key)) continue;
      execution.put(key, "directive-rejected", { id, by: admission.by, error: admission.error, causationId });
      execution.emit({ type: "status", level: "warn", status: messageOf(admission.error) });
      continue;
    }
    const { effect } = admission;
    if (effect.type === "directive") execution.put(key, "directive", { directive: effect.directive, id, causationId });
    else {
      const { meta, ...bare } = effect;
      // An effect that was declared elsewhere, by an operator that this run called, is caused by that declaration.
      execution.put(key, "effect", { effect: bare, id, causationId: meta?.id ?? causationId });
      show(loop, effect);
    }
  }
  return admissions;
}

/** What is meant for whoever watches is shown at once; executing it later reaches who keeps it. */
function show(loop: Loop, effect: Effect): void {
  if (effect.type === "progress")
    loop.execution.emit({ type: "status", status: effect.message, ...(effect.ratio !== undefined && { ratio: effect.ratio }) });
  else if (effect.type === "log" && effect.level !== "debug")
    loop.execution.emit({ type: "status", status: effect.message, level: effect.level === "info" ? "info" : "warn" });
}

/** What a plugin asks for: effects on memory as they are, anything else is addressed to the runtime. */
export function directiveEffects(asked: readonly (Directive | MemoryEffect)[]): readonly Effect[] {
  return asked.map((each) => (isMemoryEffect(each) ? each : { type: "directive", directive: each }));
}

function isMemoryEffect(asked: Directive | MemoryEffect): asked is MemoryEffect {
  return ["write-memory", "delete-memory", "link-memory", "unlink-memory"].includes(asked.type);
}

/** Only what a program may tell is taken for an event: watchers believe the others to be the runtime's. */
function problemOfEmission(effect: Effect): string | undefined {
  if (effect.type !== "directive" || effect.directive.type !== "emit") return undefined;
  return problemOfEmitted(effect.directive.event);
}

function refused(key: string, id: string, type: string, why: string, cause?: unknown): Admission {
  const message = `The effect "${type}" was not declared: ${why}.`;
  const error = new DirectiveError({ kind: "rejected", directive: type, by: "keelson", message }, { cause });
  return { type: "rejected", key, id, by: "keelson", error: error.toJSON() };
}

function isDeclared(loop: Loop, id: string): boolean {
  return runOf(loop).outbox?.effects.has(id) === true;
}

function messageOf(error: SerializedError): string {
  return (error.failure as { readonly message: string }).message;
}

function effectId(loop: Loop, key: string): string {
  return `e_${shortHash(`${loop.execution.runId}/${key}`, 24)}`;
}

/** `t3/call/c_…/result` was declared by a call, `t3/plugin/…` by a turn, all else by the run. */
function causeOf(loop: Loop, key: string): string {
  return CALL.exec(key)?.[1] ?? TURN.exec(key)?.[1] ?? loop.execution.runId;
}
const CALL = /\/call\/([^/]+)/;
const TURN = /^(t\d+)(?:\/|$)/;
