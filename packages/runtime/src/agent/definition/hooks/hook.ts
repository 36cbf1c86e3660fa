import type { CallId, HookMatcher, HookPayloads, HookPoint, HookResults, JsonObject, RunId, SessionId } from "@keelson/protocol";

/** What a hook is told beside its payload. */
export interface HookContext<P extends HookPoint = HookPoint> {
  readonly point: P;
  readonly session: SessionId;
  readonly runId: RunId;
  /** The agent whose hooks these are. */
  readonly agent: string;
  /** The call it is about, where it is about one. */
  readonly callId?: CallId;
  /** The agent's working directory, when it has one. */
  readonly cwd?: string;
  /** Of the run. */
  readonly metadata: JsonObject;
  /** The value that tools of the run find as `context`. `undefined` if there is none. */
  readonly context: unknown;
  /** Whether this hook was registered as a guard. */
  readonly guard: boolean;
  /** The process ended in this turn before: the hook may have been called for the same already. */
  readonly replayed: boolean;
  /** Fires when the hook's time is up, and when the run is aborted. What the hook gives after that is not used. */
  readonly signal: AbortSignal;
  /** Shows a warning to whoever watches the run. */
  warn(message: string): void;
}

/**
 * A hook of one point. Its payload is a deep-frozen copy: hooks look on and may abort, they never rewrite anything. Nothing
 * returned means `continue`.
 */
export interface Hook<P extends HookPoint> {
  (payload: HookPayloads[P], context: HookContext<P>): HookResults[P] | undefined | void | Promise<HookResults[P] | undefined | void>;
  /** Used where the registration sets no time of its own. */
  readonly timeoutMs?: number;
  /** Likewise for its name. */
  readonly label?: string;
}

/**
 * Which tools (child agents, types of events) a hook is about: a pattern in which `*` stands for any characters, a regular expression, or
 * a pure function of the name.
 */
export type HookSubject = string | RegExp | HookMatcher | ((name: string) => boolean);

export interface HookOptions {
  /** Names it in messages and in the definition's digest. Default: the function's name. */
  readonly name?: string | undefined;
  /** Wall time. Default 30,000 ms. A hook that takes longer is skipped with a warning. */
  readonly timeoutMs?: number | undefined;
}

export interface GuardOptions extends HookOptions {
  /** Fails closed: taking too long, and throwing, count as `abort`. Default false. */
  readonly guard?: boolean | undefined;
}

/** What a hook is to the definition of an agent: data. */
export interface HookRegistration {
  readonly point: HookPoint;
  readonly name: string;
  /** Absent: matches everything. */
  readonly pattern?: string;
  readonly timeoutMs: number;
  readonly guard: boolean;
}

/** What the hooks of a point came to, less `continue`. `by` names the hook. */
export type HookVerdict = { readonly by: string; readonly reason: string } & (
  | { readonly type: "abort"; readonly ends?: "run" }
  | { readonly type: "ask" }
  | { readonly type: "tell" }
);

/** The points at which hooks can only look on: what they stand at is over. */
export type ObserverPoint = "notification" | "subagent-stop" | "post-compact" | "session-end" | "event";
export type DecidingPoint = Exclude<HookPoint, ObserverPoint>;
