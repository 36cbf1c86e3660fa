import type { AutocompleteProvider } from "@earendil-works/pi-tui";
import { displayWidth, truncated } from "../../text/display-width.ts";
import { printableLine } from "../../text/printable.ts";
import { fromEditable, toEditable } from "../stand-ins.ts";
import type { Completion, CompletionOptions, CompletionPlace, CompletionSource } from "./completion-source.ts";

/** A source of completions as the editor of the library asks it, with what the menu shows last. */
export interface CompletionMenu {
  readonly provider: AutocompleteProvider;
  /** True if the menu was made for this text before the cursor: a key that edits does not wait for the next menu. */
  isCurrent(before: string): boolean;
  /** True if the text before the cursor ends with a suggestion of the last menu, so that Enter sends. */
  isComplete(before: string): boolean;
  /** Calls `ask`, which opens the menu again for this text before the cursor. A single suggestion is not inserted then. */
  reopen(before: string, ask: () => void): void;
}

export interface CompletionMenuOptions {
  readonly source: CompletionSource;
  /** The columns of the menu. */
  columns(): number;
  /** Called if the source fails. */
  onProblem(error: unknown): void;
}

/** Columns of the names in a menu of the library, and of its marks and margins. */
const NAMES = { least: 12, most: 32 };
const MARGINS = 4;

export function createCompletionMenu({ source, columns, onProblem }: CompletionMenuOptions): CompletionMenu {
  let last: (Completion & { readonly before: string }) | undefined;
  let reopened: string | undefined;

  /** The editor of the library has no place for the failure of a source. */
  async function completed(place: CompletionPlace, options: CompletionOptions): Promise<Completion | undefined> {
    try {
      return await source.complete(place, options);
    } catch (error) {
      onProblem(error);
      return undefined;
    }
  }

  const provider: AutocompleteProvider = {
    async getSuggestions(lines, line, column, { signal, force = false }) {
      const above = lines.slice(0, line).map(fromEditable);
      const before = fromEditable((lines[line] ?? "").slice(0, column));
      const found = await completed({ above, before }, { signal, isAsked: force });
      const isReopened = before === reopened;
      reopened = undefined;
      if (signal.aborted || found === undefined || found.suggestions.length === 0) return null;
      // The library inserts the only suggestion of a key.
      if (isReopened && found.suggestions.length === 1) return null;
      last = { ...found, before };
      const suggestions = found.suggestions.map(({ value, label = value.trimEnd(), ...more }) => ({
        ...{ value, label: printableLine(label) },
        description: more.description === undefined ? undefined : printableLine(more.description),
      }));
      const widest = Math.max(...suggestions.map(({ label }) => displayWidth(label))) + 2;
      const names = found.prefix.startsWith("/") ? Math.min(NAMES.most, Math.max(NAMES.least, widest)) : NAMES.most;
      // The library cuts a description without a sign.
      const room = columns() - names - MARGINS;
      return {
        prefix: toEditable(found.prefix),
        items: suggestions.map(({ value, label, description }) => ({
          value: toEditable(value),
          label,
          ...(description !== undefined && room > 1 && { description: truncated(description, room) }),
        })),
      };
    },
    applyCompletion(lines, line, column, item, prefix) {
      const text = lines[line] ?? "";
      const start = column - prefix.length;
      // A blank that follows the cursor serves as the one of the suggestion.
      const after = text.slice(column);
      const value = item.value.endsWith(" ") && after.startsWith(" ") ? item.value.slice(0, -1) : item.value;
      return {
        lines: lines.with(line, text.slice(0, start) + value + after),
        cursorLine: line,
        cursorCol: start + value.length,
      };
    },
  };
  return {
    provider,
    isCurrent: (before) => last?.before === before,
    isComplete: (before) => last?.suggestions.some(({ value }) => before.endsWith(value.trimEnd()) && value.trimEnd() !== "") === true,
    reopen(before, ask) {
      reopened = before;
      ask();
    },
  };
}
