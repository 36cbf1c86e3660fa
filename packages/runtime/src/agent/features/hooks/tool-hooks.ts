import { textMessage } from "@keelson/protocol";
import { canonicalJson, shortHash } from "../../../json/index.ts";
import { guardKey } from "../../turn/call-key.ts";
import { askAbout, refuse, type EndedCall, type OpenCall, type PendingCall, type SettledCall } from "../../turn/pending-call.ts";
import type { Loop } from "../../turn/loop.ts";
import { askHooks } from "./ask-hooks.ts";
import { haltedBy } from "./halted-by-hook.ts";
import type { HookVerdict } from "../../definition/hooks/hook.ts";
import type { RegisteredHook } from "../../definition/hooks/hook-registry.ts";
import { hooksAt, hooksOf } from "./loop-hooks.ts";
import type { Gate } from "../../turn/moments.ts";

/** The last gate before people are asked. It can refuse a call or have a person asked, and never lets one through that another gate stopped. */
export const preToolUseGate: Gate = {
  name: "pre-tool-use hooks",
  applies: (loop) => hooksOf(loop) !== undefined,
  async pass(loop, call) {
    const hooks = hooksAt(loop, "pre-tool-use", call.tool.name);
    return hooks === undefined ? call : applyVerdict(loop, call, await judge(loop, call, hooks));
  },
};

async function judge(loop: Loop, call: OpenCall, hooks: readonly RegisteredHook<"pre-tool-use">[]): Promise<HookVerdict | undefined> {
  const toolName = call.tool.name;
  return askHooks(loop, {
    point: "pre-tool-use",
    // Another call, by its arguments, is another question: the verdict about the old one is not used.
    key: `${call.key}/hooks/pre/${call.edits}/${call.input === call.part.input ? "given" : shortHash(guardKey(toolName, call), 8)}`,
    hooks,
    payload: { toolName, arguments: call.input },
    callId: call.part.id,
  });
}

function applyVerdict(loop: Loop, call: OpenCall, verdict: HookVerdict | undefined): OpenCall | SettledCall {
  if (verdict === undefined) return call;
  const reason = `the hook "${verdict.by}": ${verdict.reason}`;
  if (verdict.type === "abort") {
    if (verdict.ends === "run") throw haltedBy(verdict);
    return refuse(call, `Refused by ${reason}`);
  }
  if (loop.authority.policies.some(({ mode }) => mode === "deny-unauthorized"))
    return refuse(call, `Not permitted: ${reason}. It wants a person asked, and in the mode deny-unauthorized nobody is.`);
  // Nothing can be allowed for good: the hook asks again, whatever was allowed.
  return askAbout(call, call.state === "asking" ? `${call.reason}; ${reason}` : reason);
}

/** Keeps, beside a result, the arguments that the tool was given where they are not those of the model: hooks may have to be told after a crash. */
export function noteArguments(loop: Loop, { key, input, part }: EndedCall): void {
  if (input === undefined || input === part.input || canonicalJson(input) === canonicalJson(part.input ?? null)) return;
  loop.execution.put(`${key}/hooks/arguments`, "hook-arguments", { arguments: input });
}

/**
 * Shows hooks the calls that ran, once their results are in the log. Results that an earlier life of the run left without
 * their hooks are shown now.
 * @throws RunEnding when a hook aborts: the calls ran, so what is left to abort is the run
 */
export async function afterTools(loop: Loop, calls: readonly Pick<PendingCall, "key" | "part">[]): Promise<void> {
  for (const call of calls) {
    const verdict = await afterTool(loop, call);
    if (verdict?.type === "abort") throw haltedBy(verdict);
  }
}

async function afterTool(loop: Loop, { key, part }: Pick<PendingCall, "key" | "part">): Promise<HookVerdict | undefined> {
  const { execution } = loop;
  const all = hooksOf(loop);
  const result = execution.lookup(`${key}/result`, "tool-result")?.data;
  if (all === undefined || result?.executed === undefined) return undefined;
  const { name: toolName, output } = result;
  const payload = {
    toolName,
    arguments: execution.lookup(`${key}/hooks/arguments`, "hook-arguments")?.data.arguments ?? part.input ?? null,
  };
  const place = { key: `${key}/hooks/post`, callId: part.id };
  // Whatever becomes of the hooks, what the tool did is known then.
  if (result.isError) {
    const hooks = hooksAt(loop, "post-tool-use-failure", toolName);
    if (hooks === undefined) return undefined;
    await execution.flush();
    const error = typeof output === "string" ? output : JSON.stringify(output);
    return askHooks(loop, { ...place, point: "post-tool-use-failure", hooks, payload: { ...payload, error } });
  }
  const hooks = hooksAt(loop, "post-tool-use", toolName);
  if (hooks === undefined) return undefined;
  await execution.flush();
  return askHooks(loop, { ...place, point: "post-tool-use", hooks, payload: { ...payload, output } });
}

/** Passes on to the model, behind the results, what hooks have to say about them. */
export function addHookRemarks(loop: Loop, turn: string, calls: readonly Pick<PendingCall, "key" | "part">[]): void {
  const { execution } = loop;
  const remarks = calls.flatMap(({ key, part }) => {
    const verdict = execution.lookup(`${key}/hooks/post`, "decision")?.data.value as HookVerdict | undefined;
    return verdict?.type === "tell"
      ? [`About the result of ${part.name} (${part.id}), from the hook "${verdict.by}": ${verdict.reason}`]
      : [];
  });
  if (remarks.length > 0)
    execution.put(`${turn}/hooks/${calls[0]?.part.id ?? ""}`, "message", { message: textMessage("system", remarks.join("\n")) });
}
