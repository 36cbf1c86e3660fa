import type { JsonObject, JsonValue, Tool, ToolAnswer } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { toolFailure } from "./call-files.ts";
import { text, toolInput } from "./tool-input.ts";

/** The name of the tool, by which the terminal knows its question. */
export const PLAN_TOOL = "present_plan";

export interface PresentPlanInput {
  /** Markdown. */
  readonly plan: string;
}

/** The answers of a person to a plan: carry it out, carry it out with edits of files unasked, or plan further. */
export type PlanDecision = "accept" | "accept-edits" | "keep-planning";

/** What a person says to a plan. */
export interface PlanAnswer {
  readonly decision: PlanDecision;
  /** What is to be planned otherwise. */
  readonly words?: string;
  /** The plan as the person changed it. */
  readonly plan?: string;
}

const DECISIONS: readonly PlanDecision[] = ["accept", "accept-edits", "keep-planning"];

const ANSWER_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    decision: { type: "string", enum: DECISIONS, description: "accept-edits: edits of files then run without a question" },
    words: { type: "string", description: "what is to be planned otherwise" },
    plan: { type: "string", description: "the plan, if you changed it" },
  },
  required: ["decision"],
  additionalProperties: false,
};

/** Asks the person about a plan. Whoever gives the answer sets the permission mode of the run before it. */
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

/** Reads an answer that matches the schema of the question. */
function readPlanAnswer(value: JsonValue): PlanAnswer {
  const { decision, words, plan } = (value ?? {}) as { readonly [member: string]: JsonValue | undefined };
  const known = DECISIONS.find((name) => name === decision) ?? "keep-planning";
  return { decision: known, ...(typeof words === "string" && { words }), ...(typeof plan === "string" && { plan }) };
}
