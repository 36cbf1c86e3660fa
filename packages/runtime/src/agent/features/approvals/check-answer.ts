import { AgentError, type ApprovalRequest, type AskedQuestion, type Decision } from "@keelson/protocol";
import { createJsonSchemaValidator, formatIssue } from "../../../schema/index.ts";

const MAX_ISSUES = 5;

/** What decides a question that a call asked while it runs. */
export function answersOf({ schema }: AskedQuestion): readonly Decision["type"][] {
  return schema === undefined ? ["allow", "supply", "deny", "abort"] : ["supply", "deny", "abort"];
}

/** Why a decision gives no answer to what a call asked; none where it does. */
export async function issuesOfAnswer(asked: AskedQuestion, decision: Decision): Promise<readonly string[]> {
  const allowed = answersOf(asked);
  if (!allowed.includes(decision.type)) return [`${JSON.stringify(decision.type)} does not answer it: decide one of ${allowed.join(", ")}`];
  if (decision.type !== "supply" || asked.schema === undefined) return [];
  return (await createJsonSchemaValidator(asked.schema)(decision.output)).slice(0, MAX_ISSUES).map(formatIssue);
}

/** @throws AgentError of kind `invalid-option` for a value that is not what a call asked for */
export async function checkAnswer({ asked, operation }: Pick<ApprovalRequest, "asked" | "operation">, decision: Decision): Promise<void> {
  const issues = asked === undefined ? [] : await issuesOfAnswer(asked, decision);
  if (issues.length === 0) return;
  throw new AgentError({
    kind: "invalid-option",
    option: "decision",
    message: `The decision ${JSON.stringify(decision.type)} is not what ${operation} asked for: ${issues.join("; ")}. Supply a value that its schema takes, or deny.`,
  });
}
