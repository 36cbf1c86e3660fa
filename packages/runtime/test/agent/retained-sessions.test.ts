import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createRunner, defineTool, type SingleRunner } from "keelson";
import { exportSession, importSession, type RetentionPolicy } from "keelson/session";
import { createMemoryBlobStore, createMemoryEventLog, createSqliteEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { AgentError, type BlobStore, type EventLog, LogError, sessionLog, type SessionId } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { runnerOn } from "./deleted-session-laws.ts";
import { impatientClock } from "./support.ts";

const DAY = 86_400_000;
const LARGE = "x".repeat(100_000);

interface Place {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly clock: ReturnType<typeof impatientClock>;
  readonly runner: SingleRunner;
}

/** Its agent answers; asked to `pay`, it asks whether it may. */
function openPlace(): Place {
  const clock = impatientClock();
  const now = (): number => clock.now();
  const [log, blobs] = [createMemoryEventLog({ now }), createMemoryBlobStore({ now })];
  return { log, blobs, clock, runner: answering({ log, blobs, clock }) };
}

function answering({ log, blobs, clock }: Pick<Place, "log" | "blobs" | "clock">): SingleRunner {
  const pay = defineTool({ name: "pay", description: "Pays.", effect: "write", input: { type: "object" }, execute: () => "paid" });
  const agent = createAgent({
    name: "clerk",
    model: scriptedModel(Array.from({ length: 20 }, () => "done")),
    tools: [pay],
    permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
  });
  return createRunner({ agent, log, blobs, clock });
}

async function waitingSession({ log, blobs, clock }: Place, session: string): Promise<void> {
  const pay = defineTool({ name: "pay", description: "Pays.", effect: "write", input: { type: "object" }, execute: () => "paid" });
  const model = scriptedModel([{ toolCalls: [{ name: "pay", input: {} }] }]);
  const agent = createAgent({ name: "clerk", model, tools: [pay], permissions: { rules: [{ pattern: "pay", behavior: "ask" }] } });
  expect((await createRunner({ agent, log, blobs, clock }).run("pay", { session }).outcome).reason).toBe("awaiting-approval");
}

const left = async ({ runner }: Place): Promise<readonly string[]> => (await runner.sessions.list()).map(({ id }) => id).toSorted();

describe("sessions that are kept for a time", () => {
  it("go when nothing happened in them for longer, with their children, inbox and blobs, and others stay", async () => {
    const place = openPlace();
    const { log, clock, runner } = place;
    const lead = runnerOn(place, clock);
    await lead.run(LARGE, { session: "old" }).outcome;
    clock.advance(10 * DAY);
    await runner.run("hello", { session: "new" }).outcome;
    const would = await runner.sessions.retain({ maxAgeMs: 5 * DAY, dryRun: true });
    expect(would).toMatchObject({ deleted: [{ session: "old", reason: "age" }], spared: [], blobs: { removed: 0 } });
    expect(await left(place)).toEqual(["new", "old"]);
    const gone = await runner.sessions.retain({ maxAgeMs: 5 * DAY });
    expect(gone.deleted).toEqual(would.deleted);
    expect(gone.blobs.removed).toBeGreaterThan(0);
    expect((await log.list()).filter(({ log: id }) => id.startsWith("session/old"))).toEqual([]);
    expect(await left(place)).toEqual(["new"]);
    expect(await runner.sessions.retain({ maxAgeMs: 5 * DAY })).toEqual({ deleted: [], spared: [], blobs: { removed: 0 } });
  });

  it("stay where a run waits, where others share their history, and where they were imported since, whatever their age", async () => {
    const place = openPlace();
    const { log, blobs, clock, runner } = place;
    await waitingSession(place, "waits");
    await runner.run("hello", { session: "shared" }).outcome;
    await runner.run("hello", { session: "moved" }).outcome;
    const lines: string[] = [];
    for await (const line of exportSession({ log, blobs }, "moved")) lines.push(line);
    await runner.sessions.delete("moved");
    clock.advance(10 * DAY);
    await runner.sessions.fork("shared", { id: "fork" });
    const source = async function* (): AsyncGenerator<string> {
      yield* lines;
    };
    await importSession({ log, blobs, now: () => clock.now() }, source);
    const found = await runner.sessions.retain({ maxAgeMs: 5 * DAY });
    expect(found.deleted).toEqual([]);
    expect(found.spared.map(({ session, because }) => [session, because])).toEqual([
      ["shared", "forked"],
      ["waits", "open"],
    ]);
    expect(found.spared[0]?.message).toContain('its fork "fork"');
    // Without the fork nothing keeps it.
    await runner.sessions.delete("fork");
    expect((await runner.sessions.retain({ maxAgeMs: 5 * DAY })).deleted.map(({ session }) => session)).toEqual(["shared"]);
    expect(await left(place)).toEqual(["moved", "waits"]);
  });

  it("go where they do not fit, the oldest first, with blobs counted once that several need", async () => {
    const place = openPlace();
    const { clock, runner } = place;
    for (const session of ["a", "b", "c"]) {
      await runner.run(LARGE, { session }).outcome;
      clock.advance(1000);
    }
    await waitingSession(place, "waits");
    const all = await runner.sessions.retain({ maxBytes: 10 * LARGE.length, dryRun: true });
    expect(all.deleted).toEqual([]);
    expect(all.bytes).toBeGreaterThan(LARGE.length);
    expect(all.bytes).toBeLessThan(2 * LARGE.length);
    const some = await runner.sessions.retain({ maxBytes: (all.bytes ?? 0) - 1, dryRun: true });
    expect(some.deleted).toMatchObject([{ session: "a", reason: "size" }]);
    // Its blob is needed by the others.
    expect(some.deleted[0]?.bytes).toBeLessThan(LARGE.length);
    expect((some.bytes ?? 0) + (some.deleted[0]?.bytes ?? 0)).toBe(all.bytes);
    const none = await runner.sessions.retain({ maxBytes: 0 });
    expect(none.deleted.map(({ session }) => session)).toEqual(["a", "b", "c"]);
    expect(none.spared).toMatchObject([{ session: "waits", because: "open" }]);
    expect(none.blobs.removed).toBeGreaterThan(0);
    expect(await left(place)).toEqual(["waits"]);
  });

  it("are archived while nobody can work on them, and stay where that failed or somebody works on them", async () => {
    const place = openPlace();
    const { log, blobs, clock, runner } = place;
    for (const session of ["one", "two", "three"]) await runner.run(LARGE, { session }).outcome;
    clock.advance(10 * DAY);
    const lease = await log.acquire(sessionLog("three"), { owner: "somebody", ttlMs: 3_600_000 });
    const archived = new Map<string, readonly string[]>();
    const archive = async (session: SessionId): Promise<void> => {
      if (session === "two") throw new Error("the disk is full");
      const taken = await log.acquire(sessionLog(session), { owner: "another", ttlMs: 1000 }).catch((error: unknown) => error);
      expect(LogError.is(taken, "lease-held")).toBe(true);
      const lines: string[] = [];
      for await (const line of exportSession({ log, blobs }, session)) lines.push(line);
      archived.set(session, lines);
    };
    const { deleted, spared } = await runner.sessions.retain({ maxAgeMs: DAY, archive });
    expect(deleted.map(({ session }) => session)).toEqual(["one"]);
    expect(spared.map(({ session, because }) => `${session} ${because}`).toSorted()).toEqual(["three in-use", "two not-archived"]);
    expect(spared.map(({ message }) => message).join()).toContain("the disk is full");
    expect(await left(place)).toEqual(["three", "two"]);
    await lease.release();
    const other = openPlace();
    const source = async function* (): AsyncGenerator<string> {
      yield* archived.get("one") ?? [];
    };
    await importSession({ log: other.log, blobs: other.blobs }, source);
    expect(await left(other)).toEqual(["one"]);
    expect((await runner.sessions.retain({ maxAgeMs: DAY })).deleted).toHaveLength(2);
  });

  it("stay where they are damaged, until somebody decides", async () => {
    const place = openPlace();
    const { log, clock, runner } = place;
    await log.append("session/damaged" as never, 0, [
      { key: "x", type: "run-start", data: { "~blob": `sha256:${"0".repeat(64)}`, "length": 1, "preview": "" } },
    ]);
    clock.advance(10 * DAY);
    const { deleted, spared } = await runner.sessions.retain({ maxAgeMs: DAY });
    expect([deleted, spared]).toMatchObject([[], [{ session: "damaged", because: "damaged" }]]);
  });

  it("become smaller where nothing happened in them for a while, with children and inboxes, and are read and go on as before", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keelson-retained-"));
    const clock = impatientClock();
    await using log = createSqliteEventLog({ path: join(folder, "sessions.db"), now: () => clock.now() });
    const place: Place = { log, blobs: log.blobs, clock, runner: answering({ log, blobs: log.blobs, clock }) };
    const { runner } = place;
    const lead = runnerOn(place, clock);
    for (let n = 0; n < 8; n++) await lead.run(LARGE.slice(0, 3000), { session: "old" }).outcome;
    await waitingSession(place, "waits");
    clock.advance(10 * DAY);
    for (let n = 0; n < 10; n++) await runner.run(LARGE.slice(0, 3000), { session: "new" }).outcome;
    const exported = async (): Promise<readonly string[]> => {
      const lines: string[] = [];
      // The first says when it was exported, which the hashes depend on.
      for await (const line of exportSession({ log, blobs: log.blobs }, "old")) lines.push(line.replace(/"hash":"\w+"/, ""));
      return lines.slice(1);
    };
    const before = { listed: await runner.sessions.list(), old: await exported() };
    const nothing = { sessions: 0, records: 0, bytesBefore: 0, bytesAfter: 0 };
    expect(await runner.sessions.retain({ sealAfterMs: 5 * DAY, dryRun: true })).toEqual({
      deleted: [],
      spared: [],
      blobs: { removed: 0 },
      sealed: nothing,
    });
    const bytes = (await runner.sessions.retain({ maxBytes: 1e9 })).bytes;
    const { sealed, deleted } = await runner.sessions.retain({ sealAfterMs: 5 * DAY });
    expect([deleted, sealed?.sessions]).toEqual([[], 1]);
    expect(sealed?.bytesAfter).toBeLessThan((sealed?.bytesBefore ?? 0) / 2);
    expect((await runner.sessions.retain({ maxBytes: 1e9, sealAfterMs: 5 * DAY })).sealed).toEqual(nothing);
    expect((await runner.sessions.retain({ maxBytes: 1e9 })).bytes).toBe(bytes);
    expect({ listed: await runner.sessions.list(), old: await exported() }).toEqual(before);
    // Forks, runs and deletions find what they need in segments.
    const { messages } = await runner.sessions.get("old");
    await runner.sessions.fork("old", { id: "fork", turn: 2 });
    expect((await runner.sessions.get("fork")).messages).toEqual(messages.slice(0, (await runner.sessions.get("fork")).messages.length));
    expect((await lead.run("go on", { session: "old" }).outcome).reason).toBe("complete");
    expect((await runner.sessions.get("old")).messages.slice(0, messages.length)).toEqual(messages);
    await runner.sessions.delete("fork");
    clock.advance(10 * DAY);
    const both = await runner.sessions.retain({ maxAgeMs: 5 * DAY, sealAfterMs: 0 });
    expect(both.deleted.map(({ session }) => session).toSorted()).toEqual(["new", "old"]);
    expect((await log.list()).filter(({ log: id }) => !id.startsWith("session/waits"))).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it.each<readonly [RetentionPolicy, string]>([
    [{}, "maxAgeMs"],
    [{ maxAgeMs: -1 }, "maxAgeMs"],
    [{ maxBytes: Number.NaN }, "maxBytes"],
    [{ sealAfterMs: -1 }, "sealAfterMs"],
    // A log in memory keeps no segments.
    [{ sealAfterMs: 1 }, "sealAfterMs"],
    [{ maxAge: 1 } as RetentionPolicy, "maxAge"],
  ])("are all kept by a policy that says nothing, or what can't be: %j", async (policy, option) => {
    const failure = await openPlace()
      .runner.sessions.retain(policy)
      .catch((error: unknown) => error);
    expect(AgentError.is(failure, "invalid-option") && failure.failure.option).toBe(option);
  });
});
