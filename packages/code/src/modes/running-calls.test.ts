import type { AgentEvent } from "@keelson/protocol";
import { expect, it } from "vitest";
import { createRunningCalls } from "./running-calls.ts";

it("knows which calls are under way: begun, without a result, and not waiting for an answer", () => {
  const calls = createRunningCalls();
  const see = (event: object): boolean => {
    calls.see(event as AgentEvent);
    return calls.any();
  };
  expect(calls.any()).toBe(false);
  expect(see({ type: "tool-calls-start", calls: [{ callId: "a" }, { callId: "b" }] })).toBe(true);
  expect(see({ type: "approval-request", callId: "a" })).toBe(true);
  expect(see({ type: "tool-result", callId: "b" })).toBe(false);
  expect(see({ type: "approval-decision", callId: "a" })).toBe(true);
  expect(see({ type: "tool-result", callId: "a" })).toBe(false);
});
