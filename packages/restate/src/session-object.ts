import { AgentError } from "@keelson/protocol";
import type { AnyRunner } from "keelson/orchestration";
import type { Clock } from "keelson/session";
import { object, rpc, type Context, type ObjectContext, type VirtualObjectDefinition } from "@restatedev/restate-sdk";
import { sessionOptions, type ServiceNames } from "./service-options.ts";

/** Which timer called: the n-th that was set for this time. */
interface Timer {
  /** Unix ms. */
  readonly at: number;
  readonly n: number;
}

/** What the journal of Restate holds of a turn: never what it came to, which stands in the log and may be large. */
interface TurnEntry {
  readonly seq: number;
  readonly next: "now" | "at" | "waiting" | "done";
  /** Unix ms, of `at`. */
  readonly at?: number;
}

export interface SessionObjectOptions {
  readonly names: ServiceNames;
  readonly journalRetentionMs: number;
  readonly turnTimeoutMs: number;
  readonly clock: Clock;
  /** Sees each turn that is under way, so that whoever closes the endpoint can wait for it. */
  readonly track: <T>(turn: Promise<T>) => Promise<T>;
}

/**
 * Sessions as objects of Restate. It calls `advance` of one session once at a time, and each call works one turn: the log says what is
 * done, Restate says who is next. Nothing of a run is kept in Restate, so that a call may be repeated, lost or doubled.
 */
export function sessionObject(
  runner: AnyRunner,
  { names, journalRetentionMs, turnTimeoutMs, clock, track }: SessionObjectOptions,
): VirtualObjectDefinition<string, SessionHandlers> {
  return object({
    name: names.sessions,
    options: sessionOptions(journalRetentionMs, turnTimeoutMs),
    handlers: {
      advance: async (ctx: ObjectContext, timer?: Timer): Promise<TurnEntry> => {
        const session = ctx.key;
        const { attemptCompletedSignal: signal } = ctx.request();
        // Not bounded in its attempts: a failure is one of the log or the lease, and the service's policy repeats the whole invocation.
        const turn = await ctx.run("turn", () => track(workTurn(runner, session, signal)));
        if (turn.next === "now") sendAdvance(ctx, names, session);
        if (turn.next === "at" && turn.at !== undefined)
          setTimer(ctx, names, clock, { at: turn.at, n: timer?.at === turn.at ? timer.n + 1 : 0 });
        return turn;
      },
    },
  });
}

interface SessionHandlers {
  readonly advance: (ctx: ObjectContext, timer?: Timer) => Promise<TurnEntry>;
}

/** Has a session advanced once after what has it now. */
export function sendAdvance(ctx: Context, { sessions }: ServiceNames, session: string): void {
  ctx.objectSendClient<SessionHandlers>({ name: sessions }, session).advance();
}

/**
 * However often a session is woken before its time, one timer waits for it. The number tells the next from one that came too early,
 * by the clock of another machine: under the key of that one it would be dropped.
 */
function setTimer(ctx: ObjectContext, { sessions }: ServiceNames, clock: Clock, timer: Timer): void {
  const delay = Math.max(0, timer.at - clock.now());
  const options = rpc.sendOpts<Timer | undefined>({ delay, idempotencyKey: `timer/${timer.at}/${timer.n}` });
  ctx.objectSendClient<SessionHandlers>({ name: sessions }, ctx.key).advance(timer, options);
}

async function workTurn(runner: AnyRunner, session: string, signal: AbortSignal): Promise<TurnEntry> {
  try {
    const { seq, next } = await runner.advance(session, { signal });
    return { seq, next: next.type, ...(next.type === "at" && { at: next.at }) };
  } catch (error) {
    if (AgentError.is(error, "session") && !(await hasRun(runner, session))) return { seq: 0, next: "done" };
    throw error;
  }
}

/** Whoever wakes what isn't there has nothing advanced, and nothing repeated. */
async function hasRun(runner: AnyRunner, session: string): Promise<boolean> {
  try {
    return (await runner.sessions.get(session)).run !== undefined;
  } catch (error) {
    if (AgentError.is(error, "session")) return false;
    throw error;
  }
}
