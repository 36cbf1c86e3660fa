// How long it takes until a session that another process left can send its first request, and what is read for it, after 10, 1,000 and 10,000 turns.
//   node --conditions=source bench/open-session.ts [turns ...]
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { type BlobStore, type EventLog, type Provider, UNKNOWN_USAGE } from "@keelson/protocol";
import { createPostgres } from "@keelson/postgres";
import { createAgent, createRunner, defineTool, type Agent } from "keelson";
import { slidingWindow } from "keelson/context";
import { createSqliteEventLog } from "keelson/state";
import { startPostgresServer } from "../packages/postgres/test/support/postgres-server.ts";
import { isWithoutServer } from "../packages/postgres/test/support/server-binaries.ts";

const TURNS = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10, 1_000, 10_000];
const OPENINGS = 7;
const WINDOW = 200;

interface Stores extends AsyncDisposable {
  readonly log: EventLog;
  readonly blobs: BlobStore;
}

/** The model asks for a page once a turn, and says something to `noteRequest` first. */
function agentOf(turns: number, hasWindow: boolean, noteRequest: (messages: number) => void): Agent {
  let calls = 0;
  const model: Provider = {
    name: "reader",
    wire: "test",
    async *stream({ model: id, messages }) {
      noteRequest(messages.length);
      calls++;
      yield { type: "text-start" };
      yield { type: "text-delta", text: `What stands on page ${calls} I have read; the next one tells more. ` };
      yield { type: "text-end" };
      if (calls < turns) {
        yield { type: "tool-call-start", index: 0, id: "call_0", name: "look" };
        yield { type: "tool-call-delta", index: 0, text: `{"page":${calls}}` };
        yield { type: "tool-call-end", index: 0 };
      }
      yield { type: "end", stopReason: calls < turns ? "tool-use" : "end-turn", rawStopReason: null, usage: UNKNOWN_USAGE, model: id };
    },
  };
  const look = defineTool({
    name: "look",
    description: "Looks.",
    effect: "read",
    input: { type: "object" },
    execute: (input) => `page ${JSON.stringify(input)} ${"text ".repeat(200)}`,
  });
  return createAgent({
    name: "reader",
    model,
    tools: [look],
    limits: { maxTurns: turns, maxModelCalls: turns + 1, maxToolCalls: turns },
    ...(hasWindow && { compaction: { strategy: slidingWindow({ keep: WINDOW / 2 }), when: { maxMessages: WINDOW } } }),
  });
}

/** Counts what is read of the log, its snapshots and its inbox, and of blobs. */
function counted({ log, blobs }: Stores) {
  const read = { records: 0, blobs: 0 };
  const countedLog: EventLog = {
    ...log,
    async *read(id, options) {
      for await (const record of log.read(id, options)) {
        read.records++;
        yield record;
      }
    },
  };
  const countedBlobs: BlobStore = {
    ...blobs,
    get(digest, range) {
      read.blobs++;
      return blobs.get(digest, range);
    },
  };
  return { log: countedLog, blobs: countedBlobs, read };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const nameOf = (turns: number, hasWindow: boolean): string => `session-${turns}-${hasWindow ? "window" : "whole"}`;

/** A row of the table: sessions of so many turns, each opened over connections of its own. */
async function rowOf(
  store: string,
  open: () => Stores,
  turns: number,
  hasWindow: boolean,
  session = nameOf(turns, hasWindow),
): Promise<string> {
  {
    await using stores = open();
    const { log, blobs } = stores;
    const agent = agentOf(turns, hasWindow, () => {});
    const { reason } = await createRunner({ agent, log, blobs }).run("Read it all.", { session }).outcome;
    if (reason !== "complete") throw new Error(`The session of ${turns} turns ended with ${reason}.`);
  }
  const times: number[] = [];
  const records: number[] = [];
  const blobsRead: number[] = [];
  let messages = 0;
  for (let opening = 0; opening < OPENINGS; opening++) {
    await using stores = open();
    const { log, blobs, read } = counted(stores);
    // The connection is there: what counts is the session.
    await log.head("inbox/none" as never);
    const start = performance.now();
    const agent = agentOf(1, hasWindow, (length) => {
      times.push(performance.now() - start);
      records.push(read.records);
      blobsRead.push(read.blobs);
      messages = length;
    });
    await createRunner({ agent, log, blobs }).run("And again.", { session }).outcome;
  }
  const largest = Math.max(...times).toFixed(1);
  return `| ${store} | ${turns.toLocaleString("en")} | ${hasWindow ? "window of 200 messages" : "whole"} | ${median(times).toFixed(1)} | ${largest} | ${median(records)} | ${median(blobsRead)} | ${messages.toLocaleString("en")} |`;
}

const folder = mkdtempSync(join(tmpdir(), "keelson-open-session-"));
const rows: string[] = [];
const openSqlite = (): Stores => {
  const log = createSqliteEventLog(join(folder, "sessions.db"));
  return { log, blobs: log.blobs, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() };
};
// What is called is compiled first.
await rowOf("SQLite", openSqlite, 500, true, "warm");
for (const hasWindow of [true, false]) for (const turns of TURNS) rows.push(await rowOf("SQLite", openSqlite, turns, hasWindow));
rmSync(folder, { recursive: true });

if (!isWithoutServer) {
  await using server = await startPostgresServer();
  const connectionString = await server.createDatabase();
  const openPostgres = (): Stores => createPostgres({ connectionString });
  await rowOf("PostgreSQL", openPostgres, 100, true, "warm");
  for (const hasWindow of [true, false]) for (const turns of TURNS) rows.push(await rowOf("PostgreSQL", openPostgres, turns, hasWindow));
}

console.log(`Node ${process.version}, ${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}; medians of ${OPENINGS} openings

| store | turns | conversation | first request after, ms | slowest | records read | blobs read | messages in the request |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join("\n")}`);
