import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** The moment at which a process kills itself: before a change of the file system. */
export type DeathAt =
  /** Before it renames a file to a path with this end, or removes it. */
  | { readonly path: string }
  /** Before the change with this number, from 0. */
  | { readonly change: number };

/** The functions that change files. Those that set times are left out: a timer calls them, so their number is not the same each time. */
const CHANGES = [
  ...["appendFileSync", "chmodSync", "chownSync", "copyFileSync", "fchmodSync", "fsyncSync", "ftruncateSync", "linkSync", "mkdirSync"],
  ...["renameSync", "rmSync", "rmdirSync", "symlinkSync", "unlinkSync", "writeFileSync", "writeSync"],
] as const;
const PLACE_OF: { readonly [name: string]: number } = { renameSync: 1, unlinkSync: 0 };

/** Has this process kill itself at that moment. @returns a function that counts the changes so far */
export function dieAtChange(death: DeathAt | undefined): () => number {
  let changes = 0;
  const before = (name: string, given: readonly unknown[]): void => {
    const place = PLACE_OF[name];
    const isMoment =
      death !== undefined &&
      ("change" in death ? changes === death.change : place !== undefined && String(given[place]).endsWith(death.path));
    if (isMoment) process.kill(process.pid, "SIGKILL");
    changes++;
  };
  for (const name of CHANGES) {
    const change: (...given: never[]) => unknown = fs[name];
    Object.assign(fs, {
      [name]: (...given: never[]) => {
        before(name, given);
        return change(...given);
      },
    });
  }
  syncBuiltinESMExports();
  return () => changes;
}
