import type { CallEffects } from "@keelson/protocol";
import type { FileHistory } from "../workspace/file-history.ts";

type CommandHistory = Pick<FileHistory, "around">;

/** Runs commands without keeping anything. */
const NO_HISTORY: CommandHistory = {
  async around(_call, run, { onEnd } = {}) {
    const result = await run();
    onEnd?.([]);
    return { result, notes: [], changed: [] };
  },
};

/** Returns the history in which a command line runs. A line that is understood to change nothing needs none. */
export function historyFor(line: CallEffects, history: CommandHistory): CommandHistory {
  return mayWrite(line) ? history : NO_HISTORY;
}

/** True unless each program of a command line is known to read only, and it writes no file. */
function mayWrite({ commands, writes = [], unknown }: CallEffects): boolean {
  return unknown !== undefined || writes.length > 0 || commands === undefined || !commands.every(({ readOnly }) => readOnly === true);
}
