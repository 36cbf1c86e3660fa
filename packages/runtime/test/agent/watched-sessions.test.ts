import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionLog, snapshotLog, type RecordedEvent } from "@keelson/protocol";
import fc from "fast-check";
import type { SingleRunner } from "keelson";
import { createMemoryBlobStore, createMemoryEventLog, createSqliteBlobStore, createSqliteEventLog } from "keelson/state";
import { afterAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { watchedRunner, workWatched } from "../processes/watched-team.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-watched-"));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;

/** A session that is about to be worked, and somebody elsewhere who can watch it. */
interface Scene extends AsyncDisposable {
  readonly session: string;
  readonly watcher: SingleRunner;
  /** Its head, and that of its snapshots. */
  heads(): Promise<readonly [number, number]>;
  /** Resolves when both runs are over. @param rests how long the worker rests, in turns of the event loop */
  work(rests: number): Promise<void>;
}

const turns = async (times: number): Promise<void> => {
  for (let time = 0; time < times; time++) await new Promise((resolve) => setImmediate(resolve));
};

function inMemory(): Scene {
  const session = `s${++count}`;
  const log = createMemoryEventLog();
  const blobs = createMemoryBlobStore();
  return {
    session,
    watcher: watchedRunner(log, blobs),
    heads: async () => [await log.head(sessionLog(session)), await log.head(snapshotLog(session))],
    work: (rests) =>
      workWatched(
        () => watchedRunner(log, blobs),
        session,
        () => turns(rests),
      ),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

/** The worker has a connection of its own to the file, or is another process. */
function inFile(elsewhere: "connection" | "process"): Scene {
  const session = `s${++count}`;
  const path = join(folder, `${count}.db`);
  const log = createSqliteEventLog({ path });
  const blobs = createSqliteBlobStore({ path });
  return {
    session,
    watcher: watchedRunner(log, blobs),
    heads: async () => [await log.head(sessionLog(session)), await log.head(snapshotLog(session))],
    async work(rests) {
      if (elsewhere === "process") {
        const program = new URL("../processes/advance-watched.ts", import.meta.url).pathname;
        const worker = spawn(process.execPath, ["--conditions=source", program, path, session], { stdio: "inherit" });
        expect(await once(worker, "close")).toEqual([0, null]);
        return;
      }
      await using workersLog = createSqliteEventLog({ path });
      await using workersBlobs = createSqliteBlobStore({ path });
      await workWatched(
        () => watchedRunner(workersLog, workersBlobs),
        session,
        () => turns(rests),
      );
    },
    async [Symbol.asyncDispose]() {
      await blobs[Symbol.asyncDispose]();
      await log[Symbol.asyncDispose]();
    },
  };
}

/** Where a connection of the watcher breaks: behind so many events, or while it waits, so many turns of the event loop later. */
type Break = { readonly type: "left"; readonly events: number } | { readonly type: "lost"; readonly turns: number };

const aBreak: fc.Arbitrary<Break> = fc.oneof(
  fc.record({ type: fc.constant("left" as const), events: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ type: fc.constant("lost" as const), turns: fc.nat(6) }),
);

const MOST_IN_VAIN = 20;
const AT_THE_NEXT_EVENT: Break = { type: "left", events: 1 };

interface Watched {
  readonly events: readonly RecordedEvent[];
  readonly disconnects: number;
}

/**
 * Watches until both runs are over. It remembers the last event that it saw, and nothing else. After some connections that
 * broke before anything came, one sees an event: a watcher that never waits would keep the worker in this process from its work.
 */
async function watchBrokenly({ watcher, session, heads }: Scene, breaks: readonly Break[]): Promise<Watched> {
  const events: RecordedEvent[] = [];
  let disconnects = 0;
  let inVain = 0;
  for (let connection = 0; ; connection++) {
    // Before it is begun there is nothing to watch.
    while ((await heads())[0] === 0) await turns(1);
    const { type, ...where } = inVain === MOST_IN_VAIN ? AT_THE_NEXT_EVENT : (breaks[connection % breaks.length] as Break);
    const leaving = new AbortController();
    const lost = "turns" in where ? turns(where.turns).then(() => leaving.abort()) : undefined;
    const before = events.length;
    const after = (events.at(-1) as { readonly seq?: number } | undefined)?.seq ?? 0;
    for await (const event of watcher.sessions.events(session, { after, follow: true, signal: leaving.signal })) {
      events.push(event);
      if (isOver(events)) return { events, disconnects };
      if ("events" in where && events.length - before >= where.events) break;
    }
    disconnects++;
    inVain = events.length === before ? inVain + 1 : 0;
    await lost;
    expect(type).toBe("events" in where ? "left" : "lost");
  }
}

function isOver(events: readonly RecordedEvent[]): boolean {
  return events.at(-1)?.type === "run-complete" && events.filter(({ type }) => type === "run-complete").length === 2;
}

async function allOf({ watcher, session }: Scene): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const event of watcher.sessions.events(session)) events.push(event);
  return events;
}

const LOGS: readonly (readonly [name: string, create: () => Scene, sizes: Parameters<typeof sampleSize>[1]])[] = [
  ["a memory log", inMemory, { test: 400, ci: 600, soak: 2000 }],
  ["a SQLite file, worked over another connection", () => inFile("connection"), { test: 400, ci: 600, soak: 2000 }],
  ["a SQLite file, worked by another process", () => inFile("process"), { test: 50, ci: 200, soak: 1000 }],
];

describe.each(LOGS)("a watcher of a session on %s", (name, create, sizes) => {
  it("sees each durable event once, in order, wherever its connection breaks: over two runs, a child, waits and snapshots [EV-14, EV-17]", async () => {
    const size = sampleSize(`disconnects from ${name}`, sizes);
    const stories = fc.sample(fc.record({ breaks: fc.array(aBreak, { minLength: 1, maxLength: 12 }), rests: fc.nat(4) }), {
      numRuns: size,
      seed,
    });
    let disconnects = 0;
    for (const { breaks, rests } of stories) {
      await using scene = create();
      const [watched] = await Promise.all([watchBrokenly(scene, breaks), scene.work(rests)]);
      const all = await allOf(scene);
      expect(watched.events).toEqual(all);
      expect(all.map(({ type }) => type)).toEqual(expect.arrayContaining(["child-end", "run-suspend", "run-resume", "approval-decision"]));
      expect((await scene.heads())[1]).toBeGreaterThan(2);
      disconnects += watched.disconnects;
      if (disconnects >= size) break;
    }
    expect(disconnects).toBeGreaterThanOrEqual(size);
  }, 300_000);
});
