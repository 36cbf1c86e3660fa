import type { CallEffects } from "@keelson/protocol";

/** True unless a command line is understood to change nothing: each of its programs is known to read only, and it writes no file. */
export function mayWrite({ commands, writes = [], unknown }: CallEffects): boolean {
  return unknown !== undefined || writes.length > 0 || commands === undefined || !commands.every(({ readOnly }) => readOnly === true);
}
