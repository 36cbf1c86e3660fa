import type { LivePart } from "../terminal/live-part.ts";

/** Text of a model as it streams: what is finished is final, what is open is drawn again. */
export interface Words extends LivePart {
  /** Takes more text. @returns lines that are finished; long words and lines of code in them are left to the terminal to wrap */
  push(delta: string, columns: number): readonly string[];
  /** The text is over. @returns the rest */
  end(columns: number): readonly string[];
  /** Drops what is open: the response is void. */
  drop(): void;
}
