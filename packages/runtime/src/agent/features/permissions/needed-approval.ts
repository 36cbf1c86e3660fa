import { shortHash } from "../../../json/digest.ts";
import { alwaysReason, approvalReason } from "../../../tools/approval-reason.ts";
import type { PermissionDecision } from "../../definition/permissions/permission-decision.ts";
import { guardKey } from "../../turn/call-key.ts";
import { callPlaceOf, toolServicesOf } from "../../turn/held-services.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { toolContextOf } from "../../turn/tool-context.ts";
import type { FittingCall } from "../../turn/pending-call.ts";
import { checkEnding } from "../../turn/run-ending.ts";

/**
 * Asks the tool of a call if a person must allow it. The answer is a recorded decision. The tool is not asked if its answer changes nothing, because
 * the call is denied anyway, its mode asks no one, or a person allowed such calls permanently.
 * @param decide the decision on the call, given a reason why it needs an approval
 * @returns the reason; `undefined` if no approval is needed
 */
export async function neededApproval(
  loop: Loop,
  call: FittingCall,
  decide: (reason: string | undefined) => PermissionDecision,
): Promise<string | undefined> {
  const { tool } = call;
  if (tool.needsApproval === undefined) return undefined;
  if (tool.needsApproval === true) return alwaysReason(tool);
  const [without, needed] = [decide(undefined), decide(PENDING)];
  if (without.behavior === needed.behavior && without.reason === needed.reason) return undefined;
  const { execution } = loop;
  // Other arguments are another question.
  const key = `${call.key}/needs-approval/${call.edits}/${call.input === call.part.input ? "given" : shortHash(guardKey(tool.name, call), 8)}`;
  let reason: string | undefined;
  if (!execution.has(key)) {
    execution.goOutside(`needsApproval of ${tool.name}`);
    reason = await approvalReason(tool, call.value, plannedCall(loop, call), execution.clock);
    if (execution.signal.aborted) checkEnding(loop);
  }
  return (await execution.decide<string | null>(key, () => reason ?? null)) ?? undefined;
}

/** The reason that is assumed until the tool is asked. */
const PENDING = "The tool needs a person's approval for this call.";

function plannedCall(loop: Loop, call: FittingCall): Parameters<typeof approvalReason>[2] {
  const { execution, agent } = loop;
  const { files, state } = toolServicesOf(loop);
  return {
    ...callPlaceOf(loop),
    context: toolContextOf(loop),
    metadata: runOf(loop).metadata,
    callId: call.part.id,
    runId: execution.runId,
    session: execution.session,
    agent: agent.name,
    signal: execution.signal,
    ...(files && { files }),
    ...(state && { state }),
  };
}
