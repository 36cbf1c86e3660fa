import { AgentError, type ApprovalRequest, type Decision } from "@keelson/protocol";

const ANSWERS: { readonly [K in ApprovalRequest["type"]]: readonly Decision["type"][] } = {
  approval: ["allow", "deny", "allow-always", "allow-modified", "abort"],
  decision: ["retry", "supply", "fail", "abort"],
};

/** @throws AgentError of kind `invalid-option` for a decision that does not answer a question of this type */
export function checkDecision(type: ApprovalRequest["type"], decision: Decision | undefined, operation: string): void {
  const answers = ANSWERS[type];
  if (decision && answers.includes(decision.type)) return;
  throw new AgentError({
    kind: "invalid-option",
    option: "decision",
    message: `The decision ${JSON.stringify(decision?.type)} does not answer this question about ${operation}. Decide one of ${answers.join(", ")}.`,
  });
}
