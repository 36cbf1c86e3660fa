import type { WaitingQuestion } from "../core/waiting-questions.ts";
import { truncated } from "../text/display-width.ts";
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
  const answer = first.type === "decision" ? "retry" : first.asked?.schema === undefined ? "allow" : "deny";
  return [
    ...questions.flatMap(({ id, operation, input, type, asked, summary, rootSession }) => [
      `${style.bold(id)}  ${truncated(callTitle({ name: operation, input }, { style, columns: Math.max(20, columns - id.length - 4) }), Math.max(20, columns - id.length - 2))}`,
      style.dim(
        truncated(
          `  ${printableLine(asked?.message ?? summary ?? (type === "decision" ? "it is not known whether this call was done" : "it asks first"))}`,
          columns,
        ),
      ),
      style.dim(`  session ${rootSession}`),
    ]),
    `Decide with: ${command} approve ${first.id} ${answer}`,
  ];
}
