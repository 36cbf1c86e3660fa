import { describe, expect, it } from "vitest";
import { chaosFaults } from "./chaos-faults.ts";
import { planName } from "./fault.ts";
import { parsePlan } from "./parse-plan.ts";
import { planRuns } from "./plan-runs.ts";
import { countSteps } from "./step.ts";

const { crashBefore, crashAfter, late, rateLimited, refused } = chaosFaults;

function stepsOf(...given: readonly (readonly ["append" | "tool" | "model" | "wake", string])[]) {
  const steps = countSteps();
  for (const [seam, about] of given) steps.take(seam, about, 1);
  return steps.taken;
}

const namesOf = (...[options]: Parameters<typeof planRuns>): readonly string[] => planRuns(options).map(planName);

describe("the plan of a kit's runs", () => {
  const steps = stepsOf(
    ["append", "turn-start"],
    ["append", "turn-start"],
    ["tool", "c_1 of `pay`"],
    ["tool", "c_2 of `pay`"],
    ["wake", "s"],
  );

  it("has each fault befall each step that it can", () => {
    expect(namesOf({ faults: [refused, late], steps, seed: "1", pairs: 0 }).toSorted()).toEqual([
      "late wake#1",
      "refused append#1",
      "refused append#2",
    ]);
  });

  it("has seen something of each fault and each kind of step before it sees a second of any", () => {
    const names = namesOf({ faults: [crashBefore, crashAfter], steps, seed: "1", pairs: 0 });
    expect(names).toHaveLength(10);
    const firsts = names.slice(0, 6).map((name) => name.replace(/#\d/, ""));
    expect(new Set(firsts)).toEqual(
      new Set([
        "crash before append",
        "crash before tool",
        "crash before wake",
        "crash after append",
        "crash after tool",
        "crash after wake",
      ]),
    );
  });

  it("draws pairs of different steps, the same ones under the same seed", () => {
    const plan = (seed: string) => namesOf({ faults: [crashBefore, crashAfter], steps, seed, pairs: 50 }).slice(10);
    expect(plan("1")).toHaveLength(50);
    expect(plan("1")).toEqual(plan("1"));
    expect(plan("1")).not.toEqual(plan("2"));
    for (const pair of plan("1")) {
      const [first, second] = pair.split(", ").map((name) => name.split(" ").at(-1));
      expect(first).not.toBe(second);
    }
    expect(namesOf({ faults: [crashBefore, crashAfter], steps: steps.slice(0, 1), seed: "1", pairs: 3 })).toHaveLength(2);
  });

  it("is read from the names of its runs", () => {
    const faults = Object.values(chaosFaults);
    for (const fault of faults) expect(parsePlan(`${fault.name} model#12`, faults, "only")).toEqual([{ fault, at: "model#12" }]);
    expect(parsePlan("crash after append#7, 429 at model#2", faults, "only")).toEqual([
      { fault: crashAfter, at: "append#7" },
      { fault: rateLimited, at: "model#2" },
    ]);
    expect(() => parsePlan("crash after append", faults, "only")).toThrow('There is no fault as in "crash after append"');
  });
});
