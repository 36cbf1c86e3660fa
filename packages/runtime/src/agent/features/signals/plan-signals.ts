import {
  AgentError,
  messageCodec,
  textMessage,
  type InboxEntry,
  type JsonValue,
  type Message,
  type Signal,
  type SignalAction,
} from "@keelson/protocol";
import { canonicalJson } from "../../../json/index.ts";
import { describeValue } from "../../../tools/describe-value.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { runContext } from "../../turn/run-context.ts";
import { openWaits, waitFor, type OpenWait } from "./open-waits.ts";
import type { SignalHandler, SignalResponse } from "../../definition/signals/signal-handler.ts";
import { signalsOf } from "./run-signals.ts";

/** What is to be done about one signal of the inbox. */
export interface SignalPlan {
  readonly signal: Signal;
  /** In a word, for the log: the action of its route, or what is done without one. */
  readonly action: string;
  /** The call that waited for it. */
  readonly wait?: OpenWait;
  readonly message?: Message;
  readonly stopping?: "stop" | "abort";
  readonly state?: string;
}

/**
 * How a signal ends the run, if its route, or the lack of one, says so: told at once to what is running. A predicate that
 * throws says nothing here: the reading of the inbox ends the run for it.
 */
export function stoppingBy(loop: Loop, signal: Signal): "stop" | "abort" | undefined {
  let routed: SignalAction | undefined;
  try {
    routed = signalsOf(loop).router?.route(signal);
  } catch {
    return undefined;
  }
  return stoppingOf(routed ?? defaultAction(signal));
}

/** Decides about all signals of one reading, in their order. Handlers are asked once; what they say is recorded. */
export async function planSignals(loop: Loop, entries: readonly InboxEntry[]): Promise<ReadonlyMap<number, SignalPlan>> {
  const plans = new Map<number, SignalPlan>();
  let waits = openWaits(loop);
  for (const entry of entries) {
    if (entry.type !== "signal") continue;
    const { seq, signal } = entry;
    // Told to an earlier run: only what was said to the model is for this one.
    if (seq <= runOf(loop).inboxBase) {
      const isSaid = !beganWith(loop, signal) && route(loop, signal) === undefined && stoppingOf(defaultAction(signal)) === undefined;
      plans.set(seq, { signal, action: "late", ...(isSaid && { message: messageOf(signal) }) });
      continue;
    }
    const plan = await planSignal(loop, seq, signal, waits);
    waits = waits.filter((wait) => wait !== plan.wait);
    plans.set(seq, plan);
  }
  return plans;
}

/** Whether the run was started for it, by a schedule: its input has said it. */
function beganWith(loop: Loop, { kind, payload }: Signal): boolean {
  const { timer } = runOf(loop).metadata;
  return kind === "timer" && timer !== undefined && canonicalJson(timer) === canonicalJson(payload);
}

async function planSignal(loop: Loop, seq: number, signal: Signal, waits: readonly OpenWait[]): Promise<SignalPlan> {
  const routed = route(loop, signal);
  const action = routed ?? defaultAction(signal);
  const stopping = stoppingOf(action);
  if (stopping) return { signal, action: action.type, stopping };
  const wait = waitFor(waits, signal);
  const given = wait && { wait };
  if (routed === undefined)
    return { signal, ...(given ? { action: "answer", ...given } : { action: "message", message: messageOf(signal) }) };
  if (routed.type !== "custom")
    return { signal, action: routed.type, ...given, ...(routed.type === "transition" && { state: routed.state }) };
  const response = await askHandler(loop, seq, routed.name, signal);
  const ending = stoppingOf(response);
  if (ending) return { signal, action: response.type, stopping: ending };
  return {
    signal,
    action: `custom ${routed.name}`,
    ...given,
    ...(response.type === "message" && { message: textMessage("user", response.text) }),
    ...(response.type === "transition" && { state: response.state }),
  };
}

/** What happens where no route says so: `stop` stops, everything else is told to the model. */
function defaultAction({ kind }: Signal): SignalAction {
  return kind === "stop" ? { type: "graceful-stop" } : { type: "continue" };
}

function stoppingOf({ type }: SignalAction | SignalResponse): "stop" | "abort" | undefined {
  return type === "graceful-stop" ? "stop" : type === "force-stop" ? "abort" : undefined;
}

function route(loop: Loop, signal: Signal): SignalAction | undefined {
  try {
    return signalsOf(loop).router?.route(signal);
  } catch (cause) {
    const message = `a predicate on signals "${signal.kind}" threw: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new AgentError({ kind: "panic", callback: "signalRoutes", message }, { cause });
  }
}

async function askHandler(loop: Loop, seq: number, name: string, signal: Signal): Promise<SignalResponse> {
  const handlers = loop.agent.options.onSignal;
  const handler: SignalHandler | undefined = handlers && Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (handler === undefined) {
    const status = `nothing handles the signal "${signal.kind}": onSignal has no "${name}"`;
    loop.execution.emit({ type: "status", status, level: "warn" });
    return GO_ON;
  }
  const state = runOf(loop).strategyState;
  const context = { ...runContext(loop, 0), ...(state !== undefined && { state }) };
  const decided = await loop.execution.decide(`inbox/${seq}/on-signal`, async () => {
    const response = (await handler(signal, context)) ?? GO_ON;
    if (!RESPONSES.has(response.type))
      throw new TypeError(`onSignal.${name} returned ${describeValue(response)}: return one of ${[...RESPONSES].join(", ")}, or nothing`);
    return response;
  });
  return decided;
}

const GO_ON: SignalResponse = { type: "continue" };
const RESPONSES: ReadonlySet<string> = new Set<SignalResponse["type"]>([
  "continue",
  "graceful-stop",
  "force-stop",
  "transition",
  "message",
]);

/** A signal as the model gets to read it. A `user-message` is one; all else says what it is. */
function messageOf({ kind, payload }: Signal): Message {
  if (kind === "user-message") return userMessage(payload);
  const about = payload === null ? "." : `: ${typeof payload === "string" ? payload : canonicalJson(payload)}`;
  return textMessage("user", `Signal "${kind}"${about}`);
}

function userMessage(payload: JsonValue): Message {
  if (typeof payload === "string") return textMessage("user", payload);
  const { text, message } = (payload ?? {}) as { readonly text?: unknown; readonly message?: JsonValue };
  if (typeof text === "string") return textMessage("user", text);
  try {
    const decoded = messageCodec.decode(message ?? payload);
    if (decoded.role === "user" || decoded.role === "system") return decoded;
  } catch {
    // Not a message: it is told as the data it is.
  }
  return textMessage("user", canonicalJson(payload));
}
