import { join } from "node:path";
import type { EventLog } from "@keelson/protocol";
import type { SingleRunner } from "../../src/agent/runner.ts";
import { createSqliteBlobStore, createSqliteEventLog } from "../../src/state/index.ts";
import type { Points } from "./points.ts";
import { openScenario } from "./scenario.ts";
import { type SideEffects, sideEffectsFile } from "./side-effects.ts";
import { watchedLog } from "./watched-log.ts";

export interface ScenarioFolder extends AsyncDisposable {
  readonly log: EventLog;
  readonly effects: SideEffects;
  readonly runner: SingleRunner<undefined>;
}

export interface ScenarioFolderOptions {
  readonly points: Points;
  readonly withoutLedger?: boolean;
  readonly leaseTtlMs?: number;
  readonly onAppended?: (log: string, key: string, seq: number) => void;
}

/** The scenario on SQLite: what it knows and what its tools did lies in one folder, for any process to go on with. */
export function openFolder(folder: string, { points, withoutLedger, leaseTtlMs, onAppended }: ScenarioFolderOptions): ScenarioFolder {
  const path = join(folder, "sessions.db");
  const sqlite = createSqliteEventLog(path);
  const blobs = createSqliteBlobStore(path);
  const log = onAppended === undefined ? sqlite : watchedLog(sqlite, { after: (id, records, seq) => onAppended(id, records.at(-1)?.key ?? "", seq) });
  const effects = sideEffectsFile(join(folder, "effects.jsonl"));
  return {
    log,
    effects,
    // An hour: a process that was killed must be known to be dead, since nobody waits that long.
    runner: openScenario({ log, blobs, effects, points, leaseTtlMs: leaseTtlMs ?? 3_600_000, ...(withoutLedger && { withoutLedger }) }),
    async [Symbol.asyncDispose]() {
      await blobs[Symbol.asyncDispose]();
      await sqlite[Symbol.asyncDispose]();
    },
  };
}
