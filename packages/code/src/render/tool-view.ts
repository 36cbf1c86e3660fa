import type { CallSummary, JsonValue } from "@keelson/protocol";
import { readTasks, TASKS_TOOL } from "../core/session-tasks.ts";
import { type DiffOptions, diffLines, hunkLine, patchLines, patchTextLines } from "./diff-lines.ts";
import { formatCount, formatDuration } from "./figures.ts";
import { foldLines, type KeepFolded } from "./fold-lines.ts";
import type { FoldedOutputs } from "./folded-outputs.ts";
import { outputText } from "./output-text.ts";
import { printable, printableLine } from "../text/printable.ts";
import { shortArguments } from "./short-arguments.ts";
import type { CodeHighlight } from "../markdown/highlight-code.ts";
import type { Theme } from "../markdown/theme.ts";
import type { Style } from "../text/style.ts";
import { taskLines } from "./task-lines.ts";
import { wrapped } from "../text/wrapped.ts";

export interface ToolResultView {
  readonly call: Pick<CallSummary, "name" | "input">;
  readonly output: JsonValue;
  readonly isError: boolean;
  readonly durationMs: number;
}

export interface ToolViewOptions {
  readonly style: Style;
  readonly columns: number;
  /** Colours of diffs. Default: those of `style`. */
  readonly theme?: Theme | undefined;
  /** Colours of the code in diffs. Default: none. */
  readonly highlight?: CodeHighlight | undefined;
  /** False if the list of tasks is in sight anyway. Default true. */
  readonly tasks?: boolean;
  /** Keeps what is folded. Default: it cannot be opened. */
  readonly folds?: FoldedOutputs | undefined;
}

const BAR = "  │ ";
// Instant results say nothing by their time.
const MIN_SHOWN_DURATION_MS = 100;
const MAX_DIFF_LINES = 24;
const MAX_PREVIEW_ROWS = 200;
const TITLE_COLUMNS = 60;
const MAX_TASK_LINES = 8;

/** A finished call: what was called with what, how long it took, and what matters of its result. */
export function toolResultLines({ call, output, isError, durationMs }: ToolResultView, options: ToolViewOptions): string[] {
  const { style, columns } = options;
  const { text, exitCode } = withoutExitLine(call.name, outputText(output));
  const failed = isError || (exitCode !== undefined && exitCode !== 0);
  const { folds } = options;
  const keep = folds && ((lines: readonly string[]) => folds.keep(callTitle(call, { style, columns: TITLE_COLUMNS }), lines));
  const body = isError ? failureBody(text, options, keep) : successBody(call, text, options, keep);
  const facts = [exitCode ? `exit code ${exitCode}` : "", durationMs >= MIN_SHOWN_DURATION_MS ? formatDuration(durationMs) : "", body.fact]
    .filter((fact) => fact !== "")
    .join(", ");
  const mark = failed ? style.red("✗") : style.green("●");
  return [
    `${mark} ${callTitle(call, { style, columns: columns - facts.length - 6 })}${facts === "" ? "" : `  ${style.dim(facts)}`}`,
    ...barred(body.lines, style),
  ];
}

/** A tool's name and its telling argument. */
export function callTitle({ name, input }: Pick<CallSummary, "name" | "input">, { style, columns }: ToolViewOptions): string {
  const label = printableLine(name);
  const argument = shortArguments(input, Math.max(10, columns - label.length - 2));
  return argument === "" ? style.bold(label) : `${style.bold(label)} ${argument}`;
}

/**
 * The change that a call would make, for a person who is asked about it, else its arguments; empty if the caller shows these above it.
 * @param isTold true if they do. Default: if the title of the call shows them.
 */
export function callPreview(
  { name, input }: Pick<CallSummary, "name" | "input">,
  options: ToolViewOptions,
  { isTold }: { readonly isTold?: boolean } = {},
): string[] {
  const { style, columns } = options;
  const width = columns - BAR.length;
  const fields = fieldsOf(input);
  const changes = changesOf(fields);
  const diffOptions: DiffOptions = { ...options, columns: width, maxLines: MAX_PREVIEW_ROWS, whole: true, path: pathOf(fields) };
  if (changes.length > 0) return barred(changedLines(changes, diffOptions), style);
  const patch = fields["input"];
  if (name === "apply_patch" && typeof patch === "string") return barred(patchTextLines(patch, diffOptions), style);
  const command = fields["command"];
  const text = typeof command === "string" ? command : input === undefined ? "" : JSON.stringify(input, null, 2);
  if (text === "{}" || (isTold ?? (!text.includes("\n") && shortArguments(input, columns - name.length - 10) === text))) return [];
  // A person must see all of what they allow, also in a narrow terminal.
  const rows = printable(text)
    .replace(/\t/g, "  ")
    .split("\n")
    .flatMap((line) => wrapped(line, width))
    .join("\n");
  return barred(foldLines(rows, { maxLines: MAX_PREVIEW_ROWS, tail: 20, columns: width }), style);
}

function barred(lines: readonly string[], style: Style): string[] {
  return lines.map((line) => `${style.dim(BAR)}${line}`);
}

interface Body {
  readonly lines: readonly string[];
  readonly fact: string;
}

function failureBody(text: string, { style, columns }: ToolViewOptions, keep: KeepFolded | undefined): Body {
  return { lines: foldLines(text, { maxLines: 10, tail: 6, columns: columns - BAR.length, keep }).map(style.red), fact: "" };
}

function successBody(
  { name, input }: Pick<CallSummary, "name" | "input">,
  text: string,
  options: ToolViewOptions,
  keep: KeepFolded | undefined,
): Body {
  const { style } = options;
  const width = options.columns - BAR.length;
  const fields = fieldsOf(input);
  const changes = changesOf(fields);
  const diffOptions: DiffOptions = { ...options, columns: width, maxLines: MAX_DIFF_LINES, path: pathOf(fields), keep };
  // The tool's own diff knows the lines around the change.
  const diff = changes.length > 0 ? text.indexOf("\n@@ -") : -1;
  if (diff >= 0) return { lines: patchLines(text.slice(diff + 1), diffOptions), fact: "" };
  if (name === "apply_patch" && text.includes("\n@@ -")) return { lines: patchLines(text, diffOptions), fact: "" };
  if (changes.length > 0) return { lines: changedLines(changes, diffOptions), fact: "" };
  const tasks = name === TASKS_TOOL ? readTasks(fields["tasks"]) : undefined;
  if (tasks !== undefined && options.tasks === false)
    return { lines: [], fact: `${tasks.filter(({ state }) => state === "done").length} done` };
  if (tasks !== undefined) return { lines: taskLines(tasks, { style, columns: width, maxLines: MAX_TASK_LINES }), fact: "" };
  const fold = (maxLines: number, tail: number): readonly string[] =>
    text.trim() === "" ? [] : foldLines(text, { maxLines, tail, columns: width, keep }).map(style.dim);
  switch (name) {
    case "read_file":
      return { lines: [], fact: countOf(text, "line") };
    case "grep":
    case "glob":
    case "list_directory":
      return { lines: fold(4, 0), fact: countOf(text, "line") };
    default:
      // The beginning says what it is; the end says how it went.
      return { lines: fold(10, 8), fact: "" };
  }
}

interface TextChange {
  readonly before: string;
  readonly after: string;
  /** True if `after` is the whole file. */
  readonly isFile: boolean;
}

/** The texts before and after, of a call that edits or writes a file. Empty if it does neither. */
function changesOf(fields: { readonly [name: string]: JsonValue | undefined }): readonly TextChange[] {
  const { old_string: before, new_string: after, content, edits } = fields;
  if (typeof before === "string" && typeof after === "string") return [{ before, after, isFile: false }];
  if (Array.isArray(edits)) return edits.flatMap((edit) => changesOf(fieldsOf(edit)));
  return typeof fields["path"] === "string" && typeof content === "string" ? [{ before: "", after: content, isFile: true }] : [];
}

function changedLines(changes: readonly TextChange[], options: DiffOptions): readonly string[] {
  return changes.flatMap(({ before, after, isFile }, index) => [
    ...(index > 0 ? [hunkLine(options)] : []),
    ...diffLines(before, after, { ...options, numbers: isFile }),
  ]);
}

function pathOf({ path }: { readonly [name: string]: JsonValue | undefined }): string | undefined {
  return typeof path === "string" ? path : undefined;
}

function fieldsOf(input: JsonValue | undefined): { readonly [name: string]: JsonValue | undefined } {
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as { readonly [name: string]: JsonValue | undefined })
    : {};
}

const EXIT_LINE = /\n?\[exit code (\d+)[^\]\n]*\]\s*$/;

/** Returns the output of a command without its exit code, which is shown in the header. */
function withoutExitLine(name: string, text: string): { readonly text: string; readonly exitCode?: number } {
  const match = name === "bash" ? EXIT_LINE.exec(text) : null;
  return match === null ? { text } : { text: text.slice(0, match.index), exitCode: Number(match[1]) };
}

function countOf(text: string, noun: string): string {
  const trimmed = text.trimEnd();
  const count = trimmed === "" ? 0 : trimmed.split("\n").length;
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}
