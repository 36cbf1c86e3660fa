import type { JsonObject, Tool, ToolAnswer } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { PLAN_DECISIONS, PLAN_TOOL, readPlanAnswer } from "../core/plan-answer.ts";
import { toolFailure } from "./call-files.ts";
import { text, toolInput } from "./tool-input.ts";

export interface PresentPlanInput {
  /** Markdown. */
  readonly plan: string;
}

const ANSWER_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    decision: { type: "string", enum: PLAN_DECISIONS, description: "accept-edits: edits of files then run without a question" },
    words: { type: "string", description: "what is to be planned otherwise" },
    plan: { type: "string", description: "the plan, if you changed it" },
  },
  required: ["decision"],
  additionalProperties: false,
};

/** Asks the person about a plan. The terminal, or the command `approve`, sets the permission mode of the run before it gives the answer. */
export function createPresentPlanTool(): Tool<PresentPlanInput> {
  return defineTool<PresentPlanInput>({
    name: PLAN_TOOL,
    description: "In plan mode: present the complete plan to the person, who accepts it, changes it or asks for more.",
    effect: "read",
    concurrency: "exclusive",
    aliases: ["exit_plan_mode"],
    input: toolInput({ plan: text("The plan in Markdown: the changes by file, in order, and how you check them.") }),
    async execute({ plan }, call) {
      if (plan.trim() === "") throw toolFailure(PLAN_TOOL, "The plan is empty: write it into `plan`.");
      if (call.ask === undefined) throw toolFailure(PLAN_TOOL, "Nobody can be asked here: write the plan as your answer.");
      return describeAnswer(await call.ask({ message: "Carry out this plan?", schema: ANSWER_SCHEMA }), plan);
    },
  });
}

function describeAnswer(answer: ToolAnswer, plan: string): string {
  if (answer.type === "cancelled")
    return `The plan was not decided on${answer.reason === undefined ? "" : ` (${answer.reason})`}. Change nothing; end with the plan as your answer.`;
  if (answer.type === "declined") return furtherPlanning(answer.reason);
  const { decision, words, plan: given } = readPlanAnswer(answer.value);
  if (decision === "keep-planning") return furtherPlanning(words);
  const unasked = decision === "accept-edits" ? " Edits of files run without a question." : "";
  const remark = words === undefined || words.trim() === "" ? "" : ` The person adds: ${words.trim()}`;
  if (given === undefined || given.trim() === plan.trim()) return `The plan is accepted: carry it out now.${unasked}${remark}`;
  return `The person changed the plan. This version is accepted: carry it out now.${unasked}${remark}\n\n${given.trim()}`;
}

function furtherPlanning(words: string | undefined): string {
  const said = words === undefined || words.trim() === "" ? "" : ` The person says: ${words.trim()}`;
  return `The plan is not accepted.${said}\nPlan further, and change nothing yet. Ask what is unclear, or present a better plan.`;
}
