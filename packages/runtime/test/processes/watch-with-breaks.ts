import type { RecordedEvent, SessionId } from "@keelson/protocol";
import type { SingleRunner } from "keelson";
import fc from "fast-check";

/** A session that another process or connection works on, and a runner that reads its events. */
export interface WatchedSession {
  readonly session: string;
  readonly watcher: Pick<SingleRunner, "sessions">;
  /** Returns the number of records in the session's log. */
  head(): Promise<number>;
  /** True once the last event of the session is among these. */
  isOver(events: readonly RecordedEvent[]): boolean;
}

/** The place where a connection breaks: after so many events, or while it waits, so many iterations of the event loop later. */
export type Break = { readonly type: "left"; readonly events: number } | { readonly type: "lost"; readonly turns: number };

const aBreak: fc.Arbitrary<Break> = fc.oneof(
  fc.record({ type: fc.constant("left" as const), events: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ type: fc.constant("lost" as const), turns: fc.nat(6) }),
);

/** The breaks of the connections of one watcher, used in turn. */
export const someBreaks: fc.Arbitrary<readonly Break[]> = fc.array(aBreak, { minLength: 1, maxLength: 12 });

const MAX_EMPTY_CONNECTIONS = 20;
const AT_THE_NEXT_EVENT: Break = { type: "left", events: 1 };

/** Resolves after so many iterations of the event loop. */
export async function iterations(times: number): Promise<void> {
  for (let time = 0; time < times; time++) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Reads the events of a session to its end over connections that break. It remembers the last event that it received, and nothing else. After
 * some connections that broke before the first event, one waits for an event: a watcher that never waits would starve a worker in this process.
 */
export async function watchWithBreaks(
  { watcher, session, head, isOver }: WatchedSession,
  breaks: readonly Break[],
): Promise<{ readonly events: readonly RecordedEvent[]; readonly disconnects: number }> {
  const events: RecordedEvent[] = [];
  let disconnects = 0;
  let emptyConnections = 0;
  // Before it is begun, a session has no events to read.
  while ((await head()) === 0) await iterations(1);
  for (let connection = 0; ; connection++) {
    const next = emptyConnections === MAX_EMPTY_CONNECTIONS ? AT_THE_NEXT_EVENT : (breaks[connection % breaks.length] as Break);
    const leaving = new AbortController();
    const lost = next.type === "lost" ? iterations(next.turns).then(() => leaving.abort()) : undefined;
    const before = events.length;
    const after = (events.at(-1) as { readonly seq?: number } | undefined)?.seq ?? 0;
    for await (const event of watcher.sessions.events(session as SessionId, { after, follow: true, signal: leaving.signal })) {
      events.push(event);
      if (isOver(events)) return { events, disconnects };
      if (next.type === "left" && events.length - before >= next.events) break;
    }
    disconnects++;
    emptyConnections = events.length === before ? emptyConnections + 1 : 0;
    await lost;
  }
}

/** Returns the events of a session, read in one go. */
export async function readEvents({ watcher, session }: Pick<WatchedSession, "watcher" | "session">): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const event of watcher.sessions.events(session as SessionId)) events.push(event);
  return events;
}

/** Returns a function that is true once so many runs ended. */
export function endsAfter(runs: number): WatchedSession["isOver"] {
  return (events) => events.at(-1)?.type === "run-complete" && events.filter(({ type }) => type === "run-complete").length === runs;
}
