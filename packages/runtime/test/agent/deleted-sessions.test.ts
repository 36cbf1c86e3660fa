import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type AgentOptions, createAgent, createRunner, defineTool } from "keelson";
import { defineEffectTool } from "keelson/agent";
import { summarise } from "keelson/context";
import { userFacts } from "keelson/memory";
import { createKeyRing, newKey } from "keelson/secrets";
import { chainEventLog, encryptEventLog } from "keelson/security";
import {
  createFsStore,
  createMemoryBlobStore,
  createMemoryEventLog,
  createMemoryStore,
  createSqliteEventLog,
  createSqliteStore,
} from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { type BlobStore, type Digest, type EventLog, type LogId, type Scope, sessionLog, type StateStore } from "@keelson/protocol";
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

const LOGBOOK: Scope = { type: "custom", namespace: "logbook", id: "x" };

describe("what a session that is deleted wrote to a state store", () => {
  it("goes where it is the summary of a compaction, unless another session has written one since", async () => {
    const state = createMemoryStore();
    const runner = createRunner({ agent: compacting(), state });
    const summaries = async (): Promise<string> => JSON.stringify((await state.read(LOGBOOK, "so-far"))?.value ?? null);
    for (const session of ["one", "two"]) {
      await runner.run("go", { session }).outcome;
      expect(await summaries()).toContain(`"session":"${session}"`);
    }
    await runner.sessions.delete("one");
    expect(await summaries()).toContain('"session":"two"');
    await runner.sessions.delete("two");
    expect(await summaries()).toBe("null");
  });

  it("stays where a program had it written by an effect of its own", async () => {
    const state = createMemoryStore();
    const keep = defineEffectTool({
      name: "keep",
      description: "Keeps an order.",
      input: { type: "object" },
      effect: () => ({ type: "write-memory", scope: { type: "global" }, key: "order", value: "a cake" }),
    });
    const runner = createRunner({ agent: scripted({ tools: [keep] }, [{ toolCalls: [{ name: "keep", input: {} }] }, "ok"]), state });
    await runner.run("go", { session: "s" }).outcome;
    await runner.sessions.delete("s");
    expect(await state.read({ type: "global" }, "order")).toMatchObject({ value: "a cake" });
  });

  it("keeps the session where the runner has no store to remove it from: the deletion is refused, and nothing is lost", async () => {
    const log = createMemoryEventLog();
    const state = createMemoryStore();
    const facts = await remembering(log, state, "s");
    const without = createRunner({ agent: scripted({}, []), log });
    const refused = await without.sessions.delete("s").then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ failure: { kind: "session", session: "s" }, message: expect.stringContaining("`state`") });
    expect(await without.sessions.retain({ maxAgeMs: 0 })).toMatchObject({
      deleted: [],
      spared: [{ session: "s", because: "remembered", message: expect.stringContaining("`state`") }],
    });
    expect((await without.sessions.get("s")).messages.length).toBeGreaterThan(0);
    const withStore = createRunner({ agent: scripted({}, []), log, state });
    await withStore.sessions.delete("s");
    expect([await facts.items(), await log.list()]).toEqual([[], []]);
  });

  it("keeps no session that wrote nothing, or whose writes all failed", async () => {
    const log = createMemoryEventLog();
    const { tools } = userFacts({ store: createMemoryStore(), user: "ada" });
    const remember = { toolCalls: [{ name: "remember_fact", input: { text: "Ada likes tea." } }] };
    const runner = createRunner({ agent: scripted({ tools }, ["ok", remember, "ok"]), log });
    for (const session of ["nothing", "failed"]) {
      await runner.run("go", { session }).outcome;
      await runner.sessions.delete(session);
    }
    expect(await log.list()).toEqual([]);
  });

  it("goes with the state store of a log that is chained, and is not looked for in the plain one of a log that is encrypted", async () => {
    const path = join(folder, `${++files}.db`);
    const plain = createSqliteEventLog(path);
    const chained = chainEventLog(plain);
    const encrypted = encryptEventLog(plain, { keys: createKeyRing({ current: newKey() }) });
    expect([chained.state, encrypted.state]).toEqual([plain.state, undefined]);
    const facts = await remembering(chained, plain.state, "s");
    await createRunner({ agent: scripted({}, []), log: chained }).sessions.delete("s");
    expect(await facts.items()).toEqual([]);
    const others = await remembering(encrypted, plain.state, "t");
    await expect(createRunner({ agent: scripted({}, []), log: encrypted }).sessions.delete("t")).rejects.toThrow("`state`");
    expect(await others.items()).toHaveLength(1);
    await plain[Symbol.asyncDispose]();
  });
});

type Script = Parameters<typeof scriptedModel>[0];

function scripted(options: Partial<AgentOptions<undefined>>, script: Script) {
  return createAgent({ name: "a", model: scriptedModel(script), ...options } as AgentOptions<undefined>);
}

/** A session in which a fact was remembered. */
async function remembering(log: EventLog, state: StateStore, session: string) {
  const facts = userFacts({ store: state, user: session });
  const remember = { toolCalls: [{ name: "remember_fact", input: { text: "Ada likes tea." } }] };
  await createRunner({ agent: scripted({ tools: facts.tools }, [remember, "ok"]), log, state }).run("go", { session }).outcome;
  expect(await facts.items()).toHaveLength(1);
  return facts;
}

/** Its runs are so long that they are summed up, and the summaries are kept. */
function compacting() {
  const read = defineTool({
    name: "read",
    description: "Reads a page.",
    effect: "read",
    input: { type: "object" },
    execute: () => "text ".repeat(2_000),
  });
  let turns = 0;
  const turn: Script[number] = ({ system = "" }) => {
    if (system.startsWith("Summarise")) return "It read pages.";
    return ++turns % 12 === 0 ? "done" : { toolCalls: [{ name: "read", input: { page: turns } }] };
  };
  return scripted(
    {
      tools: [read],
      limits: { maxTurns: 40 },
      compaction: { strategy: summarise({ keep: 2 }), when: { maxMessages: 8 }, store: { scope: LOGBOOK, key: "so-far" } },
    },
    Array.from({ length: 60 }, () => turn),
  );
}

async function blobsIn({ log }: Place, session: string): Promise<readonly Digest[]> {
  const text = JSON.stringify(await recordsOf(log, sessionLog(session)));
  return [...new Set(text.match(/sha256:[0-9a-f]{64}/g) ?? [])].map((digest) => digest as Digest);
}
