import type { ApprovalRequest } from "@keelson/protocol";
import { askedLines } from "./asked-lines.ts";
import { printableLine } from "./printable.ts";
import { callPreview, callTitle, type ToolViewOptions } from "./tool-view.ts";

/** A question for a person: what would be done, what it would change, and why it is asked; or what the call itself asks. */
export function questionLines(
  { operation, input, risk, reason, asked }: Pick<ApprovalRequest, "operation" | "input" | "risk" | "reason" | "asked">,
  options: ToolViewOptions,
): string[] {
  const { style, columns } = options;
  const call = { name: operation, input };
  if (asked !== undefined)
    return [`${style.yellow("?")} ${callTitle(call, { style, columns: columns - 2 })}`, ...askedLines(asked, options)];
  return [
    `${style.yellow("?")} ${callTitle(call, { style, columns: columns - 2 })}`,
    ...callPreview(call, options),
    style.dim(`  ${risk} risk: ${printableLine(reason)}`),
  ];
}
