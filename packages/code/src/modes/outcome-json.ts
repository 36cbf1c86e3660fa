import type { RunOutcome } from "keelson";
import type { DecisionCommands } from "./decision-commands.ts";

/** What `--output-format json` prints: the outcome, with what is needed to go on. */
export function outcomeJson(
  outcome: RunOutcome<unknown>,
  run: { readonly id: string; readonly session: string; readonly model: string },
  commands: DecisionCommands | undefined,
): string {
  const { reason, text, output, turns, usage, cost, estimated, error, limit, why } = outcome;
  return JSON.stringify({
    reason,
    text,
    ...(output !== undefined && { output }),
    session: run.session,
    run: run.id,
    model: run.model,
    turns,
    usage,
    cost,
    ...(estimated !== undefined && { estimated }),
    ...(limit !== undefined && { limit }),
    ...(why !== undefined && { why }),
    ...(error !== undefined && { error }),
    ...(commands && { waits: commands.waits, resume: commands.resume }),
  });
}
