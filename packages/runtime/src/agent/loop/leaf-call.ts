import type { CallId, RunId, SessionId, ToolCall } from "@keelson/protocol";
import { digestOf, shortHash } from "../../json/index.ts";
import type { PendingCall } from "../turn/pending-call.ts";
import { declareInCall } from "../features/effects/declare-in-call.ts";
import { mayRead } from "./may-read.ts";
import { sessionOf, type Loop } from "../turn/loop.ts";

/**
 * What a tool is given beside its input. Its members are its own, so that it can be spread. A class, since a literal with an accessor
 * gets a hidden class of its own each time.
 */
export class LeafCall implements ToolCall {
  readonly callId: CallId;
  readonly runId: RunId;
  readonly session: SessionId;
  readonly agent: string;
  declare readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  declare readonly stopping: AbortSignal;
  readonly progress: ToolCall["progress"];
  readonly declare: NonNullable<ToolCall["declare"]>;
  readonly mayRead: NonNullable<ToolCall["mayRead"]>;
  readonly #loop: Loop;
  readonly #call: PendingCall;

  // Few tools ask for these: the key costs two hashes, the signal a platform's object.
  static readonly #accessors: PropertyDescriptorMap & ThisType<LeafCall> = {
    idempotencyKey: {
      enumerable: true,
      get() {
        return idempotencyKey(this.#loop, this.#call);
      },
    },
    stopping: {
      enumerable: true,
      get() {
        return this.#loop.execution.stopping;
      },
    },
  };

  constructor(loop: Loop, call: PendingCall, number: number, signal: AbortSignal) {
    const { execution } = loop;
    const callId = call.part.id;
    this.callId = callId;
    this.runId = execution.runId;
    this.session = execution.session;
    this.agent = loop.agent.name;
    Object.defineProperties(this, LeafCall.#accessors);
    this.attempt = number;
    this.signal = signal;
    this.progress = (message, ratio) => {
      const isRatio = ratio === undefined || (ratio >= 0 && ratio <= 1);
      execution.emit({ type: "tool-progress", callId, message, ...(isRatio && ratio !== undefined && { ratio }) });
      if (!isRatio) {
        const status = `${call.part.name}: the progress of a call is a ratio from 0 to 1, so ${ratio} was left out`;
        execution.emit({ type: "status", level: "warn", status });
      }
    };
    this.declare = (effect) => declareInCall(loop, call, effect);
    this.mayRead = (path) => mayRead(loop, call, path);
    this.#loop = loop;
    this.#call = call;
    const { cwd } = loop.agent.options;
    Object.assign(this, cwd !== undefined && { cwd }, loop.world);
    if (call.declared !== undefined) call.declared.length = 0;
  }
}

/** The same on every attempt, also where the tool has another version by then. */
export function idempotencyKey(loop: Loop, call: PendingCall): string {
  const first = loop.execution.lookup(`${call.key}/reserved/1`)?.data["idempotencyKey"];
  if (typeof first === "string") return first;
  const tool = call.tool as NonNullable<PendingCall["tool"]>;
  return `k_${shortHash(`${sessionOf(loop).id}/${call.part.id}/${tool.name}/${tool.version}/${digestOf(call.input ?? null)}`, 32)}`;
}
