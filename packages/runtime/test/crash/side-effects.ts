import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";

/** What a tool did outside of the process, as the outside remembers it. */
export interface SideEffect {
  readonly tool: string;
  readonly key: string;
  readonly attempt: number;
}

/** A file in which each act is one line, on disk when `write` returns: nothing that was done can be forgotten by a crash. */
export interface SideEffects {
  write(effect: SideEffect): void;
  read(): readonly SideEffect[];
}

export function sideEffectsFile(path: string): SideEffects {
  return {
    write({ tool, key, attempt }) {
      const file = openSync(path, "a");
      try {
        writeSync(file, `${JSON.stringify({ tool, key, attempt })}\n`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    },
    read() {
      let text: string;
      try {
        text = readFileSync(path, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw error;
      }
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as SideEffect);
    },
  };
}

export function sideEffectsInMemory(): SideEffects {
  const done: SideEffect[] = [];
  return { write: (effect) => void done.push(effect), read: () => [...done] };
}
