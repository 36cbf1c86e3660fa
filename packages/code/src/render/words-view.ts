import { createPlainWords } from "../markdown/plain-words.ts";
import type { Words } from "../markdown/words.ts";
import type { LivePart, LivePlace } from "../terminal/live-part.ts";
import type { Screen } from "../terminal/screen.ts";
import { printable } from "../text/printable.ts";

/** Shows the text of a model while it streams. */
export interface WordsView {
  show(delta: string): void;
  /** Makes room for lines that come while the text is open. */
  interrupt(): void;
  /** The text is over. */
  end(): void;
  /** The text is void: what is not final yet disappears. */
  drop(): void;
}

/** A screen that draws what is open again. */
export interface PartsScreen extends Screen {
  part(place: LivePlace, part: LivePart | undefined): void;
  changed(): void;
  finished(lines: readonly string[]): void;
}

/** @param words The reader of the text. Default: the text is shown as it was written, which a screen without parts does in any case. */
export function createWordsView(screen: Screen, words: Words = createPlainWords()): WordsView {
  return hasParts(screen) ? liveView(screen, words) : plainView(screen);
}

function hasParts(screen: Screen): screen is PartsScreen {
  return "part" in screen && "changed" in screen && "finished" in screen;
}

function liveView(screen: PartsScreen, words: Words): WordsView {
  let isOpen = false;
  const write = (lines: readonly string[]): void => {
    if (lines.length > 0) screen.finished(lines);
  };
  const close = (): void => {
    isOpen = false;
    screen.part("words", undefined);
  };
  return {
    show(delta) {
      if (!isOpen) screen.part("words", words);
      isOpen = true;
      write(words.push(delta, screen.columns));
      screen.changed();
    },
    // Blocks are written above the open text.
    interrupt() {},
    end() {
      if (!isOpen) return;
      write(words.end(screen.columns));
      close();
    },
    drop() {
      words.drop();
      if (isOpen) close();
    },
  };
}

function plainView(screen: Screen): WordsView {
  // A high surrogate whose other half comes with the next delta.
  let half = "";
  return {
    show(delta) {
      const text = half + delta;
      half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
      const whole = half === "" ? text : text.slice(0, -1);
      if (whole !== "") screen.text(printable(whole));
    },
    interrupt: () => screen.endText(),
    end: () => screen.endText(),
    drop() {
      half = "";
    },
  };
}
