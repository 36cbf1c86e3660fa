import fc from "fast-check";
import { expect, it } from "vitest";
import { shownName } from "./shown-name.ts";

it("shows an ordinary path as it is", () => {
  for (const path of ["a.ts", "with blank/ü 中.txt", "app/[slug]/page.tsx", "it's"]) expect(shownName(path)).toBe(path);
});

it("shows every path in one line that can be read back", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "\r", "\t", '"', "\\", " ", "\u2028", "\u202e", "\u0085", "é") }), (path) => {
      const shown = shownName(path);
      // oxlint-disable-next-line no-control-regex
      expect(shown).not.toMatch(/[\n\r\u0085\u2028\u2029\u202e]/);
      expect(shown.startsWith('"') ? (JSON.parse(shown) as string) : shown).toBe(path);
    }),
  );
});
