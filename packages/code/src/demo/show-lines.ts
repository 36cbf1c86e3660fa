import type { Style } from "../text/style.ts";
import { softWrapped } from "../text/wrapped.ts";

export interface ShowLinesOptions {
  readonly style: Style;
  /** The columns that a line may take. */
  readonly columns: number;
}

export interface OpeningOptions extends ShowLinesOptions {
  /** The reason why a script plays the model. */
  readonly reason: string;
}

export interface ClosingOptions extends ShowLinesOptions {
  /** The words with which the person starts `keelson`. */
  readonly command: string;
  /** A sentence about what was shown, and what is left of it. */
  readonly summary: string;
  /** True if a script played the model. */
  readonly scripted: boolean;
}

const NEEDS_KEY =
  "With a key, a model does the work: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or OLLAMA_HOST for a server of yours. Then start:";
const WIDEST = 78;
const HEAD_COLUMNS = 14;
/** Below this width, words are below their head. */
const LEAST_BESIDE = 50;

/** A title with a rule as long as the lines below it. */
export function headingLine(text: string, { style, columns }: ShowLinesOptions): string {
  return style.bold(style.cyan(`── ${text} ${"─".repeat(Math.max(0, Math.min(WIDEST, columns) - text.length - 4))}`));
}

/** Says what is real in the show, who types, and what the keys of the person do. */
export function openingLines({ reason, ...options }: OpeningOptions): readonly string[] {
  return [
    headingLine("keelson in a minute", options),
    ...paragraph(
      `A script plays the model (${reason.replace(/\.$/, "")}), so tokens and costs are estimates. All else is real: the screen, the tools, the tests, and the copy of a small project.`,
      options,
    ),
    ...paragraph(
      "The demo types for you. Any key skips ahead, Ctrl-C leaves. When the agent asks, you may answer: y or n, then Enter.",
      options,
    ),
    "",
  ];
}

/** Says what to try next. */
export function closingLines({ command, summary, scripted, ...options }: ClosingOptions): readonly string[] {
  const { style } = options;
  return [
    "",
    headingLine("what to try next", options),
    ...paragraph(summary, options),
    "",
    ...paragraph(scripted ? NEEDS_KEY : "Start it in a folder of yours:", options),
    `  ${style.cyan(command)}`,
    ...row("/help", "lists all commands and keys", options),
    ...row("@file", "names a file and completes its path", options),
    ...row("Shift-Tab", "changes what runs without a question, up to a plan mode", options),
    ...row("Ctrl-R", "searches your earlier messages", options),
    ...row("/diff, /undo", "show and take back what the agent changed", options),
    ...paragraph("The guide: docs/coding-agent.md", options),
  ];
}

function paragraph(text: string, { columns }: ShowLinesOptions): readonly string[] {
  return softWrapped(text, Math.min(WIDEST, columns));
}

function row(head: string, words: string, { style, columns }: ShowLinesOptions): readonly string[] {
  if (columns < LEAST_BESIDE) return [`  ${style.cyan(head)}`, ...softWrapped(`    ${words}`, columns)];
  const [first = "", ...rest] = softWrapped(words, Math.min(WIDEST, columns) - HEAD_COLUMNS - 2);
  return [
    `  ${style.cyan(head)}${" ".repeat(HEAD_COLUMNS - head.length)}${first}`,
    ...rest.map((line) => `${" ".repeat(HEAD_COLUMNS + 2)}${line}`),
  ];
}
