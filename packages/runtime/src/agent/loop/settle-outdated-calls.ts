import type { Tool } from "@keelson/protocol";
import { askPeople, endIfAborted } from "../features/questions/ask-people.ts";
import type { Question } from "../features/questions/publish-question.ts";
import { refuse, settleCall, toolNameOf, type OpenCall, type SettledCall } from "../turn/pending-call.ts";
import { isRecordedTool } from "../features/tool-sources/recorded-tool.ts";
import { isOtherVersion } from "../turn/source-tool.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { isUnknown, lastReservation, mayHaveRun, noteNotDone, noteUnknown } from "./tool-call-ledger.ts";

/** A call that was asked for under an earlier definition, or of a tool that is another by now, and what keeps it from going on under this one. */
interface OutdatedCall {
  readonly call: OpenCall | SettledCall;
  readonly why: string;
  /** Whether it could run as it is now. */
  readonly canRun: boolean;
}

/** Whether calls may not fit what there is by now. */
export function mayBeOutdated(loop: Loop, calls: readonly (OpenCall | SettledCall)[]): boolean {
  return runOf(loop).outdated === true || calls.some((call) => isOfChangedSource(loop, call));
}

/**
 * Asks people about open calls that the agent's new definition can't go on with: whether the run goes on without them, what
 * became of them, or whether it ends. Nothing is decided here for them: with the old definition the run could still go on.
 * @param calls those that went through the gates
 */
export async function settleOutdatedCalls(
  loop: Loop,
  calls: readonly (OpenCall | SettledCall)[],
): Promise<readonly (OpenCall | SettledCall)[]> {
  let open = calls.flatMap((call) => outdatedCallOf(loop, call) ?? []);
  const settled = new Map<OpenCall | SettledCall, SettledCall>();
  for (const { call } of open) if (isUnknown(loop, call)) noteUnknown(loop, call);
  for (let round = 1; open.length > 0; round++) {
    const decisions = await askPeople(
      loop,
      open.map((outdated) => questionAbout(loop, outdated, round)),
    );
    const again: OutdatedCall[] = [];
    for (const [index, decision] of decisions.entries()) {
      const outdated = open[index] as OutdatedCall;
      const { call, why } = outdated;
      endIfAborted(decision);
      if (decision.type === "retry") {
        if (outdated.canRun) noteNotDone(loop, call);
        else again.push(outdated);
      } else if (decision.type === "supply") {
        const ran = settleCall(call, "ran", { output: decision.output, isError: false });
        settled.set(call, { ...ran, input: ran.input ?? call.part.input ?? null });
      } else {
        const reason = "reason" in decision && decision.reason ? ` (${decision.reason})` : "";
        const message = `This call is no longer possible: the agent was changed, and ${why}${reason}. ${mayHaveRun(loop, call) ? "It was started before that and may have taken effect: look before you repeat it." : "It did not run."}`;
        settled.set(call, refuse(call, message, "given-up"));
      }
    }
    open = again;
  }
  return calls.map((call) => settled.get(call) ?? call);
}

function outdatedCallOf(loop: Loop, call: OpenCall | SettledCall): OutdatedCall | undefined {
  const { part } = call;
  if (runOf(loop).outdated !== true && !isOfChangedSource(loop, call)) return undefined;
  if (call.state === "settled") {
    if (call.why === "no-such-tool") return { call, why: `it has no tool "${part.name}" any more`, canRun: false };
    if (call.why !== "invalid-arguments") return undefined;
    return { call, why: `${toolNameOf(call)} no longer takes these arguments: ${String(call.result.output)}`, canRun: false };
  }
  const { tool } = call;
  if (!isUnknown(loop, call)) return undefined;
  const version = lastReservation(loop, call)?.version;
  return version === tool.version
    ? undefined
    : { call, why: `${tool.name} is of the version ${tool.version} by now, not ${String(version)}`, canRun: true };
}

/** Its tool is another than the model was told of; or it is gone, and the call had been started. */
function isOfChangedSource(loop: Loop, call: OpenCall | SettledCall): boolean {
  if (call.tool === undefined) return false;
  return isOtherVersion(call.tool) || (isRecordedTool(call.tool) && call.state === "settled" && isUnknown(loop, call));
}

function questionAbout(loop: Loop, { call, why, canRun }: OutdatedCall, round: number): Question {
  const { part } = call;
  const started = mayHaveRun(loop, call)
    ? "It was started before, and nobody knows whether it took effect: find out first."
    : "It did not run.";
  const again = canRun ? ", retry runs it as it is now" : round > 1 ? " (retry can't run it)" : "";
  return {
    type: "decision",
    callId: part.id,
    key: `${call.key}/misfit`,
    round,
    tool: call.tool ?? toolThatIsGone(part.name),
    input: call.input ?? part.input ?? part.inputText,
    reason: `The agent was changed while this call of ${part.name} was open, and ${why}. ${started} fail goes on with the new definition and tells the model that the call is no longer possible, supply goes on and gives its output${again}, abort ends the run. Or resume the run with the definition that it had.`,
  };
}

/** Nothing is known of it, so that whoever is asked is warned of the worst. */
function toolThatIsGone(name: string): Pick<Tool, "name" | "description" | "risk" | "version"> {
  return { name, description: "A tool that the agent no longer has.", risk: "critical", version: "" };
}
