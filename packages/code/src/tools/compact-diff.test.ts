import { applyPatch } from "diff";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactDiff } from "./compact-diff.ts";

describe("compactDiff", () => {
  it("makes the second text of the first when it is applied, with two lines around each change", async () => {
    // Few different lines, so that many are alike.
    const text = fc.array(fc.constantFrom("", "a", "b", "c"), { maxLength: 14 }).map((lines) => lines.map((line) => `${line}\n`).join(""));
    await fc.assert(
      fc.asyncProperty(text, text, text, text, async (before, removed, added, after) => {
        const [old, now] = [before + removed + after, before + added + after];
        const diff = await compactDiff(old, now);
        expect(applyPatch(old, `--- a\n+++ b\n${diff}\n`)).toBe(now);
        const [head = "", ...lines] = diff.split("\n");
        const leading = lines.findIndex((line) => !line.startsWith(" "));
        const first = Number(/-(\d+)/.exec(head)?.[1] ?? 0);
        expect(leading === 2 || first <= 1).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("shows a change of text without a line end at its end", async () => {
    expect(await compactDiff("a\nb\nc\nd", "a\nb\nc\nD")).toBe("@@ -2,3 +2,3 @@\n b\n c\n-d\n+D");
  });

  it("says so if most of a long file changed", async () => {
    const lines = (sign: string): string => Array.from({ length: 3000 }, (_, number) => `${sign}${number}\n`).join("");
    expect(await compactDiff(lines("a"), lines("b"))).toBe("[Most of the file changed: 3001 lines became 3001.]");
  });
});
