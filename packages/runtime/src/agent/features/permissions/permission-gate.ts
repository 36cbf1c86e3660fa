import { panicError, type CallEffects, type Tool } from "@keelson/protocol";
import { isDispatchTool } from "../../../tools/dispatch-tool.ts";
import type { CompiledPolicy } from "../../definition/permissions/compiled-policy.ts";
import { grantsFor } from "../../definition/permissions/granted-rules.ts";
import { isTransitionTool } from "../../definition/strategies/transition-tool.ts";
import { argumentsText } from "../../turn/call-key.ts";
import { sessionOf, type Loop } from "../../turn/loop.ts";
import type { Gate } from "../../turn/moments.ts";
import { askAbout, refuse, type OpenCall, type SettledCall } from "../../turn/pending-call.ts";
import { decidePermission } from "./decide-permission.ts";
import { policiesOf } from "./run-policies.ts";

/** Holds a call against the policies of its run. */
export const permissionGate: Gate = { name: "permission", pass: checkPermission };

async function checkPermission(loop: Loop, call: OpenCall): Promise<OpenCall | SettledCall> {
  const { tool } = call;
  const effects = tool.effectsOf === undefined || !policiesOf(loop).some(looksAtEffects) ? undefined : await effectsOf(loop, tool, call);
  return judge(loop, effects?.reads === undefined ? call : { ...call, reads: effects.reads }, effects);
}

function judge(loop: Loop, call: OpenCall, effects: CallEffects | undefined): OpenCall | SettledCall {
  const { tool } = call;
  const decision = decidePermission({
    policies: policiesOf(loop),
    // What a child does is judged call by call, under the same policies: starting it changes nothing by itself.
    tool: isDispatchTool(tool) ? { name: tool.name, effect: "read", risk: tool.risk } : tool,
    argumentText: () => permissionTextOf(tool, call),
    argumentsJson: () => argumentsText(call),
    effects,
    cwd: loop.agent.options.cwd,
    // What the strategy adds is in no list that an author wrote.
    allowedTools: isTransitionTool(tool) ? undefined : loop.authority.allowedTools,
    grants: grantsFor(sessionOf(loop).grants, tool.name),
  });
  switch (decision.behavior) {
    case "deny":
      return refuse(call, `Not permitted: ${decision.reason}`);
    case "ask":
      return askAbout(call, decision.reason, decision.always);
    case "allow":
      return call;
  }
}

/** Where everything runs whatever it does, nobody needs to know what that is. */
function looksAtEffects({ mode, rules }: CompiledPolicy): boolean {
  return mode !== "bypass-all" || rules.length > 0;
}

/** Pure, like what follows: it is asked again on replay. */
async function effectsOf(loop: Loop, tool: Tool, call: OpenCall): Promise<CallEffects | undefined> {
  const { cwd } = loop.agent.options;
  try {
    return await tool.effectsOf?.(call.value, cwd === undefined ? {} : { cwd });
  } catch (thrown) {
    throw panicError(`effectsOf of ${tool.name}`, thrown);
  }
}

/** What rules about arguments are held against. */
function permissionTextOf(tool: Tool, call: OpenCall): string {
  try {
    return tool.permissionText?.(call.value) ?? argumentsText(call);
  } catch (thrown) {
    throw panicError(`permissionText of ${tool.name}`, thrown);
  }
}
