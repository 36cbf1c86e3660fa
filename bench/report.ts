import { cpus, loadavg, totalmem } from "node:os";
import type { Range } from "./statistics.ts";

export interface Row {
  readonly what: string;
  readonly subject: string;
  readonly unit: string;
  readonly value: Range;
  /** The same in figures that only this machine has. */
  readonly absolute?: string;
  /** At most. */
  readonly target?: number;
}

export function machineFacts(repetitions: number, quick: boolean): string {
  const { model = "unknown processor" } = cpus()[0] ?? {};
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} × ${model.trim()}, ${memory} GiB, load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(" ")}; ${repetitions} paired repetitions${quick ? " of the quick sizes, which say little" : ""}`;
}

const digits = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);

function cellsOf({ what, subject, unit, value, absolute, target }: Row): readonly string[] {
  const range = value.low === value.high ? "" : `${digits(value.low)} to ${digits(value.high)}`;
  const verdict = target === undefined ? "" : `${value.median <= target ? "met" : "MISSED"}: ${target}`;
  return [what, subject, `${digits(value.median)} ${unit}`, range, verdict, absolute ?? ""];
}

const HEAD = ["what", "subject", "median", "range", "target", "on this machine"];

export function textOf(rows: readonly Row[]): string {
  const table = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  return table
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function markdownOf(rows: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(HEAD), line(HEAD.map(() => "---")), ...rows.map((row) => line(cellsOf(row)))].join("\n");
}

const START = "<!-- results -->";
const END = "<!-- end of results -->";

/** The page with its table of results put in the old one's place. */
export function intoPage(page: string, results: string): string {
  const from = page.indexOf(START);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`The page has no place for results: it needs the lines ${START} and ${END}.`);
  return `${page.slice(0, from)}${START}\n\n${results}\n\n${page.slice(to)}`;
}
