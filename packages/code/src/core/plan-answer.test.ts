import type { Decision, PermissionMode } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { modeToCarryOut, readPlanAnswer } from "./plan-answer.ts";

const supply = (decision: string): Decision => ({ type: "supply", output: { decision } });

describe("the answer to a plan", () => {
  it.each<[string, PermissionMode, PermissionMode | undefined]>([
    ["accept", "plan-only", "default"],
    ["accept", "accept-edits", undefined],
    ["accept", "bypass-all", undefined],
    ["accept-edits", "plan-only", "accept-edits"],
    ["accept-edits", "default", "accept-edits"],
    ["accept-edits", "bypass-all", undefined],
    ["accept-edits", "deny-unauthorized", undefined],
    ["keep-planning", "plan-only", undefined],
    ["nonsense", "plan-only", undefined],
  ])("%s in the mode %s sets the mode %s, so that it never takes a right away", (decision, held, mode) => {
    expect(modeToCarryOut({ operation: "present_plan" }, supply(decision), held)).toBe(mode);
  });

  it("sets no mode for another tool or another decision", () => {
    expect(modeToCarryOut({ operation: "book" }, supply("accept"), "plan-only")).toBeUndefined();
    for (const decision of [{ type: "allow" }, { type: "deny" }, { type: "abort" }] as const)
      expect(modeToCarryOut({ operation: "present_plan" }, decision, "plan-only")).toBeUndefined();
  });

  it("accepts nothing that it does not understand", () => {
    for (const value of [null, true, "yes", {}, { decision: 1 }, []]) expect(readPlanAnswer(value)).toEqual({ decision: "keep-planning" });
    expect(readPlanAnswer({ decision: "accept", plan: "x", words: "y", other: 1 })).toEqual({ decision: "accept", plan: "x", words: "y" });
  });
});
