import type { ExplainedCall } from "keelson/security";
import { printableLine } from "../text/printable.ts";

/** The verdict on a command, and on each thing that it would do. */
export function explanationLines(where: string, { decision, parts }: ExplainedCall): string[] {
  return [
    `${where}: ${decision.behavior}`,
    `  ${printableLine(decision.reason)}`,
    ...parts.flatMap(({ kind, text, behavior, reason }) => [
      `  ${behavior.padEnd(5)} ${kind.padEnd(7)} ${printableLine(text)}`,
      `        ${printableLine(reason)}`,
    ]),
  ];
}
