import { ModelError, type CallId, type InferEvent, type InferRequest, type StepFailure } from "@keelson/protocol";
import type { InferFold } from "../../providers/infer-fold.ts";
import { canPoll, type PolledEvents } from "../../providers/polled-events.ts";
import { stepFailureOf } from "../../session/execution.ts";
import type { Model } from "../model-source.ts";
import type { AttemptEnd } from "./attempt-signal.ts";
import type { Loop } from "./loop.ts";

/** How long a provider has to end its stream once it was told to; then it is left behind. */
const GRACE_MS = 500;

/**
 * Feeds the provider's stream into the fold and to watchers. Leaves early once the answer is longer than allowed.
 * @returns why there is no answer, where there is none
 */
export function streamAnswer(
  loop: Loop,
  model: Model,
  request: InferRequest,
  fold: InferFold,
  key: string,
  callIdAt: (index: number) => CallId,
): Promise<StepFailure | undefined> {
  loop.partials?.begin(fold);
  return new Promise((resolve) => {
    void new AnswerStream(loop, model, fold, callIdAt, resolve).consume(request, `${loop.execution.runId}/${key}`);
  });
}

class AnswerStream implements AttemptEnd {
  readonly #loop: Loop;
  readonly #model: Model;
  readonly #fold: InferFold;
  readonly #callIdAt: (index: number) => CallId;
  readonly #settle: (failure: StepFailure | undefined) => void;
  #over = false;
  #isFired = false;
  #cancelGrace: (() => void) | undefined;

  constructor(
    loop: Loop,
    model: Model,
    fold: InferFold,
    callIdAt: (index: number) => CallId,
    settle: (failure: StepFailure | undefined) => void,
  ) {
    this.#loop = loop;
    this.#model = model;
    this.#fold = fold;
    this.#callIdAt = callIdAt;
    this.#settle = settle;
  }

  /** Never rejects: what comes of it is told to whoever waits for the answer. */
  async consume(request: InferRequest, idempotencyKey: string): Promise<void> {
    const loop = this.#loop;
    try {
      const signal = loop.attempts.begin(this);
      const events = this.#model.provider.stream(request, { signal, idempotencyKey, conversation: loop.context.conversation });
      const polled = canPoll(events) ? events : undefined;
      for await (const first of events) if (!this.#take(first, polled)) break;
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#fold.end === undefined && !this.#fold.overflowed) this.#fail(endedEarly(this.#model));
    else if (this.#end()) this.#settle(undefined);
  }

  /** A provider that does not heed its signal must not hold up the run. */
  fired(): void {
    this.#isFired = true;
    this.#cancelGrace = this.#loop.execution.clock.after(GRACE_MS, () => this.#fail(leftBehind(this.#model)));
  }

  /** Takes an event and what is there behind it. @returns whether more is wanted */
  #take(first: InferEvent, polled: PolledEvents | undefined): boolean {
    const { partials } = this.#loop;
    // Nobody begins to watch between events that are there together.
    const isWatched = this.#loop.hub.watched;
    for (let event: InferEvent | undefined = first; event !== undefined; event = polled?.poll()) {
      if (this.#over) return false;
      this.#fold.push(event);
      partials?.push(event);
      if (isWatched) show(this.#loop, event, this.#callIdAt);
      if (this.#fold.overflowed) return false;
      const texts = event.type === "text-delta" ? polled?.pollTexts() : undefined;
      if (texts !== undefined && !this.#takeTexts(texts)) return false;
    }
    return true;
  }

  /** As `#take` with a delta of each of these: only for watchers is each something by itself. */
  #takeTexts(texts: readonly string[]): boolean {
    const text = texts.join("");
    if (this.#over || !this.#fold.fits(text)) return texts.every((piece) => this.#take({ type: "text-delta", text: piece }, undefined));
    const event: InferEvent = { type: "text-delta", text };
    this.#fold.push(event);
    this.#loop.partials?.push(event);
    this.#loop.hub.deltas("text-delta", texts);
    return true;
  }

  #fail(error: unknown): void {
    if (this.#end()) this.#settle(stepFailureOf(this.#isFired ? error : failureOf(error, this.#model)));
  }

  /** False for a stream that was left behind: what it comes to is nobody's any more; another attempt may be under way. */
  #end(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#cancelGrace?.();
    this.#loop.attempts.end();
    return true;
  }
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
      loop.hub.delta(event.type, event.text);
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
