import { ModelError, type InferEvent, type InferRequest, type StepAttempt } from "@keelson/protocol";
import type { InferFold } from "../../providers/infer-fold.ts";
import type { Clock } from "../../session/clock.ts";
import type { Model } from "../model-source.ts";
import { callIdOf } from "./call-id.ts";
import { runOf, type Loop } from "./loop.ts";

/** How long a provider has to end its stream once it was told to; then it is left behind. */
const GRACE_MS = 500;

/** Feeds the provider's stream into the fold and to watchers. Leaves early once the answer is longer than allowed. */
export async function streamAnswer(
  loop: Loop,
  model: Model,
  request: InferRequest,
  fold: InferFold,
  attempt: StepAttempt,
  modelCall: number,
): Promise<true> {
  // The run's signal, or a message that interrupts, ends this attempt.
  const controller = new AbortController();
  const abort = (): void => controller.abort(attempt.signal.reason);
  attempt.signal.addEventListener("abort", abort, { once: true });
  if (attempt.signal.aborted) abort();
  loop.interrupt = () => controller.abort("interrupted");
  let over = false;
  const consume = async (): Promise<void> => {
    const callIds: string[] = [];
    for await (const event of model.provider.stream(request, {
      signal: controller.signal,
      idempotencyKey: attempt.idempotencyKey,
      conversation: loop.context.conversation,
    })) {
      if (over) return;
      fold.push(event);
      if (loop.watched()) show(loop, event, callIds, modelCall);
      if (fold.overflowed) return;
    }
  };
  try {
    await orLeave(consume(), controller.signal, loop.execution.clock, model);
  } catch (error) {
    if (controller.signal.aborted || !ModelError.is(error, "cancelled")) throw error;
    // Nobody here cancelled it, so it is a failure like any other of the vendor's.
    throw new ModelError(
      {
        kind: "server-error",
        message: `${model.reference} cancelled its answer: ${error.message}`,
        provider: model.provider.name,
        model: model.id,
      },
      { cause: error },
    );
  } finally {
    over = true;
    loop.interrupt = undefined;
    attempt.signal.removeEventListener("abort", abort);
  }
  if (fold.end === undefined && !fold.overflowed)
    throw new ModelError({
      kind: "server-error",
      message: `the stream of ${model.reference} ended before its end`,
      provider: model.provider.name,
      model: model.id,
    });
  return true;
}

/** Waits for a stream, but not for good once it was told to end: a provider that does not heed its signal must not hold up the run. */
function orLeave(stream: Promise<void>, signal: AbortSignal, clock: Clock, model: Model): Promise<void> {
  return new Promise((resolve, reject) => {
    let cancel = (): void => {};
    const onAbort = (): void => {
      cancel = clock.after(GRACE_MS, () => {
        reject(
          new ModelError({
            kind: "cancelled",
            message: `the call of ${model.reference} was cancelled and left behind: it did not end by itself`,
            provider: model.provider.name,
            model: model.id,
          }),
        );
      });
    };
    const end = (settle: () => void): void => {
      cancel();
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    stream.then(
      () => end(resolve),
      (error: unknown) => end(() => reject(error)),
    );
  });
}

function show(loop: Loop, event: InferEvent, callIds: string[], modelCall: number): void {
  // A watcher may come in the middle of a call.
  const callId = (index: number): never => (callIds[index] ??= callIdOf(runOf(loop), modelCall, index)) as never;
  switch (event.type) {
    case "text-delta":
    case "thinking-delta":
      loop.delta(event.type, event.text);
      return;
    case "text-start":
    case "text-end":
    case "thinking-start":
    case "thinking-end":
      loop.execution.emit({ type: event.type });
      return;
    case "tool-call-start":
      loop.execution.emit({ type: "tool-call-start", callId: callId(event.index), name: event.name });
      return;
    case "tool-call-delta":
      loop.execution.emit({ type: "tool-call-delta", callId: callId(event.index), text: event.text });
      return;
    case "tool-call-end":
      loop.execution.emit({ type: "tool-call-end", callId: callId(event.index) });
      return;
    case "content":
      loop.execution.emit({ type: "content", part: event.part });
      return;
    case "rate-limit":
    case "end":
      return;
  }
}
