import fc from "fast-check";
import { expect, it } from "vitest";
import { namesBegin, toolNames } from "./tool-names.ts";

it("names a tool by its server and itself [EF-03]", () => {
  expect(toolNames([{ server: "github", tool: "search_issues" }])).toEqual(["mcp__github__search_issues"]);
  expect(toolNames([{ server: "my_files", tool: "read.file" }])).toEqual(["mcp__my_files__read_file"]);
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

it("begins the names of a server as those of no other, whatever the servers are called: rules go by it", () => {
  fc.assert(
    fc.property(fc.uniqueArray(word, { minLength: 2, maxLength: 2 }), word, word, ([one = "", other = ""], tool, another) => {
      const [mine = "", theirs = ""] = toolNames([
        { server: one, tool },
        { server: other, tool: another },
      ]);
      expect(mine.startsWith(namesBegin(one))).toBe(true);
      expect(theirs.startsWith(namesBegin(one))).toBe(false);
    }),
  );
});

it.each([
  ["a_", "a"],
  ["_a", "a"],
  ["my.files", "my_files"],
  ["a__b", "a_b"],
  ["x".repeat(33), "x".repeat(32)],
])("tells the server %j from %j, which it was made to look like", (server, other) => {
  expect(toolNames([{ server: other, tool: "t" }])).toEqual([`mcp__${other}__t`]);
  expect(namesBegin(server)).toMatch(/^mcp__[a-z]+(_[a-z]+)*_[0-9a-f]{12}__$/);
  // A server that calls itself as the other's name was changed to does not take it.
  const copied = namesBegin(server).slice("mcp__".length, -"__".length);
  expect(namesBegin(copied)).not.toBe(namesBegin(server));
});

it("gives the same names in another order", () => {
  fc.assert(
    fc.property(servers, (tools) => {
      expect(toolNames([...tools].reverse())).toEqual([...toolNames(tools)].reverse());
    }),
  );
});
