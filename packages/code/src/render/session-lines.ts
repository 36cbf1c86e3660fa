import type { Content, Message } from "@keelson/protocol";
import type { ListedSession } from "../core/listed-session.ts";
import { truncated } from "../text/display-width.ts";
import type { Reading } from "../markdown/reading.ts";
import { formatCost, formatCount, formatDuration } from "./figures.ts";
import { foldLines } from "./fold-lines.ts";
import { outputText } from "./output-text.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { sentLines } from "./sent-lines.ts";
import { callTitle } from "./tool-view.ts";

/** Id and name, how it began, then when, where and how much; a line more where the session is damaged. */
export function sessionLines(
  { id, name, tags, folder, worktree, branch, firstWords, updatedAt, turnCount, totalTokens, cost, damaged }: ListedSession,
  { style, columns, now }: { readonly style: Style; readonly columns: number; readonly now: number },
): string[] {
  const title = [name === undefined ? "" : printableLine(name), tags.map((tag) => `#${printableLine(tag)}`).join(" ")]
    .filter((part) => part !== "")
    .join("  ");
  const facts = [
    `${formatDuration(Math.max(0, now - updatedAt))} ago`,
    `${turnCount} ${turnCount === 1 ? "turn" : "turns"}`,
    `${formatCount(totalTokens)} tokens`,
    formatCost(cost),
    ...(worktree === undefined ? [] : [`worktree ${printableLine(worktree)}`]),
    ...(branch === undefined ? [] : [`branch ${printableLine(branch)}`]),
    ...(folder === undefined ? [] : [printableLine(folder)]),
  ];
  return [
    `${style.bold(id)}${title === "" ? "" : `  ${truncated(title, Math.max(10, columns - id.length - 4))}`}`,
    ...(firstWords === undefined ? [] : [truncated(`  ${printableLine(firstWords)}`, columns)]),
    style.dim(truncated(`  ${facts.join(" · ")}`, columns)),
    ...(damaged === undefined ? [] : [style.red(truncated(`  damaged: ${printableLine(damaged)}`, columns))]),
  ];
}

/** Lines of a text where nothing that is folded can be opened. */
const MAX_TEXT = 200;

export interface TranscriptOptions {
  readonly style: Style;
  readonly columns: number;
  /** Renders the words of the agent. Default: they are shown as they were written, as in a pipe. */
  readonly reading?: Reading | undefined;
}

/** A conversation for reading: whole texts, calls by their titles, results folded. */
export function transcriptLines(messages: readonly Message[], options: TranscriptOptions): string[] {
  const failed = new Set(
    messages.flatMap(({ content }) => content.flatMap((part) => (part.type === "tool-result" && part.isError === true ? [part.id] : []))),
  );
  return messages.flatMap(({ role, content }) => content.flatMap((part) => partLines(role, part, { ...options, failed })));
}

function partLines(
  role: Message["role"],
  part: Content,
  { style, columns, reading, failed }: TranscriptOptions & { readonly failed: ReadonlySet<string> },
): string[] {
  switch (part.type) {
    case "text":
    case "refusal": {
      // System messages are from the program, between turns: they are no part of the talk.
      if (part.text.trim() === "" || role === "system") return [];
      if (role !== "user" && reading !== undefined) return [...reading.lines(part.text, columns), ""];
      if (role !== "user") return [...foldLines(part.text, { maxLines: MAX_TEXT, columns: Number.MAX_SAFE_INTEGER }), ""];
      const { folds } = reading ?? {};
      return ["", ...sentLines(part.text, { style, folds, ...(folds === undefined && { maxLines: MAX_TEXT }) }), ""];
    }
    case "tool-call":
      return [
        failed.has(part.id)
          ? `${style.red("✗")} ${callTitle(part, { style, columns: columns - 12 })} ${style.red("(failed)")}`
          : `● ${callTitle(part, { style, columns: columns - 4 })}`,
      ];
    case "tool-result":
      return [
        ...foldLines(outputText(part.output), { maxLines: 4, tail: 2, columns: columns - 6 }).map((line) =>
          part.isError ? style.red(`  │ ${line}`) : style.dim(`  │ ${line}`),
        ),
        "",
      ];
    default:
      return [];
  }
}
