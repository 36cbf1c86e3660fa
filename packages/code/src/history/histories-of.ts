import { existsSync } from "node:fs";
import { limitsFrom } from "./history-limits.ts";
import { Journal } from "./journal.ts";
import { ProjectHistory } from "./project-history.ts";
import { journalPath, projectFolders, ProjectStore } from "./project-store.ts";
import { forgetSession } from "./trim-history.ts";

export interface HistoriesOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  now(): number;
}

/** Returns the histories of all projects in which a session changed files. */
export function historiesOf(home: string, session: string, { environment, now }: HistoriesOptions): readonly ProjectHistory[] {
  return projectFolders(home).flatMap((folder) => {
    const file = journalPath(folder, session);
    const first = existsSync(file) ? new Journal(file).read()[0] : undefined;
    if (first?.type !== "session") return [];
    return [new ProjectHistory(new ProjectStore({ home, root: first.root, limits: limitsFrom(environment), now }))];
  });
}

/** Deletes what the histories of all projects keep of sessions. */
export async function forgetHistories(home: string, sessions: readonly string[], options: HistoriesOptions): Promise<void> {
  for (const session of sessions) {
    for (const { store } of historiesOf(home, session, options))
      await store.locked(async () => forgetSession(store, journalPath(store.folder, session)));
  }
}
