import { standIn, toEditable } from "./stand-ins.ts";

/**
 * Keeps long pastes out of the editor, which copies its pastes at each word for undo. The editor holds a key and as many lines as
 * its marker shows.
 */
export interface PastedTexts {
  /** Returns a paste as the editor is to hold it. */
  keep(text: string): string;
  /** Returns a text of the editor with the pastes that its keys name. */
  restore(text: string): string;
  clear(): void;
}

/** The editor folds a paste of more lines than this, and shows their number. */
const FOLDED_LINES = 10;
/** Private characters that `toEditable` never returns. */
const FIRST_KEY = 0x100000;
const KEY = /[\u{100000}-\u{10ffff}]\n*/gu;

export function createPastedTexts(): PastedTexts {
  const texts = new Map<string, string>();
  return {
    keep(text) {
      const editable = firstHeld(toEditable(text));
      const lines = editable.split("\n").length;
      if (lines <= FOLDED_LINES) return editable;
      const key = String.fromCodePoint(FIRST_KEY + (texts.size % 0xfffd)) + "\n".repeat(lines - 1);
      texts.set(key, editable);
      return key;
    },
    restore: (text) => text.replace(KEY, (found) => restored(found, texts)),
    clear: () => texts.clear(),
  };
}

/** Newlines that follow a paste in the text belong to the text. */
function restored(found: string, texts: ReadonlyMap<string, string>): string {
  for (let end = found.length; end > 0; end--) {
    const text = texts.get(found.slice(0, end));
    if (text !== undefined) return text + found.slice(end);
  }
  return found;
}

/** The editor puts a blank before a pasted path that follows a word: a held character prevents that. */
function firstHeld(text: string): string {
  return /^[/~.]/.test(text) ? standIn(text) + text.slice(1) : text;
}
