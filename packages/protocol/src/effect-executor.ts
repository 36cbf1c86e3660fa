import type { Directive, Effect } from "./effect.ts";
import type { RunId, SessionId } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { FilterDecision } from "./middleware.ts";
import type { Authority } from "./permission.ts";

/** What a directive may ask of the run that declared it. Each is recorded by the run, and survives its process. */
export interface RunControl {
  /**
   * Shown to watchers: an `EmittedEvent` as the event that it is, one of a type of your own in a `directive` event. Nothing else comes
   * of it.
   * @throws DirectiveError of kind `rejected` for events that only the runtime writes
   */
  emit(event: JsonObject): void;
  /** A graceful stop of this run. */
  stop(reason?: string): Promise<void>;
  /** Starts a child run in the background. @returns its id; its result reaches a later turn */
  spawnAgent(name: string, config: JsonObject): Promise<RunId>;
  /** Stops background children of this name. @returns how many there were */
  stopChild(name: string): Promise<number>;
  /** @returns the id of the task; its result reaches a later turn */
  startTask(description: string, input: JsonValue): Promise<string>;
  /** @returns whether such a task was at work */
  stopTask(taskId: string): Promise<boolean>;
}

/** One attempt at one effect. */
export interface EffectContext {
  readonly runId: RunId;
  readonly session: SessionId;
  readonly agent: string;
  /** The same for every attempt at this effect, in every process. */
  readonly idempotencyKey: string;
  /** Counts from 1. Above 1, an attempt before this one may have taken effect. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Of the run that declared it: what is started for the effect may do no more than that. */
  readonly authority?: Authority;
  readonly run: RunControl;
}

/** Carries out one kind of effect. What it returns to a directive is put before the model in the next turn; nothing is routed back for nothing. */
export type EffectHandler<E = Effect> = (effect: E, context: EffectContext) => Promise<JsonValue | undefined> | JsonValue | undefined;

/** Carries out what operators declared. Rejects with `DirectiveError` (`unsupported`, `execution-failed`), never with anything else. */
export interface EffectExecutor {
  execute(effect: Effect, context: EffectContext): Promise<JsonValue | undefined>;
  /** Whether `execute` knows this kind. */
  supports(effect: Effect): boolean;
}

/** Passes, drops, changes or refuses a directive before anything comes of it. Pure: nothing but what it is shown decides. */
export interface DirectiveFilter {
  readonly name: string;
  /** Nothing suppresses it; a thrown error rejects it. It is given a copy, which it may change. */
  filter(directive: Directive): Directive | undefined;
  /** The same with its verdict in words. Default: what `filter` does. */
  decision?(directive: Directive): FilterDecision;
}
