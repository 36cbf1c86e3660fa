import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionLog, snapshotLog } from "@keelson/protocol";
import fc from "fast-check";
import { createMemoryBlobStore, createMemoryEventLog, createSqliteBlobStore, createSqliteEventLog } from "keelson/state";
import { afterAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { watchedRunner, workWatched } from "../processes/watched-team.ts";
import { endsAfter, iterations, readEvents, someBreaks, watchWithBreaks, type WatchedSession } from "../processes/watch-with-breaks.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-watched-"));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;

/** A session that is about to be worked on, and a runner elsewhere that reads its events. */
interface Scene extends WatchedSession, AsyncDisposable {
  /** Returns the number of its snapshots. */
  snapshots(): Promise<number>;
  /** Resolves when both runs are over. @param rests the number of iterations of the event loop before each act of the worker */
  work(rests: number): Promise<void>;
}

const isOver = endsAfter(2);

function inMemory(): Scene {
  const session = `s${++count}`;
  const log = createMemoryEventLog();
  const blobs = createMemoryBlobStore();
  return {
    session,
    watcher: watchedRunner(log, blobs),
    head: () => log.head(sessionLog(session)),
    snapshots: () => log.head(snapshotLog(session)),
    isOver,
    work: (rests) =>
      workWatched(
        () => watchedRunner(log, blobs),
        session,
        () => iterations(rests),
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
    head: () => log.head(sessionLog(session)),
    snapshots: () => log.head(snapshotLog(session)),
    isOver,
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
        () => iterations(rests),
      );
    },
    async [Symbol.asyncDispose]() {
      await blobs[Symbol.asyncDispose]();
      await log[Symbol.asyncDispose]();
    },
  };
}

const LOGS: readonly (readonly [name: string, create: () => Scene, sizes: Parameters<typeof sampleSize>[1]])[] = [
  ["a memory log", inMemory, { test: 400, ci: 600, soak: 2000 }],
  ["a SQLite file, worked over another connection", () => inFile("connection"), { test: 400, ci: 600, soak: 2000 }],
  ["a SQLite file, worked by another process", () => inFile("process"), { test: 50, ci: 200, soak: 1000 }],
];

describe.each(LOGS)("a watcher of a session on %s", (name, create, sizes) => {
  it("sees each durable event once, in order, wherever its connection breaks: over two runs, a child, waits and snapshots [EV-14, EV-17]", async () => {
    const size = sampleSize(`disconnects from ${name}`, sizes);
    const stories = fc.sample(fc.record({ breaks: someBreaks, rests: fc.nat(4) }), { numRuns: size, seed });
    let disconnects = 0;
    for (const { breaks, rests } of stories) {
      await using scene = create();
      const [watched] = await Promise.all([watchWithBreaks(scene, breaks), scene.work(rests)]);
      const all = await readEvents(scene);
      expect(watched.events).toEqual(all);
      expect(all.map(({ type }) => type)).toEqual(expect.arrayContaining(["child-end", "run-suspend", "run-resume", "approval-decision"]));
      expect(await scene.snapshots()).toBeGreaterThan(2);
      disconnects += watched.disconnects;
      if (disconnects >= size) break;
    }
    expect(disconnects).toBeGreaterThanOrEqual(size);
  }, 300_000);
});
