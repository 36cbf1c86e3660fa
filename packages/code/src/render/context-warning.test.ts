import { expect, it } from "vitest";
import { createContextWarning } from "./context-warning.ts";

it("warns once before the conversation is compacted and once when the window is nearly full, and again after it was shortened", () => {
  const warning = createContextWarning(() => 0.5);
  const warned = [0.1, 0.39, 0.41, 0.45, 0.6, 0.86, 0.9, 0.2, 0.42].map((part) => warning(part));
  expect(warned.map((line) => line?.slice(0, 24))).toEqual([
    undefined,
    undefined,
    "the context is 41% full;",
    undefined,
    undefined,
    "the context is 86% full;",
    undefined,
    undefined,
    "the context is 42% full;",
  ]);
  expect(warned[2]).toContain("from 50% on");
  expect(warned[2]).toContain("/compact [what to keep]");
});
