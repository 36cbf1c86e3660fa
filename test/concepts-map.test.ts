import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** "`createAgent` agent", "`Usd` `addUsd` protocol": the last column of a row. */
const COLUMN = /^((?:`\w+` )+)([a-z]+)$/;

it("docs/concepts-map.md names only what can be imported from where it says", () => {
  const rows = read("docs/concepts-map.md")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map(
      (line) =>
        line
          .split(/(?<!\\)\|/)
          .at(-2)
          ?.trim() ?? "",
    )
    .flatMap((column) => {
      const match = COLUMN.exec(column);
      return match === null ? [] : [{ names: [...match[1]!.matchAll(/\w+/g)].map(([name]) => name), from: match[2]! }];
    });
  expect(rows.length).toBeGreaterThan(80);
  const missing = rows.flatMap(({ names, from }) => {
    const exported = new Set(
      read(from === "protocol" ? "packages/protocol/src/index.ts" : `packages/runtime/src/${from}/index.ts`).match(/\w+/g),
    );
    return names.filter((name) => !exported.has(name)).map((name) => `${name} from ${from}`);
  });
  expect(missing).toEqual([]);
});
