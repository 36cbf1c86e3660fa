import type { Authority, RunId, SessionId } from "@keelson/protocol";

declare const brand: unique symbol;
/** Derived from session and key, so that asking twice is asking once. */
export type ScheduleId = string & { readonly [brand]: "ScheduleId" };

/**
 * What becomes of instants that came while no process fired, or while their session was far behind: `each` fires each of them once, in
 * order, the newest `maxPending` of them; `latest` the newest alone; `skip` those that are less than `missedAfterMs` late.
 */
export type Missed = "each" | "latest" | "skip";

export interface ScheduleRequest {
  /** Where it fires. A session that is not there yet begins with the first run. */
  readonly session: string;
  /** Who works where no run is there to be told. Default: the runner's only agent, or that of the session's newest run. */
  readonly agent?: string | undefined;
  /** What the signal says, and the message of a run that it starts. */
  readonly action: string;
  /** Names the schedule within its session: the same key again is the same schedule, whatever else the request says, and whether or not it fired. */
  readonly key: string;
  /** Default `each`. */
  readonly missed?: Missed | undefined;
  /** What runs that it starts may do at most; its deadline, which is that of now, is left out. Default: what their agent may. */
  readonly authority?: Authority | undefined;
  /** Exactly one of `delay`, `at` and `cron`. From now, as in `"30s"` or `"1h 30m"`. */
  readonly delay?: string | undefined;
  /** Unix ms. What is past fires at once. */
  readonly at?: number | undefined;
  /** Five fields (minute, hour, day of month, month, day of week) or six (second first), or a name such as `@daily`. */
  readonly cron?: string | undefined;
  /** Of `cron`: an IANA name. Default `UTC`, so that every process means the same instants. */
  readonly timeZone?: string | undefined;
}

/** A schedule as it stands. */
export interface ScheduleView {
  readonly id: ScheduleId;
  readonly session: SessionId;
  readonly agent: string;
  readonly action: string;
  readonly key: string;
  readonly missed: Missed;
  readonly cron?: string;
  readonly timeZone?: string;
  /** Unix ms. Absent: nothing is to come. */
  readonly nextAt?: number;
  /** Unix ms: the newest instant that fired. */
  readonly firedAt?: number;
  /** Fired instants that no run has read yet, Unix ms. */
  readonly pending: readonly number[];
}

/** One instant of one schedule, put into its session's inbox. */
export interface FiredInstant {
  readonly id: ScheduleId;
  readonly session: SessionId;
  readonly action: string;
  /** Unix ms: when it was due, not when it fired. */
  readonly scheduledAt: number;
  /** The run that was started for it. Absent: a run that is there is told by the signal. */
  readonly run?: RunId;
}

/** What went wrong where nobody awaits it. It is tried again, unless it says otherwise. */
export interface ScheduleProblem {
  readonly message: string;
  readonly id?: ScheduleId;
  readonly error?: unknown;
}

export interface ScheduleTick {
  /** Whether this process is the one that fires; else another one does, and nothing was done here. */
  readonly held: boolean;
  readonly fired: readonly FiredInstant[];
  /** Unix ms. Absent: nothing is to come. */
  readonly nextAt?: number;
}

/**
 * Fires signals of kind `timer` into sessions at their instants, each once: what it knows lives in the event log, and of all the
 * processes with one log, one fires.
 */
export interface Scheduler extends AsyncDisposable {
  /**
   * Resolves when it is in the log. Rejects with `DirectiveError` `execution-failed` for an expression, time zone, delay or agent
   * that makes no sense, naming what is wrong with it.
   */
  schedule(request: ScheduleRequest): Promise<ScheduleId>;
  /** An instant that is due already may still fire. @returns whether there was something to come */
  cancel(id: ScheduleId | string): Promise<boolean>;
  /** What has something to come or to deliver, by the next instant. */
  list(filter?: { readonly session?: string }): Promise<readonly ScheduleView[]>;
  /**
   * Fires from now on, as instants come, until disposal. The process stays as long as something is to come, or another one fires in
   * its place. Without effect when it started already.
   */
  start(): void;
  /** Fires what is due now, once: for those who keep time themselves. */
  tick(): Promise<ScheduleTick>;
}
