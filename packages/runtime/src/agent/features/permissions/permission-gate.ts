import { panicError, type CallEffects, type Tool, type ToolEffect } from "@keelson/protocol";
import { isDispatchTool } from "../../../tools/dispatch-tool.ts";
import type { CompiledPolicy } from "../../definition/permissions/compiled-policy.ts";
import { grantsFor } from "../../definition/permissions/granted-rules.ts";
import { isSearchTool } from "../../definition/tool-sources/search-tool.ts";
import { isTransitionTool } from "../../definition/strategies/transition-tool.ts";
import { argumentsText } from "../../turn/call-key.ts";
import { callPlaceOf } from "../../turn/held-services.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import type { Gate } from "../../turn/moments.ts";
import { isSourceTool } from "../../turn/source-tool.ts";
import { askAbout, refuse, type FittingCall, type OpenCall, type SettledCall } from "../../turn/pending-call.ts";
import type { PermissionDecision } from "../../definition/permissions/permission-decision.ts";
import { decidePermission } from "./decide-permission.ts";
import { neededApproval } from "./needed-approval.ts";
import { policiesOf } from "./run-policies.ts";

/** Holds a call against the policies of its run. */
export const permissionGate: Gate = { name: "permission", pass: checkPermission };

async function checkPermission(loop: Loop, call: OpenCall): Promise<OpenCall | SettledCall> {
  const { tool } = call;
  // It tells what the model may be told anyway.
  if (isSearchTool(tool)) return call;
  const told = tool.effectsOf === undefined ? undefined : await toldEffects(loop, tool, call);
  const { reads = call.reads, secrets = call.secrets } = told?.judged ?? {};
  return judge(loop, { ...call, reads, secrets, effect: narrowed(tool.effect, told?.effect) }, told?.judged);
}

/** The answer of a tool about a call: the effects that rules judge, if there are rules, and the effect of the call. */
interface ToldEffects {
  readonly judged: CallEffects | undefined;
  readonly effect: CallEffects["effect"];
}

async function toldEffects(loop: Loop, tool: Tool, call: FittingCall): Promise<ToldEffects> {
  if (policiesOf(loop).some(looksAtEffects)) {
    const judged = await effectsOf(loop, tool, call);
    return { judged, effect: judged?.effect };
  }
  if (tool.effect === "read") return { judged: undefined, effect: undefined };
  // No rule judges it, so a call whose tool fails here keeps the effect of its tool.
  const found = await effectsOf(loop, tool, call).catch(() => undefined);
  return { judged: undefined, effect: found?.effect };
}

const EFFECTS: readonly ToolEffect[] = ["read", "idempotent", "write"];

/** The lesser of the two. */
function narrowed(own: ToolEffect, told: ToolEffect | undefined): ToolEffect {
  return told !== undefined && EFFECTS.includes(told) && EFFECTS.indexOf(told) < EFFECTS.indexOf(own) ? told : own;
}

async function judge(loop: Loop, call: OpenCall, effects: CallEffects | undefined): Promise<OpenCall | SettledCall> {
  const approval = await neededApproval(loop, call, (reason) => decideAbout(loop, call, effects, reason));
  const decision = decideAbout(loop, call, effects, approval);
  switch (decision.behavior) {
    case "deny":
      return refuse(call, `Not permitted: ${decision.reason}`);
    case "ask":
      return askAbout(call, decision.reason, decision.always, decision.shown);
    case "allow":
      return call;
  }
}

function decideAbout(loop: Loop, call: FittingCall, effects: CallEffects | undefined, approval?: string): PermissionDecision {
  const { tool } = call;
  return decidePermission({
    policies: policiesOf(loop),
    // What a child does is judged call by call, under the same policies: starting it changes nothing by itself.
    tool: isDispatchTool(tool) ? { name: tool.name, effect: "read", risk: tool.risk } : tool,
    argumentText: () => permissionTextOf(tool, call, effects),
    argumentsJson: () => argumentsText(call),
    effects,
    cwd: loop.agent.options.cwd,
    // What the strategy adds is in no list that an author wrote.
    allowedTools: isTransitionTool(tool) ? undefined : loop.authority.allowedTools,
    grants: grantsFor(sessionOf(loop).grants, tool.name),
    untrusted: runOf(loop).callsUntrusted,
    changed: isSourceTool(tool) ? tool.liveOf.changed : undefined,
    approval,
  });
}

/** Whether a call that runs may be given a secret of which its tool had said nothing before: where that needs nobody's word. */
export async function mayUseSecret(loop: Loop, call: FittingCall, reference: string): Promise<boolean> {
  if (runOf(loop).callsUntrusted === undefined || call.secrets.includes(reference)) return true;
  const effects = await effectsOf(loop, call.tool, call);
  return decideAbout(loop, call, { ...effects, secrets: [...(effects?.secrets ?? []), reference] }).behavior === "allow";
}

/** Where everything runs whatever it does, nobody needs to know what that is. */
function looksAtEffects({ mode, rules, bounds }: CompiledPolicy): boolean {
  return mode !== "bypass-all" || rules.length > 0 || bounds !== undefined;
}

/** Runs nothing, like what follows: it is asked again on replay. */
async function effectsOf(loop: Loop, tool: Tool, call: FittingCall): Promise<CallEffects | undefined> {
  try {
    return await tool.effectsOf?.(call.value, callPlaceOf(loop));
  } catch (thrown) {
    // A rehearsal makes no context, without which a tool may not know.
    if (tool.needsContext) loop.execution.goOutside(`effectsOf of ${tool.name}`);
    throw panicError(`effectsOf of ${tool.name}`, thrown);
  }
}

/** What rules about arguments are held against. */
function permissionTextOf(tool: Tool, call: FittingCall, effects: CallEffects | undefined): string {
  try {
    return tool.permissionText?.(call.value, effects) ?? argumentsText(call);
  } catch (thrown) {
    throw panicError(`permissionText of ${tool.name}`, thrown);
  }
}
