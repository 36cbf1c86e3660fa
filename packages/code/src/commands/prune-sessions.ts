import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Retention } from "keelson/session";
import type { CodingRunner } from "../core/coding-runner.ts";
import type { CommandHost } from "../core/command-host.ts";
import { givenPath } from "../core/given-path.ts";
import type { Stores } from "../core/stores.ts";
import type { PruneAction } from "../options/command-line.ts";
import { exportToFile } from "./session-files.ts";

/** Deletes what is old or does not fit, once it is archived where that is asked for, and seals what is idle. */
export async function pruneSessions(
  stores: Stores,
  { sessions }: CodingRunner,
  { maxAgeMs, maxBytes, sealAfterMs, archive, dryRun }: PruneAction,
  host: CommandHost,
): Promise<Retention> {
  const folder = archive === undefined ? undefined : givenPath(host.cwd, archive, host.environment);
  if (folder !== undefined && !dryRun) await mkdir(folder, { recursive: true, mode: 0o700 });
  return sessions.retain({
    maxAgeMs,
    maxBytes,
    sealAfterMs,
    dryRun,
    ...(folder !== undefined && { archive: async (id) => void (await exportToFile(stores, id, join(folder, `${id}.jsonl`), host)) }),
  });
}
