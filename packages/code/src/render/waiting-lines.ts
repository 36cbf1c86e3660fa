import { PLAN_TOOL, planIn } from "../core/plan-answer.ts";
import type { WaitingQuestion } from "../core/waiting-questions.ts";
import { truncated } from "../text/display-width.ts";
import { planLines } from "./plan-lines.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { callTitle } from "./tool-view.ts";

export interface WaitingLinesOptions {
  readonly style: Style;
  readonly columns: number;
  /** How the person calls this program. */
  readonly command: string;
  readonly now: number;
}

/** The questions that wait, each with the id to decide it by, and how to do that. */
export function waitingLines(questions: readonly WaitingQuestion[], { style, columns, command }: WaitingLinesOptions): string[] {
  const [first] = questions;
  if (first === undefined) return ["Nothing waits for a decision."];
  const answer = answerTo(first);
  return [
    ...questions.flatMap(({ id, operation, input, type, asked, summary, rootSession }) => [
      `${style.bold(id)}  ${truncated(callTitle({ name: operation, input }, { style, columns: Math.max(20, columns - id.length - 4) }), Math.max(20, columns - id.length - 2))}`,
      style.dim(
        truncated(
          `  ${printableLine(asked?.message ?? summary ?? (type === "decision" ? "it is not known whether this call was done" : "it asks first"))}`,
          columns,
        ),
      ),
      ...(operation === PLAN_TOOL ? planLines(planIn(input), { style, columns }) : []),
      style.dim(`  session ${rootSession}`),
    ]),
    `Decide with: ${command} approve ${first.id} ${answer}`,
  ];
}

/** An answer that fits the question, to be written over. */
function answerTo({ operation, type, asked }: WaitingQuestion): string {
  if (operation === PLAN_TOOL) return `supply '{"decision":"accept"}'`;
  if (asked !== undefined) return asked.schema === undefined ? "allow" : "deny";
  return type === "decision" ? "retry" : "allow";
}
