import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesNothing, type PatternNode } from "./pattern-node.ts";
import { createTextMatcher, type TextMatcher, type TextMatcherOptions } from "./text-matcher.ts";

const anyNode = fc.letrec<{ node: PatternNode }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("[a]", "[b]", "[ab]", "[^a]", "[é]", "[\\u{1f600}]", "[ ]").map((script) => ({ type: "set", script }) as const),
    fc.constantFrom("start", "end", "border", "no-border").map((place) => ({ type: "place", place }) as const),
    fc.array(tie("node"), { maxLength: 4 }).map((parts) => ({ type: "sequence", parts }) as const),
    fc.array(tie("node"), { minLength: 1, maxLength: 3 }).map((options) => ({ type: "choice", options }) as const),
    fc
      .record({
        part: tie("node"),
        least: fc.nat({ max: 2 }),
        more: fc.constantFrom(0, 1, 2, Number.POSITIVE_INFINITY),
        lazy: fc.boolean(),
      })
      .map(({ part, least, more, lazy }) => ({ type: "repeat", part, least, most: least + more, lazy }) as const),
  ),
})).node;
const anyText = fc.array(fc.constantFrom("a", "b", " ", "é", "😀"), { maxLength: 12 }).map((characters) => characters.join(""));

/** The same in the language of JavaScript. */
function scriptOf(node: PatternNode): string {
  switch (node.type) {
    case "set":
      return node.script;
    case "place":
      return {
        "start": "^",
        "end": "$",
        "border": "(?:(?<=[abé])(?![abé])|(?<![abé])(?=[abé]))",
        "no-border": "(?:(?<=[abé])(?=[abé])|(?<![abé])(?![abé]))",
      }[node.place];
    case "sequence":
      return node.parts.map(scriptOf).join("");
    case "choice":
      return `(?:${node.options.map(scriptOf).join("|")})`;
    case "repeat":
      return `(?:${scriptOf(node.part)}){${node.least},${Number.isFinite(node.most) ? node.most : ""}}${node.lazy ? "?" : ""}`;
  }
}

/** Engines differ in when they stop repeating what matched nothing. */
function repeatsNothing(node: PatternNode): boolean {
  if (node.type === "repeat") return matchesNothing(node.part) || repeatsNothing(node.part);
  if (node.type === "sequence") return node.parts.some(repeatsNothing);
  return node.type === "choice" && node.options.some(repeatsNothing);
}

function isShort(node: PatternNode): boolean {
  return createTextMatcher(node, { caseInsensitive: false, spansLines: false }) !== undefined;
}

function matcherOf(node: PatternNode, options: Partial<TextMatcherOptions> = {}): TextMatcher {
  const matcher = createTextMatcher(node, { caseInsensitive: false, spansLines: false, ...options });
  if (matcher === undefined) throw new Error("The pattern is too long.");
  return matcher;
}

describe("a text matcher", () => {
  it("finds what a regular expression finds, from wherever it is asked to", () => {
    fc.assert(
      fc.property(anyNode, anyText, fc.nat(12), (node, text, skipped) => {
        // Engines that go back look for places within a character of two units.
        fc.pre(isShort(node) && !(text.includes("😀") && JSON.stringify(node).includes('"place"')));
        const at = [...text].slice(0, skipped).join("").length;
        const expression = new RegExp(scriptOf(node), "gv");
        expression.lastIndex = at;
        const expected = expression.exec(text);
        const matcher = matcherOf(node);
        const found = matcher.find(text, 0, text.length, at);
        expect(found?.start).toBe(expected?.index);
        if (expected !== null && !repeatsNothing(node)) expect(found?.end).toBe(expected.index + expected[0].length);
        if (at > 0) return;
        expect(matcher.matches(text, 0, text.length)).toBe(expected !== null);
        expect(matcher.startIn(text, 0, text.length)).toBe(expected?.index);
      }),
      { numRuns: 400 },
    );
  });

  it("sees only its part of a text", () => {
    fc.assert(
      fc.property(anyNode, anyText, anyText, anyText, (node, before, text, after) => {
        fc.pre(isShort(node));
        const inPart = matcherOf(node).find(before + text + after, before.length, before.length + text.length, before.length);
        const alone = matcherOf(node).find(text, 0, text.length, 0);
        expect(inPart && { start: inPart.start - before.length, end: inPart.end - before.length }).toEqual(
          alone && { start: alone.start, end: alone.end },
        );
      }),
    );
  });

  it("ends lines before \\n and before \\r\\n, when it spans lines", () => {
    const end: PatternNode = {
      type: "sequence",
      parts: [
        { type: "set", script: "[ab]" },
        { type: "place", place: "end" },
      ],
    };
    const ends = (text: string): number[] => {
      const found: number[] = [];
      const matcher = matcherOf(end, { spansLines: true });
      for (let next = matcher.find(text, 0, text.length, 0); next; next = matcher.find(text, 0, text.length, next.end))
        found.push(next.end);
      return found;
    };
    expect(ends("a\nb\r\na\rb")).toEqual([1, 3, 8]);
  });

  it.each([
    ["(a+)+$", { type: "sequence", parts: [plus(plus(set("[a]"))), { type: "place", place: "end" }] }],
    ["(a|a)*b", { type: "sequence", parts: [star({ type: "choice", options: [set("[a]"), set("[a]")] }), set("[b]")] }],
    ["a*a*a*a*b", { type: "sequence", parts: [...Array.from({ length: 4 }, () => star(set("[a]"))), set("[b]")] }],
    ["((a{0,30}){0,30})!", { type: "sequence", parts: [upTo30(upTo30(set("[a]"))), set("[!]")] }],
  ] satisfies [string, PatternNode][])("answers for %s, for which engines that go back need longer than anyone lives", (name, node) => {
    const text = "a".repeat(100_000);
    expect(matcherOf(node).matches(text, 0, text.length)).toBe(name.endsWith("$"));
    expect(matcherOf(node).startIn(`${text}b!`, 0, text.length + 2)).toBe(
      name.endsWith("$") ? undefined : name.endsWith("!") ? text.length + 1 : 0,
    );
    expect(matcherOf(node).startIn(text, 0, text.length)).toBe(name.endsWith("$") ? 0 : undefined);
  });

  it("refuses what would be thousands of steps", () => {
    expect(createTextMatcher(upTo30(upTo30(upTo30(set("[a]")))), { caseInsensitive: false, spansLines: false })).toBeUndefined();
  });
});

function set(script: string): PatternNode {
  return { type: "set", script };
}
function star(part: PatternNode): PatternNode {
  return { type: "repeat", part, least: 0, most: Number.POSITIVE_INFINITY, lazy: false };
}
function plus(part: PatternNode): PatternNode {
  return { type: "repeat", part, least: 1, most: Number.POSITIVE_INFINITY, lazy: false };
}
function upTo30(part: PatternNode): PatternNode {
  return { type: "repeat", part, least: 0, most: 30, lazy: false };
}
