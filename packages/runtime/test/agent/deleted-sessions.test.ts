import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createKeyRing, newKey } from "keelson/secrets";
import { encryptEventLog } from "keelson/security";
import { createFsStore, createMemoryBlobStore, createMemoryEventLog, createSqliteEventLog, createSqliteStore } from "keelson/state";
import { type BlobStore, type Digest, type LogId, sessionLog } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import {
  CANARY,
  type Clock,
  describeDeletedSession,
  everyRecord,
  LARGE,
  now,
  type Place,
  recordsOf,
  runnerOn,
} from "./deleted-session-laws.ts";
import { impatientClock } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-deleted-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

const PLACES: { readonly [name: string]: (clock: Clock) => Place } = {
  "in memory": (clock) => {
    const log = createMemoryEventLog({ now: now(clock) });
    const blobs = createMemoryBlobStore({ now: now(clock) });
    const put = new Set<Digest>();
    const noting: BlobStore = {
      ...blobs,
      async put(bytes) {
        const digest = await blobs.put(bytes);
        put.add(digest);
        return digest;
      },
    };
    return {
      log,
      blobs: noting,
      async content() {
        const kept = [await everyRecord(log)];
        for (const digest of put)
          kept.push(
            await blobs.get(digest).then(
              (bytes) => Buffer.from(bytes).toString("latin1"),
              () => "",
            ),
          );
        return kept.join("\n");
      },
    };
  },
  "in SQLite": (clock) => {
    const path = join(folder, `${++files}.db`);
    const log = createSqliteEventLog({ path, now: now(clock) });
    const state = createSqliteStore({ path, now: now(clock) });
    return { log, blobs: log.blobs, state, content: async () => `${tablesOf(path)}${await everyRecord(log)}` };
  },
  "in SQLite, with its state in files": (clock) => {
    const [path, root] = [join(folder, `${++files}.db`), join(folder, `state-${files}`)];
    const log = createSqliteEventLog({ path, now: now(clock) });
    const content = async (): Promise<string> => `${tablesOf(path)}${filesIn(root)}${await everyRecord(log)}`;
    return { log, blobs: log.blobs, state: createFsStore({ root, now: now(clock) }), content };
  },
  "encrypted in SQLite": (clock) => {
    const path = join(folder, `${++files}.db`);
    const log = encryptEventLog(createSqliteEventLog({ path, now: now(clock) }), { keys: createKeyRing({ current: newKey() }) });
    return { log, blobs: log.blobs as BlobStore, content: async () => `${tablesOf(path)}${await everyRecord(log)}` };
  },
};

/** Every file, with its path. */
function filesIn(root: string): string {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
  return paths.flatMap((path) => [path, readFileSync(path, "utf8")]).join("\n");
}

/** Every column of every row of every table. What the index of words is made of keeps those of removed entries for a while, as free pages do. */
function tablesOf(path: string): string {
  using database = new DatabaseSync(path, { readOnly: true });
  const all = (statement: string): readonly Record<string, unknown>[] => {
    const prepared = database.prepare(statement);
    prepared.setReadBigInts(true);
    return prepared.all();
  };
  const rows = all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'state_text_%'").flatMap(({ name }) =>
    all(`SELECT * FROM "${String(name)}"`),
  );
  return rows
    .flatMap((row) => Object.values(row))
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)))
    .join("\n");
}

for (const [name, create] of Object.entries(PLACES)) describe(`a session that is deleted, ${name}`, () => describeDeletedSession(create));

describe("a session that is deleted", () => {
  it("leaves the blobs that somebody may be about to refer to, and says so", async () => {
    const clock = impatientClock();
    const place = (PLACES["in memory"] as (clock: Clock) => Place)(clock);
    const runner = runnerOn(place, clock);
    const outcomes: string[] = [];
    // Put again since the last record, as by a tool whose result is not in a log yet.
    await runner.run(LARGE, { session: "a" }).outcome;
    clock.advance(10);
    const digests = await blobsIn(place, "a");
    for (const digest of digests) await place.blobs.put(await place.blobs.get(digest));
    outcomes.push((await runner.sessions.delete("a")).blobs.left ?? "");
    for (const digest of digests) expect((await place.blobs.get(digest)).length).toBeGreaterThan(0);
    // Put while another session, which began before, is at work.
    await place.log.append(sessionLog("b"), 0, [{ key: "create", type: "session-create", data: {} }], {
      summary: { v: 1, tags: [], agent: "lead", createdAt: clock.now(), turns: 0, usage: {}, cost: null, status: "working" },
    });
    clock.advance(10);
    await runner.run(LARGE, { session: "c" }).outcome;
    outcomes.push((await runner.sessions.delete("c")).blobs.left ?? "");
    for (const left of outcomes) expect(left).toMatch(/^\d+ blobs? .*about to refer/);
  });

  it("keeps its blobs where another log can't be read, which may need them, and says why", async () => {
    const clock = impatientClock();
    const place = (PLACES["in memory"] as (clock: Clock) => Place)(clock);
    await runnerOn(place, clock).run(LARGE, { session: "a" }).outcome;
    await place.log.append("session/damaged" as LogId, 0, [
      { key: "x", type: "run-start", data: { "~blob": `sha256:${"0".repeat(64)}`, "length": 1, "preview": "" } },
    ]);
    const { blobs } = await runnerOn(place, clock).sessions.delete("a");
    expect(blobs).toMatchObject({ removed: 0, left: expect.stringContaining("no blob sha256:000") });
    expect(await place.log.head(sessionLog("a"))).toBe(0);
  });

  it("is still there where its deletion was cut off, and is gone when that is asked for again", async () => {
    const clock = impatientClock();
    const place = (PLACES["in memory"] as (clock: Clock) => Place)(clock);
    let fails = true;
    const runner = runnerOn(place, clock, {
      forgetSession: async () => {
        if (fails) throw new Error("the index is away");
      },
    });
    await runner.run(LARGE, { session: "a" }).outcome;
    await expect(runner.sessions.delete("a")).rejects.toThrow("the index is away");
    expect((await runner.sessions.list()).map(({ id }) => id)).toEqual(["a"]);
    fails = false;
    await runner.sessions.delete("a");
    expect(await place.content()).not.toContain(CANARY);
  });
});

async function blobsIn({ log }: Place, session: string): Promise<readonly Digest[]> {
  const text = JSON.stringify(await recordsOf(log, sessionLog(session)));
  return [...new Set(text.match(/sha256:[0-9a-f]{64}/g) ?? [])].map((digest) => digest as Digest);
}
