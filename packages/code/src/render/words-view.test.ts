import { describe, expect, it } from "vitest";
import { createPlainHighlight } from "../markdown/highlight-code.ts";
import { createMarkdownWords } from "../markdown/markdown-words.ts";
import { createTheme } from "../markdown/theme.ts";
import type { LivePart } from "../terminal/live-part.ts";
import { createWordsView, type PartsScreen } from "./words-view.ts";

/** A screen that keeps what is final, and the part that is drawn again. */
function createPartsScreen(): PartsScreen & { readonly written: string[]; live(): readonly string[] | undefined } {
  let words: LivePart | undefined;
  const written: string[] = [];
  return {
    columns: 40,
    written,
    live: () => words?.rows({ columns: 40, rows: 10 }).lines,
    part(place, part) {
      if (place === "words") words = part;
    },
    changed() {},
    finished: (lines) => void written.push(...lines),
    text: () => expect.unreachable("Markdown is no plain text"),
    endText() {},
    block: (lines) => void written.push(...lines),
    status() {},
  };
}

const words = () => createMarkdownWords({ theme: createTheme("none"), highlight: createPlainHighlight() });

describe("createWordsView", () => {
  it("writes what is finished and draws what is open", () => {
    const screen = createPartsScreen();
    const view = createWordsView(screen, words());
    view.show("# A\n\nb **c");
    expect([screen.written, screen.live()]).toEqual([["# A"], ["", "b **c"]]);
    view.show("**");
    view.end();
    expect([screen.written, screen.live()]).toEqual([["# A", "", "b **c**"], undefined]);
  });

  it("leaves the text open while a block comes between", () => {
    const screen = createPartsScreen();
    const view = createWordsView(screen, words());
    view.show("- a\n- b\n- c");
    view.interrupt();
    screen.block(["! note"]);
    view.show("d\n");
    view.end();
    expect(screen.written).toEqual(["- a", "! note", "- b", "- cd"]);
  });

  it("takes away what is open of a void response", () => {
    const screen = createPartsScreen();
    const view = createWordsView(screen, words());
    view.show("half");
    view.drop();
    expect([screen.written, screen.live()]).toEqual([[], undefined]);
    view.show("whole");
    view.end();
    expect(screen.written).toEqual(["whole"]);
  });

  it("shows text as it was written without a reader, and wraps what is open", () => {
    const screen = createPartsScreen();
    const view = createWordsView(screen);
    view.show("# A\n**b** \u001b[2J\ud83d");
    expect([screen.written, screen.live()]).toEqual([["# A"], ["**b** "]]);
    view.show("\ude00 and more words than fit into a row of forty columns");
    expect(screen.live()).toEqual(["**b** 😀 and more words than fit into a", "row of forty columns"]);
    view.end();
    expect(screen.written).toEqual(["# A", "**b** 😀 and more words than fit into a", "row of forty columns"]);
  });

  it("ends a text once", () => {
    const screen = createPartsScreen();
    const view = createWordsView(screen, words());
    view.show("a");
    view.end();
    view.end();
    expect(screen.written).toEqual(["a"]);
  });
});
