import type { Paint } from "../text/style.ts";

/**
 * The place in which a run is shown. `text` is the model's words as they arrive; a block is whole lines, with an empty line before or after them
 * if that looks better; the status is one line that is replaced all the time.
 */
export interface Screen {
  readonly columns: number;
  text(chunk: string, paint?: Paint): void;
  /** Ends an open line of text. */
  endText(): void;
  block(lines: readonly string[]): void;
  status(line: string | undefined): void;
}
