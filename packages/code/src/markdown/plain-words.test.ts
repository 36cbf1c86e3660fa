import { describe, expect, it } from "vitest";
import { createPlainWords } from "./plain-words.ts";

describe("createPlainWords", () => {
  it("finishes whole lines, broken at spaces, and leaves long words to the terminal", () => {
    const words = createPlainWords();
    expect(words.push("# a **b** c", 8)).toEqual([]);
    expect(words.push("\nhttps://example.com\n", 8)).toEqual(["# a", "**b** c", "https://example.com"]);
    words.push("rest", 8);
    expect(words.end(8)).toEqual(["rest"]);
  });

  it("draws the end of the open line within the width", () => {
    const words = createPlainWords();
    words.push("one two three", 80);
    expect(words.rows({ columns: 7, rows: 2 }).lines).toEqual(["one two", "three"]);
    expect(words.rows({ columns: 7, rows: 1 }).lines).toEqual(["three"]);
    words.drop();
    expect(words.rows({ columns: 7, rows: 2 }).lines).toEqual([]);
  });
});
