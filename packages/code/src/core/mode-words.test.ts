import { PERMISSION_MODES } from "@keelson/protocol";
import { expect, it } from "vitest";
import { MODE_WORDS, nextMode } from "./mode-words.ts";

it("goes from default over edits to plans and back, and to default from the other modes", () => {
  expect(PERMISSION_MODES.map(nextMode)).toEqual(["accept-edits", "plan-only", "default", "default", "default"]);
});

it("has words for every mode", () => {
  expect(Object.keys(MODE_WORDS).toSorted()).toEqual([...PERMISSION_MODES].toSorted());
});
