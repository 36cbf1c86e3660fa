import { softWrapped, wrapped } from "../text/wrapped.ts";
import { createLineReader } from "./line-reader.ts";
import type { Words } from "./words.ts";

/** Text that is shown as it was written, broken at its spaces. */
export function createPlainWords(): Words {
  let reader = createLineReader();
  const broken = (lines: readonly string[], columns: number): string[] => lines.flatMap((line) => softWrapped(line, columns));
  return {
    push: (delta, columns) => broken(reader.push(delta), columns),
    end: (columns) => broken(reader.end(), columns),
    drop() {
      reader = createLineReader();
    },
    rows({ columns, rows }) {
      const open = reader.open();
      return { lines: open === "" || rows <= 0 ? [] : wrapped(open, columns).slice(-rows) };
    },
  };
}
