import { expect, it } from "vitest";
import { describeValue } from "./describe-value.ts";

it("says as JSON what a value is, and of what is none at least its type", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  expect(describeValue({ type: "perhaps" })).toBe('{"type":"perhaps"}');
  expect(describeValue(undefined)).toBe("undefined");
  expect(describeValue(cycle)).toBe("a value of type object that can't be written as JSON");
  expect(describeValue(10n)).toBe("a value of type bigint that can't be written as JSON");
});
