import { join } from "node:path";
import type { EventLog } from "@keelson/protocol";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { createSqliteBlobStore, createSqliteEventLog } from "../../src/state/index.ts";
import type { Points } from "./points.ts";
import { type OpenRunner, openScenario } from "./scenario.ts";
import { type SideEffects, sideEffectsFile } from "./side-effects.ts";
import { watchedLog } from "./watched-log.ts";

export interface ScenarioFolder extends AsyncDisposable {
  readonly log: EventLog;
  readonly effects: SideEffects;
  readonly runner: SingleRunner;
}

export interface ScenarioFolderOptions {
  readonly points: Points;
  /** Default: {@link openScenario}. */
  readonly open?: OpenRunner;
  readonly withoutLedger?: boolean;
  /** The log's clock. Default: the time of day. */
  readonly now?: () => number;
  readonly onAppended?: (log: string, key: string, seq: number) => void;
}

/** An hour: a process that was killed must be known to be dead, since nobody waits that long. */
export const LEASE_MS = 3_600_000;

/** The scenario on SQLite: what it knows and what its tools did lies in one folder, for any process to go on with. */
export function openFolder(
  folder: string,
  { points, open = openScenario, withoutLedger, now, onAppended }: ScenarioFolderOptions,
): ScenarioFolder {
  const path = join(folder, "sessions.db");
  const sqlite = createSqliteEventLog({ path, ...(now && { now }) });
  const blobs = createSqliteBlobStore(path);
  const log =
    onAppended === undefined ? sqlite : watchedLog(sqlite, { after: (id, records, seq) => onAppended(id, records.at(-1)?.key ?? "", seq) });
  const effects = sideEffectsFile(join(folder, "effects.jsonl"));
  return {
    log,
    effects,
    runner: open({ log, blobs, effects, points, leaseTtlMs: LEASE_MS, ...(withoutLedger && { withoutLedger }) }),
    async [Symbol.asyncDispose]() {
      await blobs[Symbol.asyncDispose]();
      await sqlite[Symbol.asyncDispose]();
    },
  };
}
