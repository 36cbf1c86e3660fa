import {
  AgentError,
  type Directive,
  type Effect,
  type DurableEvent,
  type DurablePosition,
  type EmittedEvent,
  type EndReason,
  type Json,
  type PluginInput,
  type RunId,
  type SignalRoute,
} from "@keelson/protocol";
import { plainJson } from "../../../json/plain-json.ts";
import { isShownType } from "../../../session/folds/shown-events.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import { checkDefinitionNames } from "../../../json/check-definition-names.ts";
import type { OptionNames } from "../../../json/option-names.ts";

/**
 * What names the state of a plugin, and gives its type. State is only found by the very object it was registered with: another
 * one with the same `key` finds nothing.
 */
export interface PluginStateKey<S> {
  /** The name of the state in the log; a letter, then letters, digits, `_`, `-` and `.`, 64 at most. */
  readonly "key": string;
  /** Holds nothing: it ties the type of the state to the key. */
  readonly "~state"?: S | undefined;
}

/** A plugin's own state, for one callback. Change it in place or set another; what changed is recorded when the callback is done. */
export interface PluginState<S> {
  value: S;
}

/** The types of the events that plugins are shown. Changes of state are not among them: those of one plugin are no business of another. */
export type PluginEventType = Exclude<(DurableEvent | EmittedEvent)["type"], "state-update" | "run-complete" | "error">;

/** A durable event of the run, after its commit. What was emitted is one. */
export type PluginEvent<T extends PluginEventType = PluginEventType> = Extract<DurableEvent | EmittedEvent, { readonly type: T }> &
  DurablePosition & { readonly runId: RunId };

/** An effect on what is known, which is carried out when the run has its result. */
export type MemoryEffect = Extract<Effect, { readonly type: "write-memory" | "delete-memory" | "link-memory" | "unlink-memory" }>;

/** What the runtime is asked to do: one list, or nothing. */
export type PluginDirectives = readonly (Directive | MemoryEffect)[] | undefined | void;

/**
 * What a plugin does, all of it optional. The verdict of each callback, its directives and the change of state, is recorded
 * once: a run that is resumed or replayed reads it and does not ask again. Nothing is recorded of what a callback does to the
 * world outside, so it does nothing there; for that there are directives.
 */
export interface PluginCallbacks<S, T extends PluginEventType = PluginEventType> {
  /** Before the first turn, after the session-start hooks and the prompt middleware. `message`: the run's input. `turn` is 0. */
  beforeRun?(input: PluginInput, state: PluginState<S>): PluginDirectives | Promise<PluginDirectives>;
  /** Once for each message of the user, that is the run's input and steering, before the model is asked with it. */
  onUserMessage?(input: PluginInput, state: PluginState<S>): PluginDirectives | Promise<PluginDirectives>;
  /**
   * Once for each durable event of the run but changes of state and the terminal event, or for those of the types in `events`.
   * Called when a turn is over, with the events since the last time, and a last time before `afterRun`. It can't influence the
   * run: if it throws, a `status` event warns, and what this batch changed is dropped.
   */
  onEvent?(input: PluginInput & { readonly event: PluginEvent<T> }, state: PluginState<S>): PluginDirectives | Promise<PluginDirectives>;
  /**
   * When the way the run ends is in the log, whatever it is, before the terminal event. `message`: the run's last text. It can't
   * change how the run ends: if it throws, a `status` event warns.
   */
  afterRun?(input: PluginInput & { readonly reason: EndReason }, state: PluginState<S>): PluginDirectives | Promise<PluginDirectives>;
}

export interface PluginOptions<S, T extends PluginEventType = PluginEventType> extends PluginStateKey<S>, PluginCallbacks<S, T> {
  /** For people. Default: the key. */
  readonly name?: string | undefined;
  /** JSON. What a session starts with that has no state of this plugin yet. */
  readonly initialState: S;
  /** What `onEvent` is shown; a turn without any of these costs nothing. Default: all of them. */
  readonly events?: readonly T[] | undefined;
  /** What to do about signals that neither the strategy nor the agent has a route for. */
  readonly signalRoutes?: readonly SignalRoute[] | undefined;
}

/** A unit of behaviour with state of its own, which lives as long as the session and which nobody else can read. */
export interface Plugin<S = unknown> extends PluginStateKey<S>, PluginCallbacks<S> {
  readonly name: string;
  readonly initialState: S;
  /** Absent where `onEvent` is shown all of them. */
  readonly events?: readonly PluginEventType[];
  readonly signalRoutes: readonly SignalRoute[];
}

/** Nothing where the state is JSON. (A state of the type `Json<S>` would have its numbers and texts inferred as literals.) */
export type JsonState<S> = S extends Json<S> ? unknown : { readonly initialState: Json<S> };

const PLUGIN_OPTIONS: OptionNames<PluginOptions<unknown>> = {
  "key": true,
  "~state": true,
  "name": true,
  "initialState": true,
  "events": true,
  "signalRoutes": true,
  "beforeRun": true,
  "onUserMessage": true,
  "onEvent": true,
  "afterRun": true,
};

const CALLBACKS = ["beforeRun", "onUserMessage", "onEvent", "afterRun"] as const;

/**
 * Defines a plugin, typed by its state.
 * @throws AgentError of kind `invalid-option` that names the option
 */
export function definePlugin<S, const T extends PluginEventType = PluginEventType>(options: PluginOptions<S, T> & JsonState<S>): Plugin<S> {
  checkDefinitionNames<PluginOptions<S, T>>("definePlugin", options, PLUGIN_OPTIONS);
  const { key, name = key, initialState, events, signalRoutes = [] } = options;
  checkStateKey(key);
  if (typeof name !== "string" || name === "") throw invalid("name", `the name of plugin "${key}" must be a text that is not empty`);
  for (const callback of CALLBACKS)
    if (options[callback] !== undefined && typeof options[callback] !== "function")
      throw invalid(callback, `${callback} of plugin "${key}" must be a function`);
  if (events !== undefined) checkEvents(key, events, options.onEvent !== undefined);
  if (!Array.isArray(signalRoutes) || !signalRoutes.every(isRoute))
    throw invalid("signalRoutes", `signalRoutes of plugin "${key}" must be a list of { kind, action, priority, predicate? }`);
  return Object.freeze({
    key,
    name,
    initialState: initialStateOf<S>(key, initialState),
    ...(events && { events: Object.freeze([...events]) }),
    signalRoutes: Object.freeze([...signalRoutes]),
    ...Object.fromEntries(CALLBACKS.flatMap((callback) => (options[callback] ? [[callback, options[callback].bind(options)]] : []))),
  });
}

function initialStateOf<S>(key: string, state: S): S {
  try {
    return plainJson(state) as S;
  } catch (cause) {
    throw invalid("initialState", `initialState of plugin "${key}" can't be kept: ${describeThrown(cause)}`, cause);
  }
}

/** @throws AgentError of kind `invalid-option` */
export function checkStateKey(key: unknown): void {
  if (typeof key !== "string" || !/^[A-Za-z][\w.-]{0,63}$/.test(key))
    throw invalid(
      "key",
      `the key of a plugin must be a letter, then letters, digits, "_", "-" and ".", 64 at most, not ${JSON.stringify(key)}`,
    );
}

function checkEvents(key: string, events: readonly unknown[], hasCallback: boolean): void {
  if (!Array.isArray(events) || events.length === 0)
    throw invalid("events", `events of plugin "${key}" must be a list of at least one type of event; leave it out to be shown all of them`);
  const unshown = events.find((type) => typeof type !== "string" || !isShownType(type));
  if (unshown !== undefined)
    throw invalid("events", `events of plugin "${key}" names ${JSON.stringify(unshown)}, which is no type of event that plugins are shown`);
  if (!hasCallback) throw invalid("events", `events of plugin "${key}" says what onEvent is shown, and it has no onEvent`);
}

function isRoute(route: SignalRoute | undefined): boolean {
  return (
    typeof route?.kind === "string" &&
    typeof route.action?.type === "string" &&
    Number.isFinite(route.priority) &&
    (route.predicate === undefined || typeof route.predicate === "function")
  );
}

function invalid(option: string, message: string, cause?: unknown): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${message}.` }, cause === undefined ? {} : { cause });
}
