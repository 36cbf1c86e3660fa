import type { Words } from "./words.ts";
import { createLineReader } from "./line-reader.ts";
import { wrapped } from "../text/wrapped.ts";

/** Text that is shown as it was written. */
export function createPlainWords(): Words {
  let reader = createLineReader();
  return {
    push: (delta) => reader.push(delta),
    end: () => reader.end(),
    drop() {
      reader = createLineReader();
    },
    rows({ columns, rows }) {
      const open = reader.open();
      return { lines: open === "" || rows <= 0 ? [] : wrapped(open, columns).slice(-rows) };
    },
  };
}
