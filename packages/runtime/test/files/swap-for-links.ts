import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { workerData } from "node:worker_threads";

/** What the thread is told. */
export interface SwappedPlace {
  /** Beside the root, on the same disk: new things are made here and then renamed to their place. */
  readonly workshop: string;
  /** What stands in the root, a folder, and at times is a link to `outside`. */
  readonly place: string;
  readonly outside: string;
  /** What the folder holds, and what is swapped in it. */
  readonly files: Readonly<Record<string, string>>;
  /** Below the place; `""` is the place itself. A link there leads to the same path below `outside`. */
  readonly swapped: readonly string[];
  /** Ends the thread once its first number is not zero; the second counts the swaps. */
  readonly control: Int32Array<SharedArrayBuffer>;
}

// Runs in a thread of its own, as fast as it can. Renames only: whatever stands at the place meanwhile is whole.
const { workshop, place, outside, files, swapped, control } = workerData as SwappedPlace;
let made = 0;

function attempt(step: () => void): boolean {
  try {
    step();
    return true;
  } catch {
    return false; // a call under test moved or removed it; the next round begins anew
  }
}

// What was moved away lately; older ones go, so that there is not much to remove in the end.
const moved: string[] = [];
const MOVED_KEPT = 200;
const away = (): string => {
  const path = join(workshop, `away-${++made}`);
  moved.push(path);
  return path;
};
while (Atomics.load(control, 0) === 0) {
  for (const path of moved.splice(0, Math.max(0, moved.length - MOVED_KEPT))) attempt(() => rmSync(path, { recursive: true, force: true }));
  const fresh = join(workshop, `fresh-${++made}`);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(fresh, path)), { recursive: true });
    writeFileSync(join(fresh, path), text);
  }
  attempt(() => renameSync(place, away()));
  if (!attempt(() => renameSync(fresh, place))) continue;
  for (const below of swapped) {
    const link = join(workshop, `link-${++made}`);
    symlinkSync(join(outside, below), link);
    const there = join(place, below);
    const kept = away();
    // Nobody else puts links there, so that this thread is never led outside itself.
    if (!attempt(() => renameSync(there, kept))) continue;
    attempt(() => renameSync(link, there));
    for (let spin = 0; spin < 200; spin++) Atomics.load(control, 0);
    attempt(() => renameSync(there, away()));
    attempt(() => renameSync(kept, there));
    Atomics.add(control, 1, 1);
  }
}
