import type { InboxEntry, Signal } from "@keelson/protocol";
import type { Clock } from "../../platform/clock.ts";
import type { Journal } from "../../session/journal.ts";
import type { AttemptSignal } from "../turn/attempt-signal.ts";
import type { Loop } from "../turn/loop.ts";
import { timeLeft } from "../turn/time-left.ts";
import { stoppingBy } from "../features/signals/plan-signals.ts";
import { backgroundOf } from "../features/children/background.ts";

const STOP_GRACE_MS = 60_000;

/** What cuts a run's work short from outside: who holds the run, the caller's signal, the deadline, and what comes into the inbox meanwhile. */
export class RunInterrupts {
  readonly #aborting = new AbortController();
  readonly #stopping = new AbortController();
  readonly #interrupting = new AbortController();
  /** The reason that was given first. */
  why: string | undefined;
  readonly #clock: Clock;
  readonly #stopGraceMs: number;
  #over = false;
  readonly #cancelTimers: (() => void)[] = [];

  constructor(clock: Clock, stopGraceMs: number = STOP_GRACE_MS) {
    this.#clock = clock;
    this.#stopGraceMs = stopGraceMs;
  }

  /** Fires when the run is to end at once. */
  get aborting(): AbortSignal {
    return this.#aborting.signal;
  }

  /** Fires when a graceful stop was asked for. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Fires when calls that run are to end with what they have so far. */
  get interrupting(): AbortSignal {
    return this.#interrupting.signal;
  }

  /** The work is over: nothing stops it any more. */
  end(): void {
    this.#over = true;
    for (const cancel of this.#cancelTimers) cancel();
  }

  /** @param why the words of whoever ends the run */
  abort(reason: string, why?: string): void {
    if (why !== undefined) this.why = why;
    this.#aborting.abort(reason);
  }

  /** Ends the response that streams, and lets calls that run end by themselves for a while; then it aborts them. */
  stop(why?: string): void {
    if (this.#over || this.stopping.aborted) return;
    this.why ??= why;
    this.#stopping.abort("stopped");
    this.#abortIn(this.#stopGraceMs, "stop-grace");
  }

  /** Stops the run, and has calls that run end with what they have so far. */
  interrupt(why?: string): void {
    if (this.#over || this.interrupting.aborted) return;
    this.why ??= why;
    this.#interrupting.abort("interrupted");
    this.stop(why);
  }

  /** Aborts the run when the signal of its caller fires. @returns what ends that */
  linkSignal(signal: AbortSignal | undefined, abort: (why: string) => Promise<void>): () => void {
    if (signal === undefined) return () => {};
    const why = (): string => (typeof signal.reason === "string" ? signal.reason : "the signal that the run was given fired");
    const forwardAbort = (): void => void abort(why()).catch(() => {});
    signal.addEventListener("abort", forwardAbort, { once: true });
    if (signal.aborted) this.abort("aborted", why());
    return () => signal.removeEventListener("abort", forwardAbort);
  }

  setDeadline(journal: Journal, deadline: number | undefined, maxDurationMs: number | undefined): void {
    const left = timeLeft(journal, this.#clock.now(), deadline, maxDurationMs);
    if (left === undefined) return;
    // What a run that is over has still to do is not cut off at once.
    if (left === 0 && journal.state.run?.status !== "ended" && journal.state.run?.ending === undefined) this.abort("timeout");
    else this.#abortIn(left, "timeout");
  }

  /** Ends the response that streams when a stop comes, at once: what runs finishes, but nothing is gone on with behind a response. */
  stopInferences(attempts: AttemptSignal): void {
    if (this.stopping.aborted) attempts.stop();
    else this.stopping.addEventListener("abort", () => attempts.stop(), { once: true });
  }

  /** Acts at once on what cannot wait until the run reads its inbox. */
  watchInbox(journal: Journal, loop: Loop): void {
    const base = journal.state.run?.inboxBase ?? 0;
    journal.onInbox((entry) => {
      // Else it was told to an earlier run of this session, which ended before it read it.
      if (entry.seq > base) this.#handle(entry, loop);
    });
  }

  #handle(entry: InboxEntry, loop: Loop): void {
    if (entry.type === "abort") this.abort("aborted", entry.reason);
    else if (entry.type === "stop" && entry.interrupt === true) this.interrupt(entry.reason);
    else if (entry.type === "stop") this.stop(entry.reason);
    else if (entry.type === "signal") this.#handleSignal(entry.signal, loop);
    else if (entry.type === "steer" && entry.interrupt) loop.attempts.interrupt();
    else if (entry.type === "supervise" && entry.action === "stop") backgroundOf(loop)?.interrupt(entry.child);
  }

  /** What is running is told of a signal that ends the run; of all others when the inbox is read. */
  #handleSignal(signal: Signal, loop: Loop): void {
    const stopping = stoppingBy(loop, signal);
    if (stopping === "abort") this.abort("aborted");
    else if (stopping === "stop") this.stop();
  }

  #abortIn(ms: number, reason: string): void {
    this.#cancelTimers.push(this.#clock.after(ms, () => this.abort(reason), { keepAlive: false }));
  }
}
