import type { CallBatch, ToolCall } from "@keelson/protocol";
import type { RunningCall } from "../turn/pending-call.ts";
import { backgroundOf } from "../features/children/background.ts";
import { declareInCall } from "../features/effects/declare-in-call.ts";
import { askInCall } from "./broker/ask-in-call.ts";
import { inferInCall } from "./broker/infer-in-call.ts";
import type { CallBroker } from "./broker/call-broker.ts";
import { guardedSecrets } from "./guarded-secrets.ts";
import { idempotencyKey } from "./idempotency-key.ts";
import { labelledState } from "./labelled-state.ts";
import { hostVerdict, mayReveal } from "./host-verdict.ts";
import { keepValue } from "./keep-value.ts";
import { mayRead } from "./may-read.ts";
import { toolServicesOf } from "../turn/held-services.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { toolContextOf } from "../turn/tool-context.ts";

/** The parts that only an execution of a call has. */
export interface LeafExecution {
  /** Answers what the call asks while it runs. */
  readonly broker: CallBroker;
  readonly batch: CallBatch;
}

/** Makes the second argument of a tool. @param execution absent if the tool only reports the result of an earlier attempt */
export function leafCall(loop: Loop, call: RunningCall, signal: AbortSignal, { broker, batch }: Partial<LeafExecution> = {}): ToolCall {
  const { execution } = loop;
  const { cwd } = loop.agent.options;
  const services = toolServicesOf(loop);
  const { state, secrets } = services;
  const callId = call.part.id;
  return {
    callId,
    runId: execution.runId,
    session: execution.session,
    agent: loop.agent.name,
    idempotencyKey: idempotencyKey(loop, call),
    attempt: call.number,
    signal,
    stopping: execution.stopping,
    progress(message, ratio) {
      const isRatio = ratio === undefined || (ratio >= 0 && ratio <= 1);
      execution.emit({ type: "tool-progress", callId, message, ...(isRatio && ratio !== undefined && { ratio }) });
      if (isRatio) return;
      const status = `${call.part.name}: the progress of a call is a ratio from 0 to 1, so ${ratio} was left out`;
      execution.emit({ type: "status", level: "warn", status });
    },
    follow: (job) => backgroundOf(loop)?.follow(job),
    declare: (effect) => declareInCall(loop, call, effect),
    mayRead: (path) => mayRead(loop, call, path),
    judgeHost: (host, port) => hostVerdict(loop, call, host, port),
    mayReveal: (file) => mayReveal(loop, call, file),
    kept: runOf(loop).callsKept ?? {},
    keep: (name, value) => keepValue(loop, call, name, value),
    markUntrusted: (source) => void call.marks.push(source),
    ...(broker && { ask: (question) => askInCall(broker, question), infer: (request) => inferInCall(broker, request) }),
    ...(batch && { batch }),
    ...(cwd !== undefined && { cwd }),
    ...services,
    ...(state && { state: labelledState(state, (source) => void call.marks.push(source)) }),
    ...(secrets && { secrets: guardedSecrets(loop, call, secrets) }),
    context: toolContextOf(loop),
    metadata: runOf(loop).metadata,
  };
}
