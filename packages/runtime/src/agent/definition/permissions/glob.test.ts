import fc from "fast-check";
import { expect, it } from "vitest";
import { compileGlob, globsMeet, matchesGlob } from "./glob.ts";

it("two patterns meet where some text matches both, and nowhere else", () => {
  const meet = (one: string, other: string) => globsMeet(compileGlob(one), compileGlob(other));
  expect([meet("src/*", "private/*"), meet("*/key", "private/*"), meet("*.ts", "*.pem"), meet("a*c", "ab*")]).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect([meet("*", "x"), meet("", "*"), meet("", "x"), meet("*a*", "b")]).toEqual([true, true, false, false]);
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 6 });
  const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
  fc.assert(
    fc.property(pattern, pattern, text, (one, other, candidate) => {
      const [left, right] = [compileGlob(one), compileGlob(other)];
      expect(globsMeet(left, right)).toBe(globsMeet(right, left));
      if (matchesGlob(left, candidate) && matchesGlob(right, candidate)) expect(globsMeet(left, right)).toBe(true);
      expect(globsMeet(left, compileGlob(candidate))).toBe(matchesGlob(left, candidate));
    }),
  );
});
