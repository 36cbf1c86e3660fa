import type { Screen } from "./screen.ts";
import type { Paint } from "../text/style.ts";

/** The part of a stream that a screen needs. */
export interface Output {
  write(text: string): unknown;
}

/** Words on one stream, all else on another, nothing is ever taken back: for pipes, files and CI. */
export function createPlainScreen(words: Output, notes: Output, columns = 120): Screen {
  let open = false;
  return {
    columns,
    text(chunk: string, paint?: Paint) {
      if (chunk === "") return;
      words.write(paint === undefined ? chunk : paint(chunk));
      open = !chunk.endsWith("\n");
    },
    endText() {
      if (open) words.write("\n");
      open = false;
    },
    block(lines) {
      this.endText();
      if (lines.length > 0) notes.write(`${lines.join("\n")}\n`);
    },
    status() {},
  };
}
