import { ModelError, type CallId, type InferEvent, type InferRequest, type StepAttempt } from "@keelson/protocol";
import type { InferFold } from "../../providers/infer-fold.ts";
import { canPoll } from "../../providers/polled-events.ts";
import type { Model } from "../model-source.ts";
import type { Loop } from "./loop.ts";

/** How long a provider has to end its stream once it was told to; then it is left behind. */
const GRACE_MS = 500;

/** Feeds the provider's stream into the fold and to watchers. Leaves early once the answer is longer than allowed. */
export function streamAnswer(
  loop: Loop,
  model: Model,
  request: InferRequest,
  fold: InferFold,
  attempt: StepAttempt,
  callIdAt: (index: number) => CallId,
): Promise<true> {
  const { partials } = loop;
  partials?.begin(fold);
  return new Promise((resolve, reject) => {
    let over = false;
    let cancelGrace = (): void => {};
    const end = (settle: () => void): void => {
      // What a stream that was left behind comes to is nobody's any more; another attempt may be under way.
      if (over) return;
      over = true;
      cancelGrace();
      loop.attempts.end();
      settle();
    };
    const fail = (error: unknown): void => end(() => reject(signal.aborted ? error : failureOf(error, model)));
    // A provider that does not heed its signal must not hold up the run.
    const signal = loop.attempts.begin(() => {
      cancelGrace = loop.execution.clock.after(GRACE_MS, () => fail(leftBehind(model)));
    });
    const consume = async (): Promise<void> => {
      const events = model.provider.stream(request, {
        signal,
        idempotencyKey: attempt.idempotencyKey,
        conversation: loop.context.conversation,
      });
      const polled = canPoll(events) ? events : undefined;
      for await (const first of events) {
        // Nobody begins to watch between events that are there together.
        const isWatched = loop.watched();
        for (let event: InferEvent | undefined = first; event !== undefined; event = polled?.poll()) {
          if (over) return;
          fold.push(event);
          partials?.push(event);
          if (isWatched) show(loop, event, callIdAt);
          if (fold.overflowed) return;
        }
      }
    };
    const finish = (): void => (fold.end === undefined && !fold.overflowed ? reject(endedEarly(model)) : resolve(true));
    consume().then(() => end(finish), fail);
  });
}

/** A cancellation by nobody here is a failure like any other of the vendor's. */
function failureOf(error: unknown, model: Model): unknown {
  if (!ModelError.is(error, "cancelled")) return error;
  return new ModelError(
    {
      kind: "server-error",
      message: `${model.reference} cancelled its answer: ${error.message}`,
      provider: model.provider.name,
      model: model.id,
    },
    { cause: error },
  );
}

function endedEarly(model: Model): ModelError {
  return new ModelError({
    kind: "server-error",
    message: `the stream of ${model.reference} ended before its end`,
    provider: model.provider.name,
    model: model.id,
  });
}

function leftBehind(model: Model): ModelError {
  return new ModelError({
    kind: "cancelled",
    message: `the call of ${model.reference} was cancelled and left behind: it did not end by itself`,
    provider: model.provider.name,
    model: model.id,
  });
}

function show(loop: Loop, event: InferEvent, callIdAt: (index: number) => CallId): void {
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
      loop.execution.emit({ type: "tool-call-start", callId: callIdAt(event.index), name: event.name });
      return;
    case "tool-call-delta":
      loop.execution.emit({ type: "tool-call-delta", callId: callIdAt(event.index), text: event.text });
      return;
    case "tool-call-end":
      loop.execution.emit({ type: "tool-call-end", callId: callIdAt(event.index) });
      return;
    case "content":
      loop.execution.emit({ type: "content", part: event.part });
      return;
    case "rate-limit":
    case "end":
      return;
  }
}
