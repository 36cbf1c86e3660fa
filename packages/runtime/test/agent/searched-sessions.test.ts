import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { agentTool, createAgent, createRunner } from "keelson";
import { createKeyRing, newKey } from "keelson/secrets";
import { chainEventLog, encryptEventLog } from "keelson/security";
import type { SessionHit, SessionSearchOptions, Sessions } from "keelson/session";
import { createMemoryBlobStore, createMemoryEventLog, createSqliteEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { AgentError, type BlobStore, type EventLog, type SessionId, sessionLog } from "@keelson/protocol";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { seed } from "../../../../test/tier.ts";
import { recordText } from "../../src/session/record-text.ts";
import { sessionLogs } from "../../src/session/session-logs.ts";
import { wordsOf } from "../../src/state/kit/searchable-text.ts";
import { impatientClock, recordingTool } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-searched-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

interface Place {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly by: "index" | "reading";
}

const PLACES: { readonly [name: string]: () => Place } = {
  "in memory": () => ({ log: createMemoryEventLog(), blobs: createMemoryBlobStore(), by: "reading" }),
  "in SQLite": () => {
    const log = createSqliteEventLog(newPath());
    return { log, blobs: log.blobs, by: "index" };
  },
  "in SQLite, chained": () => {
    const log = createSqliteEventLog(newPath());
    return { log: chainEventLog(log), blobs: log.blobs, by: "index" };
  },
  "encrypted in SQLite": () => {
    const log = encryptEventLog(createSqliteEventLog(newPath()), { keys: createKeyRing({ current: newKey() }) });
    return { log, blobs: log.blobs as BlobStore, by: "reading" };
  },
};

/** Two sessions with a tool, a child, a large value and a name. */
async function someSessions({ log, blobs }: Pick<Place, "log" | "blobs">): Promise<Sessions> {
  const calling = (name: string, input: object) => ({ toolCalls: [{ name, input: input as never }] });
  const helper = createAgent({ name: "helper", model: scriptedModel(["The walrus sleeps."]) });
  const model = scriptedModel([
    calling("look", { path: "harbour/map.txt" }),
    calling("helper", { task: "Ask the walrus." }),
    `The lighthouse keeper left. ${"x ".repeat(60_000)} His parrot stayed.`,
    "Nothing about that.",
    "A lighthouse, again a lighthouse.",
  ]);
  const tools = [recordingTool("look", { output: () => ({ found: "an Émigré's compass" }) }), agentTool(helper)];
  const { run, sessions } = createRunner({ log, blobs, clock: impatientClock(), agent: createAgent({ name: "lead", model, tools }) });
  await run("Where is the keeper?", { session: "first" }).outcome;
  await sessions.create({ id: "second", name: "Tidal charts" });
  await run("Tell me of tides", { session: "second" }).outcome;
  await run("And of towers", { session: "second" }).outcome;
  return sessions;
}

const sessionsOn = ({ log, blobs }: Pick<Place, "log" | "blobs">): Sessions =>
  createRunner({ log, blobs, clock: impatientClock(), agent: createAgent({ name: "any", model: scriptedModel([]) }) }).sessions;

const placesOf = (hits: readonly SessionHit[]): readonly string[] => hits.map(({ session, seq }) => `${session} ${seq}`).toSorted();

describe.each(Object.entries(PLACES))("sessions %s", (_name, open) => {
  const found = async (sessions: Sessions, text: string, options?: SessionSearchOptions) =>
    (await sessions.search(text, options)).hits.map(({ session, type }) => `${session.replace(/~.*/, "~")} ${type}`);

  it("are found by what people, models and tools said in them, by arguments and by names", async () => {
    const place = open();
    await using _log = place.log;
    const sessions = await someSessions(place);
    expect(await found(sessions, "keeper WHERE")).toEqual(["first message"]);
    expect(await found(sessions, "harbour map")).toEqual(["first message"]);
    expect(await found(sessions, "emigre compass")).toEqual(["first tool-result"]);
    // What is kept as a blob is found too, where it is not too far behind.
    expect(await found(sessions, "lighthouse keeper")).toEqual(["first message"]);
    expect(await found(sessions, "tidal")).toEqual(["second session-create"]);
    expect(await found(sessions, "light")).toEqual(["second message", "first message"]);
    for (const text of ["lighthouse walrus keeper tides", "parrots", "", "?!", '"', "NOT lighthouse", "a OR b"])
      expect(await found(sessions, text), text).toEqual([]);
    const { hits, by, incomplete } = await sessions.search("lighthouse keeper");
    expect([by, incomplete]).toEqual([place.by, undefined]);
    const [hit] = hits as readonly [SessionHit];
    expect(hit.snippet).toMatch(/^The lighthouse keeper left\. x x[x ]*…$/);
    expect(hit.score > 0 && hit.score < 1).toBe(true);
    const [, message] = [await sessions.messagesAt("first", hit.seq - 1), await sessions.messagesAt("first", hit.seq)];
    expect(JSON.stringify(message.at(-1))).toContain("The lighthouse keeper left.");
    expect(hit.at).toBeGreaterThan(0);
  });

  it("are found one by one, with their children where that is asked for, and so many", async () => {
    const place = open();
    await using _log = place.log;
    const sessions = await someSessions(place);
    expect(await found(sessions, "lighthouse", { session: "second" })).toEqual(["second message"]);
    expect(await found(sessions, "lighthouse", { limit: 1 })).toEqual(["second message"]);
    expect(await found(sessions, "lighthouse", { limit: 0 })).toEqual([]);
    expect((await found(sessions, "walrus")).toSorted()).toEqual(["first message", "first tool-result"]);
    expect((await found(sessions, "walrus", { limit: 1 })).length).toBe(1);
    expect((await found(sessions, "walrus", { children: true })).toSorted()).toEqual([
      "first message",
      "first tool-result",
      "first~ message",
      "first~ message",
    ]);
    const child = (await sessions.list({ children: true })).find(({ id }) => id.includes("~"))?.id as string;
    expect(await found(sessions, "sleeps", { session: child })).toEqual(["first~ message"]);
  });

  it("are found by what was rewound, not twice by what a fork shares, and not once they are deleted", async () => {
    const place = open();
    await using _log = place.log;
    const sessions = await someSessions(place);
    const fork = await sessions.fork("second");
    await sessions.rewind("second", 1);
    expect(await found(sessions, "towers")).toEqual(["second message"]);
    await sessions.delete(fork);
    await sessions.delete("second");
    expect(await found(sessions, "towers")).toEqual([]);
    expect(await found(sessions, "keeper")).toHaveLength(2);
    await sessions.delete("first");
    expect(await sessions.search("keeper walrus", { children: true })).toEqual({ hits: [], by: place.by });
  });

  it("are not searched for what is no text, with an option that there is not, or where there is none", async () => {
    const place = open();
    await using _log = place.log;
    const sessions = sessionsOn(place);
    for (const [text, options, kind] of [
      [7, {}, "invalid-option"],
      ["x", { limits: 1 }, "invalid-option"],
      ["x", { limit: -1 }, "invalid-option"],
      ["x", { maxRecords: 1.5 }, "invalid-option"],
      ["x", { session: "none" }, "session"],
    ] as const)
      await expect(sessions.search(text as never, options as never)).rejects.toSatisfy((error) => AgentError.is(error, kind));
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(sessions.search("x", { signal })).rejects.toThrow("enough");
  });
});

it("an index is asked alone: of all records only those are read that were found", async () => {
  const log = createSqliteEventLog(newPath());
  await using _log = log;
  await someSessions({ log, blobs: log.blobs });
  const read: unknown[] = [];
  const counted: EventLog = {
    ...log,
    read: (id, options) => {
      read.push([id, options?.after]);
      return log.read(id, options);
    },
  };
  const { hits } = await sessionsOn({ log: counted, blobs: log.blobs }).search("lighthouse");
  expect(read).toEqual(hits.map(({ session, seq }) => [sessionLog(session), seq - 1]));
});

it("nothing of an encrypted log stands in an index, or in any table", async () => {
  const path = newPath();
  const sealed = encryptEventLog(createSqliteEventLog(path), { keys: createKeyRing({ current: newKey() }) });
  await using _log = sealed;
  await someSessions({ log: sealed, blobs: sealed.blobs as BlobStore });
  expect(sealed.index).toBeUndefined();
  using raw = new DatabaseSync(path, { readOnly: true });
  expect(raw.prepare("SELECT count(*) AS words FROM log_text").get()).toEqual({ words: 0 });
  for (const word of ["lighthouse", "walrus", "compass"])
    expect(raw.prepare("SELECT count(*) AS rows FROM log_text_data WHERE instr(block, CAST(? AS BLOB))").get(word)).toEqual({ rows: 0 });
});

it("sessions are read as far as it is allowed, those that changed last first, and it is said where that was not enough", async () => {
  // No two records within one millisecond.
  let time = 0;
  const place = { log: createMemoryEventLog({ now: () => time++ }), blobs: createMemoryBlobStore() };
  const sessions = await someSessions(place);
  const head = await place.log.head(sessionLog("second" as SessionId));
  const search = await sessions.search("lighthouse", { maxRecords: head });
  expect(placesOf(search.hits)).toHaveLength(1);
  expect(search.incomplete).toMatch(/keeps no index, and of 2 sessions 1 were read/);
  expect((await sessions.search("lighthouse", { maxRecords: head - 3 })).incomplete).toMatch(/of 2 sessions 0 were read/);
});

const text = fc
  .array(
    fc.constantFrom("tide", "tides", "Tidal", "ti", "Größe", "grosse", "naïve", "map", "x", "日本語", "e\u0301te\u0301", "été", "…", "a-b"),
    {
      maxLength: 8,
    },
  )
  .map((words) => words.join(" "));

it("an index and reading find the same", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 8 }), text, async (texts, query) => {
      await using log = createSqliteEventLog(":memory:");
      const plain = createMemoryEventLog();
      const records = texts.map((said, place) => ({
        key: `r/${place}`,
        type: "message",
        data: { message: { role: "user", content: [{ type: "text", text: said }] } },
      }));
      const { index: _index, ...without } = log;
      for (const each of [log, plain]) await each.append("session/s" as never, 0, records, { texts });
      const indexed = await sessionsOn({ log, blobs: createMemoryBlobStore() }).search(query, { limit: 100 });
      const read = await sessionsOn({ log: plain, blobs: createMemoryBlobStore() }).search(query, { limit: 100 });
      expect(placesOf(indexed.hits)).toEqual(placesOf(read.hits));
      const sameLog = await sessionsOn({ log: without, blobs: createMemoryBlobStore() }).search(query, { limit: 100 });
      expect(sameLog.hits).toEqual(read.hits.map((hit) => ({ ...hit, at: expect.any(Number) })));
    }),
    { numRuns: 60, seed },
  );
});

const fixtures = join(import.meta.dirname, "../released-logs/fixtures");

it.each(readdirSync(fixtures))("sessions that version %s left are indexed by the first searches, a part by each", async (version) => {
  const path = newPath();
  copyFileSync(join(fixtures, version, "checkpointed", "sessions.db"), path);
  const log = createSqliteEventLog(path);
  await using _log = log;
  const { index: _index, ...without } = log;
  const sessions = sessionsOn({ log, blobs: log.blobs });
  let searches = 0;
  while ((await sessions.search("done", { maxRecords: 100 })).incomplete?.includes("Search again") === true) searches++;
  expect(searches).toBeGreaterThan(1);
  const words = new Set<string>();
  for await (const { session } of sessionLogs(log))
    for await (const record of log.read(sessionLog(session))) for (const word of wordsOf(recordText(record))) words.add(word);
  expect(words.size).toBeGreaterThan(30);
  const reading = sessionsOn({ log: without, blobs: log.blobs });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...words), async (word) => {
      const options = { limit: 10_000, children: true } as const;
      const indexed = await sessions.search(word, options);
      expect(indexed).not.toHaveProperty("incomplete");
      expect(placesOf(indexed.hits)).toEqual(placesOf((await reading.search(word, options)).hits));
    }),
    { numRuns: 10, seed },
  );
});
