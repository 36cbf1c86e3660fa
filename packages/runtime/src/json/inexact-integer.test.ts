import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findInexactIntegers, isInexactInteger, mayHoldInexactInteger } from "./inexact-integer.ts";

describe("an integer whose double prints other digits", () => {
  it.each([
    "9007199254740993",
    "-9007199254740993",
    "1917043659912705296",
    "18446744073709551615",
    // A double holds it exactly, and prints 1152921504606847000.
    "1152921504606846976",
    "9.007199254740993e15",
    "9007199254740993.0",
    "90071992547409930e-1",
    "1e400",
    "-1E+400",
    "1.5e309",
    `1${"0".repeat(400)}`,
    "1e99999999999999999999999",
  ])("is %s", (source) => {
    expect(isInexactInteger(source)).toBe(true);
    expect(mayHoldInexactInteger(`{"a":[${source}]}`)).toBe(true);
    expect(findInexactIntegers(`{"a":[0,${source}]}`)).toEqual([{ start: 8, end: 8 + source.length, path: ["a", 1], digits: source }]);
  });

  it.each([
    "0",
    "-0",
    "1.0",
    "1E+2",
    "0e999",
    "9007199254740991",
    "-9007199254740991",
    "9007199254740992",
    "18014398509481984",
    "1e23",
    "1e308",
    "1152921504606847000",
    "0.12345678901234567890",
    "12345678901234567.5",
    "1e-400",
    "1.7976931348623157e308",
    "no number",
    "0x10",
    "",
  ])("is not %s", (source) => {
    expect(isInexactInteger(source)).toBe(false);
  });

  it("is every integer that JSON.stringify does not write back", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (integer) => {
        const digits = String(integer);
        expect(isInexactInteger(digits)).toBe(expanded(String(Number(digits))) !== digits);
      }),
    );
  });

  it("is never a number that a program printed from a double", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (double) => {
        expect(isInexactInteger(JSON.stringify(double))).toBe(false);
        expect(isInexactInteger(double.toExponential())).toBe(false);
      }),
    );
  });

  it("is found at its place, wherever it stands among strings that look like numbers", () => {
    const leaf = fc.oneof(
      fc.bigInt({ min: 2n ** 60n, max: 2n ** 70n }),
      fc.integer(),
      fc.string({ unit: fc.constantFrom('"', "\\", "1", ",", "{", "]", ":") }),
    );
    const tree = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(fc.string({ unit: fc.constantFrom('"', "\\", "1", "a") }), tie("tree"), { maxKeys: 4 }),
      ),
    })).tree;
    fc.assert(
      fc.property(tree, fc.constantFrom("", " ", "\n"), (value, space) => {
        const wanted: unknown[] = [];
        const text = write(value, [], space, wanted);
        expect(findInexactIntegers(text).map(({ path, digits, start, end }) => ({ path, digits, text: text.slice(start, end) }))).toEqual(
          wanted,
        );
      }),
    );
  });
});

/** A whole number as JavaScript prints it, without an exponent. */
function expanded(printed: string): string {
  const [mantissa = "", exponent] = printed.split("e+");
  if (exponent === undefined) return printed;
  const [whole = "", fraction = ""] = mantissa.split(".");
  return whole + fraction.padEnd(Number(exponent), "0");
}

/** Writes JSON with bigints as numbers, and notes those that a double does not print alike. */
function write(value: unknown, path: readonly (string | number)[], space: string, inexact: unknown[]): string {
  if (typeof value === "bigint") {
    const digits = String(value);
    if (isInexactInteger(digits)) inexact.push({ path, digits, text: digits });
    return digits;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.map((item, index) => space + write(item, [...path, index], space, inexact)).join(",")}${space}]`;
  return `{${Object.entries(value)
    .map(([name, member]) => `${space}${JSON.stringify(name)}${space}:${space}${write(member, [...path, name], space, inexact)}`)
    .join(",")}${space}}`;
}
