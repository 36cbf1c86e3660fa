import { AgentError, messageCodec, type InboxEntry, type JsonValue, type Message } from "@keelson/protocol";
import { grantedPatterns } from "../definition/permissions/granted-rules.ts";
import { areCallsUnjudged, currentPermissionMode } from "../features/permissions/run-policies.ts";
import { applySignal } from "../features/signals/apply-signal.ts";
import { planSignals, type SignalPlan } from "../features/signals/plan-signals.ts";
import { runOf, sessionOf, type Loop } from "../turn/loop.ts";
import { backgroundOf } from "../features/children/background.ts";

/**
 * Reads what others wrote since the last point, and acts on it: steering, stop, abort, another model, permission mode or effort, decisions, signals. Rules may look at
 * steering first. All of one reading goes into one append, so that nothing of it is lost or done twice.
 */
export async function readInbox(loop: Loop): Promise<void> {
  const entries = await loop.execution.unread();
  if (entries.length === 0) return;
  const signals = entries.some(({ type }) => type === "signal") ? await planSignals(loop, entries) : NO_SIGNALS;
  const steering = await admitSteering(loop, entries, signals);
  const { execution } = loop;
  const session = sessionOf(loop);
  const base = runOf(loop).inboxBase;
  for (const entry of entries) {
    const key = `inbox/${entry.seq}`;
    // What an earlier run was told and did not get to read: its end made it void, except for what was said to the model.
    const late = entry.seq <= base;
    switch (entry.type) {
      case "steer": {
        const message = steering.get(entry.seq);
        if (message) execution.put(key, "steer", { message, interrupt: entry.interrupt });
        break;
      }
      case "set-model":
        // A run that begins later takes it into account from its beginning, where it may have been given another.
        if (!late && (entry.agent ?? runOf(loop).agent) === runOf(loop).agent && entry.model !== runOf(loop).model)
          execution.put(key, "model-switch", { from: runOf(loop).model, to: entry.model, reason: "set-model" });
        break;
      case "set-permission-mode": {
        const from = currentPermissionMode(loop);
        if (late || entry.mode === (runOf(loop).permissionMode ?? from)) break;
        execution.put(key, "permission-mode-switch", {
          from,
          to: entry.mode,
          ...(areCallsUnjudged(loop) && { openCalls: true as const }),
        });
        break;
      }
      case "set-effort": {
        const from = runOf(loop).effort ?? null;
        if (!late && entry.effort !== from) execution.put(key, "effort-switch", { from, to: entry.effort });
        break;
      }
      case "decision": {
        const request = session.run?.questions.get(entry.key);
        if (request && request.decision === undefined && entry.decision.type !== "other") {
          execution.put(
            key,
            "approval-decision",
            {
              callId: request.callId,
              nonce: entry.key,
              decision: entry.decision,
              ...(entry.decision.type === "allow-always" && { rules: grantedPatterns(entry.decision.rules, request.always) }),
            },
            "power",
          );
        }
        break;
      }
      case "signal":
        applySignal(loop, key, signals.get(entry.seq) as SignalPlan, steering.get(entry.seq));
        break;
      case "supervise":
        if (!late) backgroundOf(loop)?.supervise(entry.action, entry.child, key);
        break;
      default:
        break;
    }
    const signal = signals.get(entry.seq);
    const stopping = signal ? signal.stopping : !late && (entry.type === "stop" || entry.type === "abort") ? entry.type : undefined;
    execution.put(`${key}/read`, "inbox-read", {
      upTo: entry.seq,
      ...(stopping && { stopping }),
      ...(stopping && (entry.type === "stop" || entry.type === "abort") && entry.reason !== undefined && { why: entry.reason }),
      ...(entry.type === "compact" && { compact: true as const, ...(entry.keep !== undefined && { compactKeep: entry.keep }) }),
      ...(entry.type === "set-model" && { setModel: { agent: entry.agent ?? runOf(loop).agent, model: entry.model } }),
      ...(signal && { signal: { kind: signal.signal.kind, action: signal.action } }),
    });
  }
}

const NO_SIGNALS: ReadonlyMap<number, SignalPlan> = new Map();

async function admitSteering(
  loop: Loop,
  entries: readonly InboxEntry[],
  signals: ReadonlyMap<number, SignalPlan>,
): Promise<ReadonlyMap<number, Message>> {
  const admitted = new Map<number, Message>();
  for (const entry of entries) {
    const message = entry.type === "steer" ? entry.message : signals.get(entry.seq)?.message;
    if (message === undefined) continue;
    const given = { messages: [message] };
    const final = await loop.context.run<Message | undefined>({
      type: "inject-steering",
      key: `inbox/${entry.seq}`,
      input: given,
      execute: (_context, input) =>
        input === given ? message : steeringOf((input as { readonly messages?: readonly JsonValue[] } | null)?.messages?.[0]),
      accept: steeringOf,
    });
    if (final) admitted.set(entry.seq, final);
  }
  return admitted;
}

/** What a rule made of steering: another message, or nothing. */
function steeringOf(value: JsonValue | undefined): Message | undefined {
  if (value === undefined || value === null) return undefined;
  try {
    return messageCodec.decode(value);
  } catch (cause) {
    const message = `a rule put something in the place of steering that is no message (${cause instanceof Error ? cause.message : String(cause)}): return a message, or null to withhold it`;
    throw new AgentError({ kind: "panic", callback: "a rule on inject-steering", message }, { cause });
  }
}
