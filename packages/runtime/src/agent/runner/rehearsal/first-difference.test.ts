import fc from "fast-check";
import { expect, it } from "vitest";
import { firstDifference } from "./first-difference.ts";

it("finds none between a value and its copy", () => {
  fc.assert(
    fc.property(fc.anything({ withMap: true, withSet: true }), (value) => {
      expect(firstDifference(value, structuredClone(value))).toBeUndefined();
    }),
  );
});

it("names the place where two values differ first, and what stands there", () => {
  expect(firstDifference({ a: 1, b: [1, { c: "x" }] }, { a: 1, b: [1, { c: "y" }] })).toEqual({
    path: "b.1.c",
    first: '"x"',
    second: '"y"',
  });
  expect(firstDifference(new Map([["k", 1]]), new Map())).toEqual({ path: "k", first: "1", second: "absent" });
  expect(firstDifference(new Set(["a"]), new Set(["b"]))).toEqual({ path: "0", first: '"a"', second: '"b"' });
  expect(firstDifference(new Uint8Array([1]), new Uint8Array([2]))).toMatchObject({ path: "bytes" });
  expect(firstDifference(1, 2)).toEqual({ path: "it", first: "1", second: "2" });
});

it("takes a member that is undefined for one that is absent", () => {
  expect(firstDifference({ a: undefined }, {})).toBeUndefined();
});

it("shows no more than the beginning of what is long", () => {
  const { first } = firstDifference({ text: "x".repeat(1000) }, { text: "" }) ?? { first: "" };
  expect(first).toHaveLength(201);
});
