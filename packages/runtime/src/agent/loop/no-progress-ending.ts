import { truncateText } from "../../json/truncate-text.ts";
import { runOf, sessionOf, type Loop } from "../turn/loop.ts";
import { RunEnding } from "../turn/run-ending.ts";

const MAX_SHOWN_BYTES = 200;

/** The model gets nowhere: what it calls fails or is refused, turn after turn. */
export function noProgressEnding(loop: Loop): RunEnding {
  const { failedTurns } = runOf(loop);
  const last = sessionOf(loop).conversation.messages.findLast(({ role }) => role === "tool")?.content[0];
  const [name, output] = last?.type === "tool-result" ? [last.name, last.output] : ["a tool", ""];
  const said = truncateText(typeof output === "string" ? output : JSON.stringify(output), MAX_SHOWN_BYTES).text;
  return new RunEnding("circuit-breaker", {
    limit: { name: "maxFailedTurns", limit: loop.limits.maxFailedTurns, used: failedTurns },
    why: `every tool call of the last ${failedTurns} turns failed; the last was ${name}: ${said}`,
  });
}
