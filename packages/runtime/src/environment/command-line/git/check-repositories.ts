import type { Reading } from "../reading.ts";
import { reasonGitDoesMore } from "./check-repository.ts";

/**
 * Removes the mark of commands of git that run unasked, if the settings of their folders may make them do more than their words say. Relative
 * folders, of a line whose workspace is not known, are those of this process.
 */
export async function checkRepositories({ repositories, commands }: Reading): Promise<void> {
  const reasons = new Map<string, Promise<string | undefined>>();
  for (const { command, folders } of repositories) {
    const found = folders.length === 0 ? ["The folder in which git works is not known."] : await Promise.all(folders.map(reasonIn));
    const reason = found.find((one) => one !== undefined);
    const before = commands[command];
    if (reason === undefined || before === undefined) continue;
    const { readOnly: _, ...others } = before;
    commands[command] = { ...others, asks: reason };
  }

  function reasonIn(folder: string): Promise<string | undefined> {
    const reason = reasons.get(folder) ?? reasonGitDoesMore(folder);
    reasons.set(folder, reason);
    return reason;
  }
}
