import { IS_EMBEDDED } from "./find-repository.ts";
import type { Reading } from "../reading.ts";
import { reasonGitDoesMore } from "./check-repository.ts";

/**
 * Removes the mark of commands of git that run unasked, if the settings of their folders may make them do more than their words say. Relative
 * folders, of a line whose workspace is not known, are those of this process.
 */
export async function checkRepositories({ repositories, commands, workspace }: Reading): Promise<void> {
  const reasons = new Map<string, Promise<string | undefined>>();
  for (const { command, folders, shows } of repositories) {
    const within = shows ? workspace : undefined;
    const found =
      folders.length === 0
        ? ["The folder in which git works is not known."]
        : await Promise.all(folders.map((folder) => reasonIn(folder, within)));
    const reason = found.find((one) => one !== undefined);
    const before = commands[command];
    if (reason === undefined || before === undefined) continue;
    const { readOnly: _, ...others } = before;
    // A person who allowed git did not allow the settings of a stranger.
    commands[command] = { ...others, asks: reason, ...(reason.endsWith(IS_EMBEDDED) && { caution: reason }) };
  }

  function reasonIn(folder: string, within: string | undefined): Promise<string | undefined> {
    const key = JSON.stringify([folder, within]);
    const reason = reasons.get(key) ?? reasonGitDoesMore(folder, within);
    reasons.set(key, reason);
    return reason;
  }
}
