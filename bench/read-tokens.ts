// Tokens of a fixed set of reads: with a share of the context, with the budget of a read whose window is unknown, and as the pages of 1,500 lines
// or 50 KiB that `read_file` had before it knew of budgets.
//   node --conditions=source bench/read-tokens.ts
import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { estimateTokens } from "../packages/code/src/reading/estimate-tokens.ts";
import { openDocument } from "../packages/code/src/reading/open-document.ts";
import { presentText } from "../packages/code/src/reading/present-text.ts";
import { readBudgetOf } from "../packages/code/src/workspace/read-budget.ts";
import { root } from "../tools/run-command.ts";

/** Files of this repository: short and long code, prose, data, a lock file. */
const FILES = [
  "README.md",
  "SECURITY.md",
  "ARCHITECTURE.md",
  "package.json",
  "package-lock.json",
  "docs/dependencies.md",
  "docs/concepts-map.md",
  "tools/word-ratchet.json",
  "test/exports.pinned.txt",
  "packages/protocol/src/event.ts",
  "packages/protocol/src/tool.ts",
  "packages/runtime/src/index.ts",
  "packages/runtime/src/agent/loop/moments.ts",
  "packages/runtime/src/environment/files/disk-vfs.ts",
  "packages/runtime/src/environment/files/disk-vfs.test.ts",
  "packages/runtime/src/providers/prices.gen.ts",
  "packages/runtime/src/agent/runner/runner.ts",
  "packages/code/src/tools/bash.ts",
  "packages/code/src/tools/read-file.test.ts",
  "packages/code/test/attack-corpus.txt",
];
const WINDOW = 64_000;
const PAGE_LINES = 1500;
const PAGE_BYTES = 50 * 1024;

/** The page that a read without a budget begins with. */
function page(lines: readonly string[]): string {
  const shown: string[] = [];
  let bytes = 0;
  for (const [index, line] of lines.slice(0, PAGE_LINES).entries()) {
    const numbered = `${index + 1}\t${line.slice(0, 2000)}`;
    bytes += Buffer.byteLength(numbered) + 1;
    if (bytes > PAGE_BYTES && shown.length > 0) break;
    shown.push(numbered);
  }
  return shown.join("\n");
}

const rows: {
  readonly name: string;
  readonly bytes: number;
  readonly alone: number;
  readonly inBatch: number;
  readonly unknown: number;
  readonly page: number;
}[] = [];
for (const file of FILES) {
  const path = join(root, file);
  const document = await openDocument(path, readFileSync(path), { signal: new AbortController().signal });
  if (document.kind !== "text") throw new Error(`${file} is no text`);
  const tokensOf = (maxTokens: number): number => estimateTokens(presentText(document, { name: file, ranges: undefined, maxTokens }).text);
  rows.push({
    name: basename(file),
    bytes: statSync(path).size,
    alone: tokensOf(readBudgetOf({ contextLeft: WINDOW, reads: 1 }).perRead),
    inBatch: tokensOf(readBudgetOf({ contextLeft: WINDOW, reads: 4 }).perRead),
    unknown: tokensOf(readBudgetOf(undefined).perRead),
    page: estimateTokens(page(document.lines)),
  });
}
const columns = ["bytes", "alone", "inBatch", "unknown", "page"] as const;
const headings = ["bytes", "one read", "one of four", "window unknown", "page without budget"];
const print = (name: string, cells: readonly (string | number)[]): void =>
  console.log(
    `${name.padEnd(24)}${cells.map((cell) => String(typeof cell === "number" ? cell.toLocaleString("en-US") : cell).padStart(20)).join("")}`,
  );
print(`window of ${WINDOW.toLocaleString("en-US")}`, headings);
for (const row of rows)
  print(
    row.name,
    columns.map((column) => row[column]),
  );
print(
  "sum",
  columns.map((column) => rows.reduce((sum, row) => sum + row[column], 0)),
);
