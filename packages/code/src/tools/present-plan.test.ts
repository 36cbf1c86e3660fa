import type { ToolAnswer, ToolQuestion } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createJsonSchemaValidator } from "../../../runtime/src/schema/index.ts";
import { toolCall } from "../../test/tool-workspace.ts";
import { createPresentPlanTool } from "./present-plan.ts";

const PLAN = "1. Read\n2. Write";

async function present(answer: ToolAnswer, plan = PLAN): Promise<{ readonly said: unknown; readonly asked: readonly ToolQuestion[] }> {
  const asked: ToolQuestion[] = [];
  const ask = async (question: ToolQuestion): Promise<ToolAnswer> => {
    asked.push(question);
    return answer;
  };
  return { said: await createPresentPlanTool().execute({ plan }, toolCall({ ask })), asked };
}

describe("present_plan", () => {
  it("asks whether the plan is to be carried out, with a schema for the answers", async () => {
    const { asked } = await present({ type: "declined" });
    expect(asked).toMatchObject([{ message: "Carry out this plan?" }]);
    const issuesOf = createJsonSchemaValidator(asked[0]?.schema ?? {});
    const right = [{ decision: "accept" }, { decision: "keep-planning", words: "smaller" }, { decision: "accept-edits", plan: "1. Less" }];
    for (const value of right) expect(await issuesOf(value)).toEqual([]);
    for (const value of [{}, { decision: "maybe" }, { decision: "accept", other: 1 }, "yes"]) expect(await issuesOf(value)).not.toEqual([]);
  });

  it.each<[ToolAnswer, string]>([
    [{ type: "provided", value: { decision: "accept" } }, "The plan is accepted: carry it out now."],
    [{ type: "provided", value: { decision: "accept", plan: ` ${PLAN}\n` } }, "The plan is accepted: carry it out now."],
    [
      { type: "provided", value: { decision: "accept-edits", words: "start with the test" } },
      "The plan is accepted: carry it out now. Edits of files run without a question. The person adds: start with the test",
    ],
    [
      { type: "provided", value: { decision: "accept", plan: "1. Test\n" } },
      "The person changed the plan. This version is accepted: carry it out now.\n\n1. Test",
    ],
    [
      { type: "provided", value: { decision: "keep-planning", words: "too large" } },
      "The plan is not accepted. The person says: too large\nPlan further, and change nothing yet. Ask what is unclear, or present a better plan.",
    ],
    [
      { type: "declined", reason: "not now" },
      "The plan is not accepted. The person says: not now\nPlan further, and change nothing yet. Ask what is unclear, or present a better plan.",
    ],
    [
      { type: "cancelled", reason: "Nobody answered." },
      "The plan was not decided on (Nobody answered.). Change nothing; end with the plan as your answer.",
    ],
    // A yes without more says nothing about the mode.
    [
      { type: "provided", value: true },
      "The plan is not accepted.\nPlan further, and change nothing yet. Ask what is unclear, or present a better plan.",
    ],
  ])("tells the model what was decided: %j", async (answer, words) => {
    expect((await present(answer)).said).toBe(words);
  });

  it("refuses an empty plan, and says what to do where nobody can be asked", async () => {
    await expect(present({ type: "declined" }, " \n")).rejects.toThrow("The plan is empty");
    await expect(createPresentPlanTool().execute({ plan: PLAN }, toolCall())).rejects.toThrow("write the plan as your answer");
  });
});
