import { truncated } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";

const MAX_COLUMNS = 60;
const SAVE = "\u001b[22;2t";
const RESTORE = "\u001b[23;2t";

/** Returns the sequence that gives a terminal a title. The text is made safe and cut to 60 columns. */
export function titleSequence(text: string): string {
  return `\u001b]2;${truncated(printableLine(text).trim(), MAX_COLUMNS)}\u0007`;
}

/** The title of a terminal. The methods return what is to be written with `control` of the screen. */
export interface TerminalTitle {
  /** Returns the sequence for a title; no text if it is shown already. The first one saves the title that the terminal had. */
  set(text: string): string;
  /** Returns the sequence that gives the terminal its own title again; no text if none was set. */
  restore(): string;
}

export function createTerminalTitle(environment: { readonly [name: string]: string | undefined }): TerminalTitle {
  const isKnown = supportsTitles(environment);
  let shown: string | undefined;
  return {
    set(text) {
      if (!isKnown) return "";
      const sequence = titleSequence(text);
      if (sequence === shown) return "";
      const save = shown === undefined ? SAVE : "";
      shown = sequence;
      return save + sequence;
    },
    restore() {
      if (shown === undefined) return "";
      shown = undefined;
      return RESTORE;
    },
  };
}

/** A terminal that knows no titles may print the text of one, or ring at its end. */
function supportsTitles({ TERM = "", WT_SESSION = "" }: { readonly [name: string]: string | undefined }): boolean {
  if (TERM === "") return WT_SESSION !== "";
  return TERM !== "dumb" && TERM !== "linux" && !TERM.startsWith("vt");
}
