import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { filterChoices } from "./filter-choices.ts";

const labels = (typed: string, ...choices: readonly (string | { readonly label: string; readonly words: string })[]) =>
  filterChoices(
    choices.map((choice) => (typeof choice === "string" ? { label: choice } : choice)),
    typed,
  ).map(({ label }) => label);

describe("filterChoices", () => {
  it("puts the best first: the whole label, its beginning, the beginning of a word, then letters in order", () => {
    expect(labels("son", "anthropic/sonnet", "person", "s-o-n", "sonnet", "son", "model")).toEqual([
      "son",
      "sonnet",
      "anthropic/sonnet",
      "person",
      "s-o-n",
    ]);
  });

  it("wants every word, in any order and case", () => {
    expect(labels("Five GPT", "openai/gpt-five", "openai/gpt-four", "five")).toEqual(["openai/gpt-five"]);
  });

  it("finds a word in the further text as it was typed, and never letter by letter", () => {
    const first = { label: "mend the build", words: "branch feature/login ~/shop" };
    const second = { label: "write docs", words: "branch main ~/site" };
    expect(labels("login", first, second)).toEqual(["mend the build"]);
    expect(labels("lgn", first, second)).toEqual([]);
  });

  it("keeps the order of equally good ones, and shows all while nothing is typed", () => {
    expect(labels("a", "ab", "ac", "ad")).toEqual(["ab", "ac", "ad"]);
    expect(labels("  ", "b", "a")).toEqual(["b", "a"]);
  });

  it("finds each choice by its own label", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z/. -]{1,12}$/), { minLength: 1 }), (given) => {
        for (const label of given) expect(labels(label, ...given)).toContain(label);
      }),
    );
  });
});
