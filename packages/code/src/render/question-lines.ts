import type { ApprovalRequest } from "@keelson/protocol";
import { printableLine } from "./printable.ts";
import { callPreview, callTitle, type ToolViewOptions } from "./tool-view.ts";

/** A question for a person: what would be done, what it would change, and why it is asked. */
export function questionLines(
  { operation, input, risk, reason }: Pick<ApprovalRequest, "operation" | "input" | "risk" | "reason">,
  options: ToolViewOptions,
): string[] {
  const { style, columns } = options;
  const call = { name: operation, input };
  return [
    `${style.yellow("?")} ${callTitle(call, { style, columns: columns - 2 })}`,
    ...callPreview(call, options),
    style.dim(`  ${risk} risk: ${printableLine(reason)}`),
  ];
}
