// Works both runs of a session that others watch, turn by turn, on a file that they have open.
import { setTimeout } from "node:timers/promises";
import { createSqliteBlobStore, createSqliteEventLog } from "keelson/state";
import { watchedRunner, workWatched } from "./watched-team.ts";

const [path = "", session = ""] = process.argv.slice(2);
await using log = createSqliteEventLog({ path });
await using blobs = createSqliteBlobStore({ path });
await workWatched(
  () => watchedRunner(log, blobs),
  session,
  () => setTimeout(2),
);
