import type { Decision } from "@keelson/protocol";
import type { Loop } from "../turn/loop.ts";
import { allow, askAbout, refuse, type AskingCall, type OpenCall, type ReadyCall, type SettledCall } from "../turn/pending-call.ts";
import { askPeople, endIfAborted } from "../features/questions/ask-people.ts";
import type { Question } from "../features/questions/publish-question.ts";
import { passEditedArguments } from "./pass-gates.ts";

const MAX_EDITS = 3;

/**
 * Asks about the calls that a gate wants asked about, until each is settled or may run.
 * @returns all calls as they go on, in their order
 */
export async function settleQuestions(
  loop: Loop,
  calls: readonly (OpenCall | SettledCall)[],
): Promise<readonly (ReadyCall | SettledCall)[]> {
  const going = [...calls];
  for (let round = 1; ; round++) {
    const asking = going.filter((call) => call.state === "asking");
    if (asking.length === 0) return going.filter((call) => call.state !== "asking");
    const decisions = await askPeople(
      loop,
      asking.map((call) => questionAbout(call, round)),
    );
    for (const [index, decision] of decisions.entries()) {
      const call = asking[index] as AskingCall;
      endIfAborted(decision);
      going[going.indexOf(call)] = await followDecision(loop, call, decision);
    }
  }
}

function questionAbout({ part, key, tool, input, reason, always, shown }: AskingCall, round: number): Question {
  return { type: "approval", callId: part.id, key, round, tool, input, reason, ...shown, ...(always && { always }) };
}

async function followDecision(loop: Loop, call: AskingCall, decision: Decision): Promise<OpenCall | SettledCall> {
  switch (decision.type) {
    case "allow":
    case "allow-always":
      return allow(call);
    case "allow-modified": {
      const edited = await passEditedArguments(loop, call, decision.input);
      // Whoever edited the arguments was the one to ask about them.
      if (edited.state === "asking") return allow(edited);
      if (edited.state === "ready" || edited.why !== "invalid-arguments") return edited;
      const edits = call.edits + 1;
      if (edits >= MAX_EDITS) return edited;
      // Asked about are the arguments as they were before this edit: only those can be allowed.
      return askAbout({ ...call, edits }, `The edited arguments are not valid: ${String(edited.result.output)} (${call.reason})`);
    }
    case "deny":
      return refuse(
        call,
        `A person declined this call${decision.reason ? `: ${decision.reason}` : ""}. Do not try it again in another form; go on without it or ask what to do.`,
      );
    default:
      return refuse(call, `The question was answered with "${decision.type}", which does not answer it; the call did not run.`);
  }
}
