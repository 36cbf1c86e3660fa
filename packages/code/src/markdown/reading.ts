import type { FoldedOutputs } from "../render/folded-outputs.ts";
import { type CodeHighlight, createCodeHighlight } from "./highlight-code.ts";
import { supportsHyperlinks } from "./supports-hyperlinks.ts";
import { chooseTheme, createTheme, type Theme, type ThemeFacts } from "./theme.ts";
import type { Words } from "./words.ts";

/** The rendering of words and code on one screen. */
export interface Reading {
  readonly theme: Theme;
  readonly highlight: CodeHighlight;
  /** The outputs that were folded. Absent where nothing can be opened. */
  readonly folds?: FoldedOutputs | undefined;
  /** Loads the languages of the code in texts, so that `lines` colours it. A text that streams loads them by itself. */
  load(texts: readonly string[]): Promise<void>;
  /** Returns the reader of a text that streams. */
  words(): Words;
  /** Returns the lines of a whole Markdown text. */
  lines(text: string, columns: number): string[];
}

export interface ReadingOptions extends ThemeFacts {
  readonly folds?: FoldedOutputs | undefined;
  readonly onProblem?: (message: string) => void;
}

/** Loads the reader of Markdown, which a run without a terminal does without. */
export async function loadReading({ folds, onProblem, ...facts }: ReadingOptions): Promise<Reading> {
  const { createMarkdownWords, markdownLines } = await import("./markdown-words.ts");
  const theme = createTheme(chooseTheme(facts));
  const highlight = createCodeHighlight(onProblem === undefined ? {} : { onProblem });
  const options = { theme, highlight, hyperlinks: facts.colors && supportsHyperlinks(facts.environment) };
  return {
    theme,
    highlight,
    folds,
    async load(texts) {
      const fences = texts.flatMap((text) => [...text.matchAll(/^[ >]*(?:```|~~~)[`~]*(.+)$/gm)].map(([, info = ""]) => info));
      await Promise.all([...new Set(fences)].map((info) => highlight.load(info)));
    },
    words: () => createMarkdownWords(options),
    lines: (text, columns) => markdownLines(text, columns, options),
  };
}
