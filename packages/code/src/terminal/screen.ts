import type { Paint } from "../text/style.ts";

/**
 * Where a run is shown. `text` is the model's words as they arrive; a block is whole lines that stand on their own, with
 * an empty line around them where the look wants it; the status is one line that is replaced all the time.
 */
export interface Screen {
  readonly columns: number;
  text(chunk: string, paint?: Paint): void;
  /** Ends an open line of text. */
  endText(): void;
  block(lines: readonly string[]): void;
  status(line: string | undefined): void;
}
