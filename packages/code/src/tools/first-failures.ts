import type { JsonObject, ToolCall } from "@keelson/protocol";

/** The name under which the session keeps its first failure. */
const FIRST_FAILURE = "firstFailure";
const MAX_SIGNATURES = 5;
/** So many of the lines must be missing, or all where there are fewer. */
const GONE = 3;
const MIN_CHARACTERS = 6;
const MAX_CHARACTERS = 300;
const MAX_LINES = 5000;
const MAX_COMMAND = 80;

/** A command that ended. */
export interface EndedCommand {
  readonly command: string;
  /** Both of its streams. */
  readonly shown: string;
  readonly isError: boolean;
  /** It only looked at things, so that its success says nothing of an earlier failure. */
  readonly changesNothing: boolean;
}

/** Keeps the most distinctive lines of the first failed command of each session, and never others. */
export interface FirstFailures {
  /** @returns a note for the model once most of these lines are gone from the output of a command that succeeded */
  note(call: Pick<ToolCall, "session" | "kept" | "keep">, ended: EndedCommand): readonly string[];
}

export function createFirstFailures(): FirstFailures {
  /** Sessions whose first failure is on its way into the log: calls of one response all see what was kept before it. */
  const captured = new Set<string>();
  return {
    note({ session, kept = {}, keep }, { command, shown, isError, changesNothing }) {
      const first = failureOf(kept);
      if (isError) {
        const lines = first === undefined && !captured.has(session) ? errorSignatures(shown) : [];
        if (lines.length === 0 || keep === undefined) return [];
        captured.add(session);
        keep(FIRST_FAILURE, { command: command.replaceAll(/\s+/g, " ").trim().slice(0, MAX_COMMAND), lines });
        return [];
      }
      if (first === undefined || changesNothing) return [];
      const now = new Set(shown.split("\n").map(normalised));
      const gone = first.lines.filter((line) => !now.has(line)).length;
      if (gone < Math.min(GONE, first.lines.length)) return [];
      return [
        `[${gone} of the ${first.lines.length} most telling lines of the first failure, of \`${first.command}\`, are not in this output. If this run covers it and your task is done, say what you did and stop; else go on.]`,
      ];
    },
  };
}

/**
 * Returns the most distinctive lines of an output, at most five: those whose words occur in few other lines. Numbers count alike, so that a line that
 * moved by a few lines is the same. Nothing is known of any tool here.
 */
export function errorSignatures(output: string): string[] {
  const all = output.split("\n").slice(-MAX_LINES).map(normalised);
  const lines = [...new Set(all)].filter((line) => line.length >= MIN_CHARACTERS);
  const counts = new Map<string, number>();
  for (const line of all) for (const word of wordsOf(line)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const weight = (line: string): number => [...wordsOf(line)].reduce((sum, word) => sum + 1 / (counts.get(word) ?? 1), 0);
  return lines
    .map((line, index) => ({ line, index, weight: weight(line) }))
    .toSorted((one, other) => other.weight - one.weight || one.index - other.index)
    .slice(0, MAX_SIGNATURES)
    .map(({ line }) => line);
}

function normalised(line: string): string {
  return line.trim().replaceAll(/\s+/g, " ").replaceAll(/\d+/g, "#").slice(0, MAX_CHARACTERS);
}

function wordsOf(line: string): ReadonlySet<string> {
  return new Set(line.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_]{2,}/gu) ?? []);
}

function failureOf(kept: JsonObject): { readonly command: string; readonly lines: readonly string[] } | undefined {
  const { command, lines } = (kept[FIRST_FAILURE] ?? {}) as { readonly command?: unknown; readonly lines?: unknown };
  if (typeof command !== "string" || !Array.isArray(lines)) return undefined;
  return { command, lines: lines.filter((line) => typeof line === "string") };
}
