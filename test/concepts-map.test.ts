import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** "`createAgent` agent", "`Usd` `addUsd` protocol": the last column of a row. */
const COLUMN = /^((?:`\w+` )+)([a-z]+)$/;

/** The cells of each row of the tables. */
const rows = read("docs/concepts-map.md")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

// The list of names is outside of the repository: beside the checkout, or in the folder that KEELSON_SHARED names.
const list = join(process.env["KEELSON_SHARED"] ?? resolve(import.meta.dirname, "../../shared"), "spec/names.txt");
const isThere = existsSync(list);
if (!isThere && process.env["KEELSON_REQUIRE_SHARED"] === "1") throw new Error(`There is no list of names at ${list}.`);

it.skipIf(!isThere)(
  `docs/concepts-map.md explains every name that readers may know${isThere ? "" : " (skipped: no list of names)"}`,
  () => {
    const names = readFileSync(list, "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split("\t")[1] ?? "");
    expect(names.length).toBeGreaterThan(300);
    const isWord = (text: string, word: string): boolean => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text);
    // The first column names it; the second says what it is here.
    const explained = rows.filter((cells) => (cells[2] ?? "") !== "").map((cells) => cells[1] ?? "");
    const unexplained = names.filter((name) => !explained.some((cell) => name.split("::").every((part) => isWord(cell, part))));
    expect(unexplained).toEqual([]);
  },
);

it("docs/concepts-map.md names only what can be imported from where it says", () => {
  const imports = rows.flatMap((cells) => {
    const match = COLUMN.exec(cells.at(-2) ?? "");
    return match === null ? [] : [{ names: [...match[1]!.matchAll(/\w+/g)].map(([name]) => name), from: match[2]! }];
  });
  expect(imports.length).toBeGreaterThan(120);
  const missing = imports.flatMap(({ names, from }) => {
    const exported = new Set(
      read(from === "protocol" ? "packages/protocol/src/index.ts" : `packages/runtime/src/${from}/index.ts`).match(/\w+/g),
    );
    return names.filter((name) => !exported.has(name)).map((name) => `${name} from ${from}`);
  });
  expect(missing).toEqual([]);
});
