import { StringDecoder } from "node:string_decoder";
import type { After } from "../terminal/after-reading.ts";
import { keyAction } from "./keys.ts";
import { beginsString, isReport, nextToken } from "./key-sequence.ts";

export interface KeyReaderOptions {
  readonly after: After;
  /** One key, or characters that arrived together. */
  onKey(sequence: string): void;
  /** A whole bracketed paste, as the terminal sent it. */
  onPaste(text: string): void;
  /** An answer or a message of the terminal, such as its focus. */
  onReport(report: string): void;
}

/** Splits the input of a terminal into keys, pastes and reports, wherever its chunks end. */
export interface KeyReader {
  push(chunk: Uint8Array | string): void;
  close(): void;
}

/** The pause that distinguishes the key Esc from the first byte of a sequence. */
export const ESCAPE_MS = 40;
/** The pause after which the beginning of a sequence counts as keys. */
export const SEQUENCE_MS = 200;
/** The same for strings that only terminals send. */
export const STRING_MS = 2_000;

const PASTE_START = "\u001b[200~";
const PASTE_END = "\u001b[201~";

export function createKeyReader({ after, onKey, onPaste, onReport }: KeyReaderOptions): KeyReader {
  const decoder = new StringDecoder("utf8");
  let pending = "";
  let paste: PasteBuffer | undefined;
  /** True while the timer of a string runs, which later characters of that string do not prolong. */
  let isInString = false;
  let cancel = (): void => {};

  function read(isComplete: boolean): void {
    while (pending !== "" || paste !== undefined) {
      if (paste !== undefined) {
        const rest = paste.push(pending);
        pending = "";
        if (rest === undefined) return;
        const { text } = paste;
        paste = undefined;
        pending = rest;
        onPaste(text());
        continue;
      }
      const token = nextToken(pending, isComplete);
      if (token === undefined) return;
      pending = pending.slice(token.length);
      isInString = false;
      emit(token.sequence);
    }
  }

  function emit(sequence: string): void {
    if (sequence === PASTE_START) paste = createPasteBuffer();
    // The end of a paste without its beginning is no key.
    else if (sequence === PASTE_END) return;
    else if (isReport(sequence)) onReport(sequence);
    else onKey(sequence);
  }

  return {
    push(chunk) {
      const text = typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      if (text === "") return;
      // A terminal that lost the end of a paste would swallow every key after it.
      if (paste !== undefined && keyAction(text) === "interrupt") pending = PASTE_END;
      else pending += text;
      read(false);
      if (isInString) return;
      cancel();
      if (pending === "") return;
      isInString = beginsString(pending);
      cancel = after(isInString ? STRING_MS : /^\u001b+$/.test(pending) ? ESCAPE_MS : SEQUENCE_MS, () => read(true));
    },
    close() {
      cancel();
    },
  };
}

interface PasteBuffer {
  /** @returns the text after the end of the paste; `undefined` if the end has not arrived */
  push(text: string): string | undefined;
  text(): string;
}

/** Collects the pieces of a paste, and searches each piece for the end once. */
function createPasteBuffer(): PasteBuffer {
  const pieces: string[] = [];
  /** The last characters, which may be the beginning of the end. */
  let tail = "";
  return {
    push(text) {
      const piece = tail + text;
      const end = piece.indexOf(PASTE_END);
      if (end !== -1) {
        pieces.push(piece.slice(0, end));
        tail = "";
        return piece.slice(end + PASTE_END.length);
      }
      const kept = Math.max(0, piece.length - PASTE_END.length + 1);
      pieces.push(piece.slice(0, kept));
      tail = piece.slice(kept);
      return undefined;
    },
    text: () => pieces.join(""),
  };
}
