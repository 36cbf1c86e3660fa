import { describe, expect, it } from "vitest";
import { SLACK, ratchetProblems, tightened } from "../tools/word-ratchet.ts";
import { subjectOffencesIn, wordOffencesIn } from "../tools/word-rules.ts";

const rulesBrokenBy = (text: string): readonly string[] => wordOffencesIn(text, "a.ts").map(({ line, rule }) => `${line} ${rule}`);

describe("the rules for words", () => {
  it.each([
    ["/** What the vendor counted. */", ["1 comment-opening"]],
    ["/**\n * Of the first record.\n */", ["1 comment-opening"]],
    ["const a = 1;\n// Where it is a link, the target counts.", ["2 comment-opening"]],
    ["/** @returns what is left */", ["1 comment-opening"]],
    ["/** Whoever asks is told. */", ["1 comment-opening", "1 words-to-avoid", "1 words-to-avoid"]],
    ["// The server is asked anew.", ["1 words-to-avoid"]],
    ["// The file\n// stands in a folder.", ["1 words-to-avoid"]],
  ])("refuse %j", (text, expected) => {
    expect(rulesBrokenBy(text)).toEqual(expected);
  });

  it.each([
    "/** The usage that the vendor reported. */",
    "/** Returns what the vendor reported. */",
    "/** Whole numbers only. */",
    "// The first line of a comment\n// of which the second begins with a preposition.",
    'const text = "Nobody is told anew";',
    "const inside = 1; // of a line",
  ])("accept %j", (text) => {
    expect(rulesBrokenBy(text)).toEqual([]);
  });

  it("refuse commit subjects that begin with no verb for a change", () => {
    const subjects = ["Add a timeout", "Let no value spoil a store", 'Revert "Let it be"', "Merge branch x", "A timeout"];
    expect(subjectOffencesIn(subjects).map(({ line }) => line)).toEqual([2, 5]);
  });
});

describe("the ratchet of the rules for words", () => {
  it("refuses more offences than its pin, and a pin far above the count", () => {
    expect(ratchetProblems({ a: 3 }, { a: 3 })).toEqual([]);
    expect(ratchetProblems({ a: 4 }, { a: 3 })).toEqual([expect.stringContaining("at most 3")]);
    expect(ratchetProblems({ unpinned: 1 }, {})).toEqual([expect.stringContaining("at most 0")]);
    expect(ratchetProblems({ a: 3 }, { a: 3 + SLACK })).toEqual([]);
    expect(ratchetProblems({ a: 3 }, { a: 4 + SLACK })).toEqual([expect.stringContaining("--tighten")]);
  });

  it("lowers pins and never raises one", () => {
    expect(tightened({ a: 2, b: 9 }, { a: 3, b: 5, c: 4 })).toEqual({ a: 2, b: 5, c: 0 });
  });
});
