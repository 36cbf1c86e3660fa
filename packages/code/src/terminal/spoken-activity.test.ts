import { expect, it } from "vitest";
import { spokenActivity } from "./spoken-activity.ts";

it.each([
  ["⠋ thinking", "thinking"],
  ["⠙ thinking 1.2 s · claude-sonnet-5 · turn 2 · 12k in, 850 out", "thinking"],
  ["⠙ bash npm test 2 m 05 s · $0.0234", "bash npm test"],
  ["⠹ waiting for an answer 1 h 02 m", "waiting for an answer"],
  ["3 calls", "3 calls"],
  ["", ""],
])("names the activity of %j: %j", (status, activity) => {
  expect(spokenActivity(status)).toBe(activity);
});
