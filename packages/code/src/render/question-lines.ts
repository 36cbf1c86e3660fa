import type { ApprovalRequest, AskedPart, JsonValue } from "@keelson/protocol";
import { PLAN_TOOL, planIn } from "../core/plan-answer.ts";
import { askedLines } from "./asked-lines.ts";
import { planLines } from "./plan-lines.ts";
import { printableLine } from "../text/printable.ts";
import { callPreview, callTitle, type ToolViewOptions } from "./tool-view.ts";
import { wrapped } from "../text/wrapped.ts";

type Shown = Pick<ApprovalRequest, "operation" | "input" | "reason" | "summary" | "parts" | "asked" | "budget">;

/**
 * A question for a person: in one sentence what would happen and why it is asked about, then the change, the arguments or the commands that the sentence
 * does not show. A call that asks something itself shows that instead.
 */
export function questionLines({ operation, input, reason, summary, parts = [], asked, budget }: Shown, options: ToolViewOptions): string[] {
  const { style, columns } = options;
  const call = { name: operation, input };
  const title = `${style.yellow("?")} ${callTitle(call, { style, columns: columns - 2 })}`;
  if (asked !== undefined) {
    const plan = operation === PLAN_TOOL ? planLines(planIn(input), options) : [];
    return [title, ...plan, ...askedLines(asked, options)];
  }
  if (summary === undefined) return [title, ...callPreview(call, options), style.dim(`  ${printableLine(reason)}`)];
  const [first = "", ...rest] = wrapped(printableLine(summary), columns - 2);
  return [
    `${style.yellow("?")} ${style.bold(first)}`,
    ...rest.map((row) => `  ${style.bold(row)}`),
    ...callPreview(call, options, { isTold: budget !== undefined || isTold(input, summary) }),
    ...parts.flatMap((part) => partLines(part, options)),
  ];
}

/** True if the sentence shows all of the arguments that are text. */
function isTold(input: JsonValue, summary: string): boolean {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return false;
  const { command } = input as { readonly [name: string]: JsonValue };
  const values = typeof command === "string" ? [command] : Object.values(input as { readonly [name: string]: JsonValue });
  return values.every((value) => typeof value === "string" && !value.includes("\n") && summary.includes(value));
}

function partLines({ text, why }: AskedPart, { style, columns }: ToolViewOptions): readonly string[] {
  const rows = wrapped(printableLine(text), columns - 4);
  const shown = rows.map((row, index) => `  ${index === 0 ? style.dim("·") : " "} ${row}`);
  return why === undefined ? shown : [...shown, ...wrapped(printableLine(why), columns - 6).map((row) => `      ${style.dim(row)}`)];
}
