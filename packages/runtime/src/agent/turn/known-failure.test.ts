import { AGENT_FAILURE_RETRYABLE } from "@keelson/protocol";
import { expect, it } from "vitest";
import { knownFailure } from "./known-failure.ts";

it("a failure of a log is as it stands there, or `other` where a later version knows its kind and this one doesn't [ET-15]", () => {
  for (const kind of Object.keys(AGENT_FAILURE_RETRYABLE)) {
    const failure = { kind, message: "m", detail: 1 };
    expect(knownFailure(failure)).toBe(failure);
  }
  expect(knownFailure({ kind: "from-the-future", message: "m" })).toEqual({ kind: "other", message: "m" });
  expect(knownFailure({ kind: "constructor", message: "m" })).toEqual({ kind: "other", message: "m" });
});
