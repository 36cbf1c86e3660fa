import { agentTool, createAgent, createRunner, type SingleRunner } from "keelson";
import { mockStateStore, scriptedModel } from "keelson/testing";
import type { BlobStore, EventLog, LogId, LogRecord, SessionId, StateStore } from "@keelson/protocol";
import { expect, it } from "vitest";
import type { Clock as AnyClock } from "../../src/platform/clock.ts";
import { noteRemembered } from "../../src/session/remembered-items.ts";
import { impatientClock } from "./support.ts";

/** Stands in everything that a session of {@link runnerOn} leaves anywhere. */
export const CANARY = "canary-7f3a9c";
export const LARGE: string = `${CANARY} ${"x".repeat(100_000)}`;

/** Stores that belong together. */
export interface Place {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  /** Default: one in memory. */
  readonly state?: StateStore;
  /** Everything that is kept, as it is kept or, where that says nothing, as it reads. */
  content(): Promise<string>;
}

export type Clock = ReturnType<typeof impatientClock>;
export const now = (clock: Clock) => (): number => clock.now();

export async function recordsOf(log: EventLog, id: LogId): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(id)) records.push(record);
  return records;
}

export async function everyRecord(log: EventLog): Promise<string> {
  const kept: string[] = [];
  for (const info of await log.list()) kept.push(JSON.stringify(info), JSON.stringify(await recordsOf(log, info.log)));
  return kept.join("\n");
}

/** Its runs have a child, large values, a snapshot. */
export function runnerOn(
  { log, blobs }: Pick<Place, "log" | "blobs">,
  clock: AnyClock,
  more: { readonly state?: StateStore; readonly forgetSession?: (id: string) => Promise<void> } = {},
): SingleRunner {
  const helper = createAgent({ name: "helper", model: scriptedModel(Array.from({ length: 9 }, () => LARGE)) });
  const script = Array.from({ length: 9 }, (_, n) => [
    { toolCalls: [{ name: "helper", input: { task: `${CANARY} ${n}` } }] },
    LARGE,
  ]).flat();
  const agent = createAgent({ name: "lead", model: scriptedModel(script), tools: [agentTool(helper)] });
  return createRunner({ agent, log, blobs, clock, recordsPerSnapshot: 4, ...more });
}

/** Where a text stands in another, with what is around it. */
function mentions(content: string, text: string): readonly string[] {
  const found: string[] = [];
  for (let at = content.indexOf(text); at >= 0 && found.length < 5; at = content.indexOf(text, at + 1))
    found.push(content.slice(Math.max(0, at - 40), at + 40));
  return found;
}

/** The test that every set of stores must pass. */
export function describeDeletedSession(create: (clock: Clock) => Place): void {
  describeDeletion(() => {
    const clock = impatientClock();
    return { clock, place: create(clock) };
  });
}

/** The same where the clock is not to be chosen. */
export function describeDeletion(create: () => { readonly clock: AnyClock; readonly place: Place }): void {
  it("leaves nothing of itself in any store: log, inbox, snapshots, children, blobs, state, and what is told of it elsewhere", async () => {
    const { clock, place } = create();
    const state = place.state ?? mockStateStore();
    const remembered = async (id: string): Promise<readonly string[]> => state.list({ type: "session", id }, "");
    const indexed = new Set<string>();
    const runner = runnerOn(place, clock, { state, forgetSession: async (id) => void indexed.delete(id) });
    for (const session of ["session-that-goes", "stays"]) {
      await runner.run(LARGE, { session }).outcome;
      await runner.run(`${CANARY} again`, { session }).outcome;
      await runner.sessions.rename(session, `${CANARY} name`);
      await place.log.append(`session/${session}/inbox` as LogId, "any", [{ key: CANARY, type: "steer", data: { text: CANARY } }]);
      await state.write({ type: "session", id: session }, CANARY, CANARY);
      await noteRemembered(state, session as SessionId, { type: "global" }, `fact of ${session}`);
      await state.write({ type: "global" }, `fact of ${session}`, CANARY, { metadata: { from: { session, record: 1 } } });
      indexed.add(session);
    }
    const kept = await place.content();
    for (const part of [
      "session/session-that-goes",
      "session/session-that-goes/inbox",
      "session/session-that-goes/snapshots",
      "session/session-that-goes~",
      "session/stays",
    ])
      expect(kept, part).toContain(part);

    // What the other one refers to stays: both say the same.
    const first = await runner.sessions.delete("session-that-goes");
    expect(first.sessions.at(-1)).toBe("session-that-goes");
    expect(first.sessions.length).toBeGreaterThan(1);
    expect(mentions(await place.content(), "session-that-goes")).toEqual([]);
    expect(await remembered("session-that-goes")).toEqual([]);
    expect(await remembered("stays")).toContain(CANARY);
    expect(await state.list({ type: "global" }, "")).toEqual(["fact of stays"]);
    expect([...indexed]).toEqual(["stays"]);
    const { messages } = await runner.sessions.get("stays");
    expect(JSON.stringify(messages)).toContain(LARGE);

    const second = await runner.sessions.delete("stays");
    expect(second.blobs.left).toBeUndefined();
    expect(second.blobs.removed).toBeGreaterThan(0);
    expect(mentions(await place.content(), CANARY)).toEqual([]);
    expect([await remembered("stays"), await state.list({ type: "global" }, "")]).toEqual([[], []]);
    expect(await place.log.list()).toEqual([]);
    await place.log[Symbol.asyncDispose]();
  });
}
