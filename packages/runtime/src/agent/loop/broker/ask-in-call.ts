import type { AskedQuestion, Decision, ToolAnswer, ToolQuestion } from "@keelson/protocol";
import { approvalsOf } from "../../features/approvals/run-approvals.ts";
import { issuesOfAnswer } from "../../features/approvals/check-answer.ts";
import { policiesOf } from "../../features/permissions/run-policies.ts";
import type { Loop } from "../../turn/loop.ts";
import { boundedQuestion } from "./bounded-question.ts";
import type { CallBroker } from "./call-broker.ts";

/** How often somebody may answer a question in a way that can't be used. */
const MAX_ROUNDS = 3;

/** Asks a person for a call that runs. What was answered stands in the log: the same question of a repeated call gets that at once. */
export async function askInCall(broker: CallBroker, question: ToolQuestion): Promise<ToolAnswer> {
  const { loop, call } = broker;
  const number = broker.nextQuestion();
  const { tool } = call;
  const { maxQuestionsPerCall } = loop.limits;
  if (number > maxQuestionsPerCall)
    return cancelled(`limits.maxQuestionsPerCall is ${maxQuestionsPerCall}, and this call asked as often as that.`);
  const asked = boundedQuestion(tool.name, question);
  if (typeof asked === "string") return cancelled(`It can't be asked: ${asked}.`);
  const nobody = whyNobody(loop);
  if (nobody !== undefined) return cancelled(nobody);
  // Its words come back with the result, in whatever form.
  if (asked.from !== undefined) call.marks.push(asked.from);
  const mayRepeat = question.mayRepeat ?? tool.effect !== "write";
  let issues: readonly string[] = [];
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const decision = await broker.decide(
      {
        type: "decision",
        callId: call.part.id,
        key: `${call.key}/ask/${number}`,
        round,
        tool,
        input: call.input,
        reason: reasonOf(tool.name, asked),
        asked: issues.length === 0 ? asked : { ...asked, issues },
        bound: [number, asked],
      },
      mayRepeat,
    );
    if (decision === undefined) return cancelled("Nobody answered.");
    issues = await issuesOfAnswer(asked, decision);
    if (issues.length === 0) return answerOf(decision);
  }
  return cancelled(`It was answered ${MAX_ROUNDS} times in a way that can't be used: ${issues.join("; ")}`);
}

/** Where nobody is to be asked anything. */
function whyNobody(loop: Loop): string | undefined {
  if (approvalsOf(loop).asksNobody) return "Nobody can be asked here: this run has no session that somebody could go on with.";
  if (policiesOf(loop).some(({ mode }) => mode === "deny-unauthorized")) return "In permission mode deny-unauthorized nobody is asked.";
  return undefined;
}

function reasonOf(tool: string, { message, from }: AskedQuestion): string {
  return `${tool} asks while it runs${from === undefined ? "" : `, for ${JSON.stringify(from)}`}: ${message}`;
}

function answerOf(decision: Decision): ToolAnswer {
  if (decision.type === "supply") return { type: "provided", value: decision.output };
  if (decision.type === "deny") return { type: "declined", ...(decision.reason !== undefined && { reason: decision.reason }) };
  return { type: "provided", value: true };
}

function cancelled(reason: string): ToolAnswer {
  return { type: "cancelled", reason };
}
