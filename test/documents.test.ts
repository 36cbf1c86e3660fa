import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const guides = readdirSync(new URL("../docs/guides", import.meta.url)).filter((name) => name.endsWith(".md"));
const documents = [
  "README.md",
  "docs/durability.md",
  "packages/protocol/README.md",
  "packages/runtime/README.md",
  "packages/postgres/README.md",
  "packages/restate/README.md",
  ...guides.map((name) => `docs/guides/${name}`),
];

describe("documents", () => {
  it.each(documents)("%s shows code as it stands in the examples that are run", (document) => {
    const text = readFileSync(new URL(`../${document}`, import.meta.url), "utf8");
    const snippets = [...text.matchAll(/<!-- (\S+)#(\w+) -->\n```ts\n([\s\S]*?)```/g)];
    expect(snippets.length).toBeGreaterThan(0);
    for (const [, path = "", region = "", shown] of snippets) {
      const source = readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
      const start = source.indexOf(`// #region ${region}\n`);
      expect(start, `${path} has a region "${region}"`).toBeGreaterThanOrEqual(0);
      const body = source.slice(source.indexOf("\n", start) + 1, source.indexOf("// #endregion", start));
      expect(shown).toBe(body);
    }
  });
});
