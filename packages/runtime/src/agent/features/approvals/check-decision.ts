import { AgentError, DECISION_TYPES, decisionCodec, type ApprovalRequest, type AskedBudget, type Decision } from "@keelson/protocol";
import { invalidOption, shown } from "../../definition/invalid-option.ts";
import { issueOfBudgetAnswer } from "./budget-answer.ts";
import { checkAnswer } from "./check-answer.ts";
import { checkGrantedPatterns } from "../../definition/permissions/granted-rules.ts";

const DECISIONS: { readonly [K in ApprovalRequest["type"]]: readonly Decision["type"][] } = {
  approval: ["allow", "deny", "allow-always", "allow-modified", "abort"],
  decision: ["retry", "supply", "fail", "abort"],
};

/** @throws AgentError of kind `invalid-option` for what is no decision, or lacks what one of its type needs */
export function checkDecisionShape(decision: Decision): void {
  const problem = DECISION_TYPES.includes((decision as Decision | undefined)?.type as Decision["type"]) ? flawOf(decision) : undefined;
  if (problem === "") return;
  throw invalidOption(
    "decision",
    problem ?? `must be one of ${DECISION_TYPES.join(", ")}, as in { type: "allow" }, not ${shown(decision)}`,
  );
}

/** Nothing, as a text, where it can be read as what it says it is. */
function flawOf(decision: Decision): string {
  try {
    decisionCodec.decode(decision);
    return "";
  } catch (error) {
    return `can't be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** @throws AgentError of kind `invalid-option` for a decision that does not answer this question */
export async function checkDecision(
  request: Pick<ApprovalRequest, "type" | "asked" | "budget" | "operation">,
  decision: Decision,
): Promise<void> {
  checkDecisionShape(decision);
  const { type, asked, budget, operation } = request;
  if (asked !== undefined) return checkAnswer(request, decision);
  if (budget !== undefined) return checkBudgetAnswer(budget, decision);
  const allowed = DECISIONS[type];
  if (allowed.includes(decision.type)) {
    if (decision.type === "allow-always" && decision.rules !== undefined) checkGrantedPatterns(decision.rules, operation);
    return;
  }
  throw new AgentError({
    kind: "invalid-option",
    option: "decision",
    message: `The decision ${JSON.stringify(decision.type)} does not answer this question about ${operation}. Decide one of ${allowed.join(", ")}.`,
  });
}

/** @throws AgentError of kind `invalid-option` for a decision that does not answer the question of a run whose limit is met */
export function checkBudgetAnswer(budget: AskedBudget, decision: Decision): void {
  const issue = issueOfBudgetAnswer(budget, decision);
  if (issue === undefined) return;
  throw new AgentError({
    kind: "invalid-option",
    option: "decision",
    message: `The decision ${JSON.stringify(decision.type)} does not answer the question of a run whose limit is met. ${issue}`,
  });
}
