import { fuzzyMatch, parseKey } from "@earendil-works/pi-tui";
import type { LivePart } from "../terminal/live-part.ts";
import { displayWidth, truncated } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { keyAction } from "./keys.ts";
import { cropped } from "./prompt-rows.ts";

export interface HistorySearchOptions {
  readonly style: Style;
  /** Newest first. */
  readonly entries: readonly string[];
  /** Receives the chosen message. `isSent`: by Enter, which also sends it; Tab gives it to be edited. */
  onTake(text: string, options: { readonly isSent: boolean }): void;
  /** The person went back to what they had typed. */
  onClose(): void;
}

/** An incremental search in earlier messages. */
export interface HistorySearch extends LivePart {
  handle(sequence: string): void;
  close(): void;
}

const MAX_SHOWN = 8;
/** The beginning of a message that is searched and shown. */
const MAX_SEARCHED = 2_000;

export function createHistorySearch({ style, entries, onTake, onClose }: HistorySearchOptions): HistorySearch {
  let query = "";
  let found = findMessages(entries, query);
  let selected = 0;

  function look(next: string): void {
    query = next;
    found = findMessages(entries, query);
    selected = 0;
  }

  function take(isSent: boolean): void {
    const text = found[selected];
    if (text !== undefined) onTake(text, { isSent });
  }

  function move(step: number): void {
    selected = Math.max(0, Math.min(found.length - 1, selected + step));
  }

  function handle(sequence: string): void {
    switch (keyAction(sequence)) {
      case "send":
        return take(true);
      case "complete":
        return take(false);
      case "stop":
      case "interrupt":
        return onClose();
      // The list is below the query, so the older messages are, too.
      case "search":
      case "next":
        return move(1);
      case "previous":
        return move(-1);
      default:
        return edit(sequence);
    }
  }

  function edit(sequence: string): void {
    const key = parseKey(sequence);
    if (key === "backspace") return look([...query].slice(0, -1).join(""));
    if (key === "ctrl+u" || key === "ctrl+w") return look("");
    if (key === "space") return look(`${query} `);
    if (sequence >= " " && sequence !== "\u007f") look(query + sequence.replace(/\s+/g, " "));
  }

  return {
    rows({ columns, rows }) {
      const lead = "search › ";
      const shownQuery = printableLine(query);
      const first = `${style.dim(lead)}${truncated(shownQuery, columns - lead.length - 1)}`;
      const count = Math.max(1, Math.min(MAX_SHOWN, rows - 1));
      const matches = cropped(
        found.map((text, index) => ({ text, index })),
        selected,
        count,
      ).map(({ text, index }) => matchRow(text, { isSelected: index === selected, columns, style }));
      return {
        lines: [first, ...(matches.length > 0 ? matches : [style.dim("  no earlier message matches")])],
        cursor: { row: 0, column: Math.min(columns - 1, lead.length + displayWidth(shownQuery)) },
      };
    },
    handle,
    close: onClose,
  };
}

/** Returns the messages that match all words of a query: those that hold the words as they are, newest first, then the fuzzy matches. */
export function findMessages(entries: readonly string[], query: string): readonly string[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  const exact: string[] = [];
  const fuzzy: { readonly entry: string; readonly score: number }[] = [];
  for (const entry of entries) {
    const text = entry.slice(0, MAX_SEARCHED).toLowerCase();
    if (words.every((word) => text.includes(word))) exact.push(entry);
    else {
      const matches = words.map((word) => fuzzyMatch(word, text));
      if (matches.every((match) => match.matches)) fuzzy.push({ entry, score: matches.reduce((sum, { score }) => sum + score, 0) });
    }
  }
  return [...exact, ...fuzzy.toSorted((a, b) => a.score - b.score).map(({ entry }) => entry)];
}

function matchRow(
  text: string,
  { isSelected, columns, style }: { readonly isSelected: boolean; readonly columns: number; readonly style: Style },
): string {
  const lines = text.split("\n").length;
  const more = lines > 1 ? ` (+${lines - 1} ${lines === 2 ? "line" : "lines"})` : "";
  const first = text.slice(0, MAX_SEARCHED).trimStart().split("\n", 1)[0] ?? "";
  const row = `${isSelected ? "→" : " "} ${truncated(printableLine(first), Math.max(1, columns - 2 - more.length))}${more}`;
  return isSelected ? style.bold(row) : style.dim(row);
}
