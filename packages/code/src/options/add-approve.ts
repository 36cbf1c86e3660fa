import type { Command } from "commander";
import { DECISION_TYPES } from "@keelson/protocol";
import type { ApproveCommand, CommandLine } from "./command-line.ts";
import { parseRule } from "./parse-rule.ts";
import { UsageError } from "./usage-error.ts";

/** `keelson approve`. */
export function addApprove(program: Command, accept: (command: CommandLine) => void): void {
  program
    .command("approve")
    .description("decide what a suspended run asks; alone, list what waits")
    .argument("[token]", "the token of the question, or its short id")
    .addArgument(program.createArgument("[decision]", "the answer").choices(DECISION_TYPES))
    .argument(
      "[value...]",
      "JSON of allow-modified and supply, reason of deny, fail and abort (- reads standard input); rules of allow-always, by default the narrowest that the question offers",
    )
    .option("--json", "print JSON")
    .action(
      (token: string | undefined, decision: (typeof DECISION_TYPES)[number] | undefined, values: string[], options: { json?: true }) =>
        accept(approveCommand(token, decision, values, options.json === true)),
    );
}

function approveCommand(
  token: string | undefined,
  decision: (typeof DECISION_TYPES)[number] | undefined,
  values: readonly string[],
  json: boolean,
): ApproveCommand {
  if (token === undefined) return { type: "approve", ...(json && { json }) };
  if (decision === undefined)
    throw new UsageError(
      `there is no decision about ${token}`,
      `Add one of ${DECISION_TYPES.join(", ")}; keelson approve alone lists what waits.`,
    );
  const command = { type: "approve", token, decision } as const;
  if (values.length === 0) return command;
  if (decision === "allow-always") return { ...command, rules: values.map((rule) => parseRule(rule, "allow").pattern) };
  const [value = "", ...more] = values;
  if (more.length > 0) throw new UsageError(`${decision} takes one value, not ${values.length}`, "Quote it for the shell.");
  return { ...command, value };
}
