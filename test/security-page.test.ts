import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const at = (path: string): URL => new URL(`../${path}`, import.meta.url);
const page = readFileSync(at("SECURITY.md"), "utf8");

/** Rows of the tables that say what holds a promise. */
function promises(): readonly { readonly promise: string; readonly file: string; readonly titles: readonly string[] }[] {
  const tables = page.split(/\n\n/).filter((block) => /^\|[^|\n]+\| held by \|/.test(block));
  const rows = tables.flatMap((table) => table.trim().split("\n").slice(2));
  return rows.map((row) => {
    const [, promise = "", held = ""] = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const file = /`([\w/.-]+\.test\.ts)`/.exec(held)?.[1] ?? "";
    return { promise, file: `packages/${file}`, titles: [...held.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title) };
  });
}

it("names for each promise of SECURITY.md tests that exist", () => {
  const all = promises();
  expect(all.length).toBeGreaterThan(20);
  for (const { promise, file, titles } of all) {
    expect(existsSync(at(file)), `${promise}: ${file}`).toBe(true);
    expect(titles, promise).not.toEqual([]);
    const source = readFileSync(at(file), "utf8");
    const named = [...source.matchAll(/\bit(?:\.\w+)?\([^"`\n]*"((?:[^"\\]|\\.)+)"|\)\(\s*"((?:[^"\\]|\\.)+)"/g)].map(
      ([, plain, each]) => plain ?? each ?? "",
    );
    for (const title of titles)
      expect(
        named.some((name) => name.startsWith(title)),
        `${promise}: no test of ${file} begins with "${title}"`,
      ).toBe(true);
  }
});

it("says that dumps of memory are not covered", () => {
  const not = page.slice(page.indexOf("## What is not promised"));
  expect(not).toMatch(/\*\*Core dumps and heap snapshots\*\*/);
});
