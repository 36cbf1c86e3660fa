import type { Xray, XrayPart } from "keelson/context";
import { formatCost, formatCount } from "./figures.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

const MOST_ROWS = 20;
const SOURCE_WIDTH = 8;

/** What of a request takes which part of it, the largest first: a line for all, then a row for each thing that it holds. */
export function contextLines(xray: Xray, { style, columns }: { readonly style: Style; readonly columns: number }): string[] {
  const rows = [...Map.groupBy(xray.parts, ({ source, name }) => JSON.stringify([source, name])).values()]
    .map((parts) => ({ ...(parts[0] as XrayPart), tokens: sum(parts), count: parts.length }))
    .toSorted((a, b) => b.tokens - a.tokens);
  const shown = rows.slice(0, MOST_ROWS);
  const rest = rows.slice(MOST_ROWS);
  const cached = xray.cachedTokens === null ? "" : `, ${formatCount(xray.cachedTokens)} of them cached`;
  const lines = shown.map(({ source, name, tokens, count }) => {
    const times = count > 1 ? ` (${count})` : "";
    const line = `${formatCount(tokens).padStart(7)} ${percentOf(tokens, xray.tokens)}  ${source.padEnd(SOURCE_WIDTH)} ${printableLine(name)}${times}`;
    return line.length > columns ? `${line.slice(0, Math.max(1, columns - 1))}…` : line;
  });
  return [
    `${xray.reported ? "" : "about "}${formatCount(xray.tokens)} tokens in the last request${cached} · ${formatCost(xray.cost)}`,
    ...lines,
    ...(rest.length > 0
      ? [style.dim(`${formatCount(sum(rest)).padStart(7)} ${percentOf(sum(rest), xray.tokens)}  in ${rest.length} more`)]
      : []),
  ];
}

function sum(parts: readonly { readonly tokens: number }[]): number {
  return parts.reduce((all, { tokens }) => all + tokens, 0);
}

function percentOf(tokens: number, all: number): string {
  return `${Math.round((100 * tokens) / Math.max(1, all))}%`.padStart(4);
}
