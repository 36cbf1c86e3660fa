import { describe, expect, it } from "vitest";
import { parseFrontMatter, splitList } from "./front-matter.ts";

describe("parseFrontMatter", () => {
  it("reads texts, quoted texts, blocks and lists", () => {
    const text = [
      "\uFEFF---",
      "name: pdf # a comment",
      'description: "Reads: PDF \\"files\\""',
      "single: 'it''s'",
      "folded: >-",
      "  one",
      "  two",
      "kept: |",
      "  first",
      "    second",
      "list: [Bash(npm run a, b), Read, 'x, y']",
      "items:",
      "  - one",
      '  - "two: three"',
      "long: begins here",
      "  and goes on",
      "empty:",
      "---",
      "",
      "# Body",
      "---",
      "more",
    ].join("\r\n");
    expect(parseFrontMatter(text)).toEqual({
      fields: {
        name: "pdf",
        description: 'Reads: PDF "files"',
        single: "it's",
        folded: "one two",
        kept: "first\n  second",
        list: ["Bash(npm run a, b)", "Read", "x, y"],
        items: ["one", "two: three"],
        long: "begins here and goes on",
        empty: "",
      },
      body: "# Body\n---\nmore",
      problems: [],
    });
  });

  it("reports what is neither a text nor a list, and reads the others", () => {
    const { fields, problems } = parseFrontMatter("---\nmetadata:\n  author: me\nname: a\nanchor: &x 1\nno field\nmap: {a: 1}\n---\nbody");
    expect(fields).toEqual({ name: "a" });
    expect(problems).toEqual([
      "metadata: only texts and lists are read here",
      "anchor: only texts and lists are read here",
      "line 6 is no field: only texts and lists are read here",
      "map: only texts and lists are read here",
    ]);
  });

  it("takes a file without two lines of --- for a body", () => {
    for (const text of ["# Title\n---\na: b\n---", "---\na: b", "", "--- \nx"])
      expect(parseFrontMatter(text)).toMatchObject({ fields: {}, problems: [] });
    expect(parseFrontMatter("---\n---\nbody").body).toBe("body");
  });

  it("keeps names of what objects inherit apart", () => {
    expect(Object.keys(parseFrontMatter("---\nconstructor: a\n__proto__: b\n---\n").fields)).toContain("constructor");
  });
});

it("splits a list at commas outside of quotes and parentheses", () => {
  expect(splitList("Bash(git add:*, git rm), Read , ,Edit")).toEqual(["Bash(git add:*, git rm)", "Read", "Edit"]);
  expect(splitList("")).toEqual([]);
});
