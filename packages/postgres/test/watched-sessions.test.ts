import { sessionLog, snapshotLog } from "@keelson/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../test/tier.ts";
import { watchedRunner, workWatched } from "../../runtime/test/processes/watched-team.ts";
import { endsAfter, iterations, readEvents, someBreaks, watchWithBreaks } from "../../runtime/test/processes/watch-with-breaks.ts";
import { createPostgres } from "@keelson/postgres";
import { openSharedServer, type SharedServer } from "./support/shared-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";

describe.skipIf(isWithoutServer)(`a watcher of a session on PostgreSQL${needsServer}`, () => {
  let server: SharedServer;
  beforeAll(async () => {
    server = await openSharedServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("sees each durable event once, in order, wherever its connection breaks: over two runs, a child, waits and snapshots [EV-14, EV-17]", async () => {
    const size = sampleSize("disconnects from a log in PostgreSQL", { test: 60, ci: 150, soak: 1000 });
    const stories = fc.sample(fc.record({ breaks: someBreaks, rests: fc.nat(4) }), { numRuns: size, seed });
    const schema = server.newSchema();
    const open = (): ReturnType<typeof createPostgres> => createPostgres({ connectionString: server.connectionString, schema, pollMs: 50 });
    const [ours, theirs] = [open(), open()];
    await ours.ready();
    let disconnects = 0;
    try {
      for (const [index, { breaks, rests }] of stories.entries()) {
        const session = `s${index}`;
        const watcher = watchedRunner(ours.log, ours.blobs);
        const watched = { session, watcher, head: () => ours.log.head(sessionLog(session)), isOver: endsAfter(2) };
        const [seen] = await Promise.all([
          watchWithBreaks(watched, breaks),
          workWatched(
            () => watchedRunner(theirs.log, theirs.blobs),
            session,
            () => iterations(rests),
          ),
        ]);
        expect(seen.events).toEqual(await readEvents(watched));
        expect(await ours.log.head(snapshotLog(session))).toBeGreaterThan(2);
        disconnects += seen.disconnects;
        if (disconnects >= size) break;
      }
      expect(disconnects).toBeGreaterThanOrEqual(size);
    } finally {
      await ours.close();
      await theirs.close();
    }
  }, 300_000);
});
