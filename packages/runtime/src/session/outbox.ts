import type { Directive, Effect, EffectMeta } from "@keelson/protocol";
import type { RecordOf } from "./record-data.ts";

/** An effect that a run declared: its record, and what became of it. */
export interface DeclaredEffect {
  readonly id: string;
  /** Of type `directive` or `effect`. */
  readonly record: Declaration;
  readonly causationId?: string;
  /** How often its execution was begun. */
  attempts: number;
  outcome?: "done" | "failed";
}

/** All that a run declared, in order, and what of it is still to be executed. */
export interface Outbox {
  /** By id. */
  readonly effects: Map<string, DeclaredEffect>;
  readonly open: Map<string, DeclaredEffect>;
  /** How many of the open ones are directives. */
  openDirectives: number;
}

type Declaration = RecordOf<"directive" | "effect">;

/** A directive to emit is done once it is declared: its own record is the event that watchers see. */
export function addDeclared(outbox: Outbox | undefined, record: Declaration): Outbox {
  const kept: Outbox = outbox ?? { effects: new Map(), open: new Map(), openDirectives: 0 };
  const { id = record.key, causationId } = record.data;
  const declared: DeclaredEffect = { id, record, ...(causationId !== undefined && { causationId }), attempts: 0 };
  kept.effects.set(id, declared);
  const directive = directiveOf(declared);
  if (directive?.type === "emit") declared.outcome = "done";
  else kept.open.set(id, declared);
  if (directive && directive.type !== "emit") kept.openDirectives++;
  return kept;
}

export function markAttempt(outbox: Outbox | undefined, id: string): void {
  const declared = outbox?.open.get(id);
  if (declared) declared.attempts++;
}

export function markDone(outbox: Outbox | undefined, id: string, outcome: "done" | "failed"): void {
  const declared = outbox?.open.get(id);
  if (outbox === undefined || declared === undefined) return;
  outbox.open.delete(id);
  declared.outcome = outcome;
  if (isDirective(declared)) outbox.openDirectives--;
}

export function isDirective({ record }: DeclaredEffect): boolean {
  return record.type === "directive";
}

/** Whoever called the run may be the one to carry it out. */
export function isHandoff({ record }: DeclaredEffect): boolean {
  return record.type === "effect" && record.data.effect.type === "handoff";
}

export function directiveOf({ record }: DeclaredEffect): Directive | undefined {
  return record.type === "directive" ? record.data.directive : undefined;
}

/** The effect with its meta. `at` is the log's once its record was appended. */
export function effectOf(declared: DeclaredEffect, correlationId: string): Effect & { readonly meta: EffectMeta } {
  const { id, record, causationId, outcome } = declared;
  const effect: Effect = record.type === "directive" ? { type: "directive", directive: record.data.directive } : record.data.effect;
  const meta: EffectMeta = {
    id,
    ...(causationId !== undefined && { causationId }),
    correlationId,
    seq: record.seq,
    at: record.at,
    ...(outcome && { outcome }),
  };
  return { ...effect, meta };
}

/** All that a run declared, as its outcome lists it. */
export function effectsOf(run: { readonly id: string; readonly outbox?: Outbox } | undefined): readonly Effect[] {
  return run?.outbox === undefined ? NONE : Array.from(run.outbox.effects.values(), (declared) => effectOf(declared, run.id));
}
const NONE: readonly Effect[] = [];
