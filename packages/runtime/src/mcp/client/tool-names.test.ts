import fc from "fast-check";
import { expect, it } from "vitest";
import { toolNames } from "./tool-names.ts";

it("names a tool by its server and itself [EF-03]", () => {
  expect(toolNames([{ server: "github", tool: "search_issues" }])).toEqual(["mcp__github__search_issues"]);
  expect(toolNames([{ server: "my files", tool: "read.file" }])).toEqual(["mcp__my_files__read_file"]);
});

it("tells apart names that would be the same, and lets the one keep it that has it", () => {
  const [dotted, plain, slashed] = toolNames([
    { server: "a", tool: "x.y" },
    { server: "a", tool: "x_y" },
    { server: "a", tool: "x/y" },
  ]);
  expect(plain).toBe("mcp__a__x_y");
  expect(new Set([dotted, plain, slashed]).size).toBe(3);
});

const word = fc.string({ minLength: 1, maxLength: 80, unit: fc.constantFrom("a", "b", "_", ".", "é", "-") });
const servers = fc.uniqueArray(fc.record({ server: word, tool: word }), { selector: (one) => JSON.stringify([one.server, one.tool]) });

it("gives different names that every vendor takes, whatever servers call their tools", () => {
  fc.assert(
    fc.property(servers, (tools) => {
      const names = toolNames(tools);
      expect(new Set(names).size).toBe(tools.length);
      for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    }),
  );
});

it("lets no server name a tool as if it were another's", () => {
  expect(
    toolNames([
      { server: "a", tool: "b__x" },
      { server: "a__b", tool: "x" },
    ]),
  ).toEqual(["mcp__a__b__x", "mcp__a_b__x"]);
  const plain = fc.stringMatching(/^[a-z]{1,5}$/);
  fc.assert(
    fc.property(plain, plain, word, (one, other, tool) => {
      fc.pre(one !== other);
      const [name] = toolNames([{ server: one, tool }]);
      expect(name?.startsWith(`mcp__${one}__`)).toBe(true);
      expect(name?.startsWith(`mcp__${other}__`)).toBe(false);
    }),
  );
});

it("gives the same names in another order", () => {
  fc.assert(
    fc.property(servers, (tools) => {
      expect(toolNames([...tools].reverse())).toEqual([...toolNames(tools)].reverse());
    }),
  );
});
