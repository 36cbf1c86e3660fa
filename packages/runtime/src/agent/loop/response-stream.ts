import { ModelError, type CallId, type InferEvent, type InferRequest, type StepFailure, type TransientEvent } from "@keelson/protocol";
import type { InferFold } from "../../providers/infer-fold.ts";
import { canPoll, type PolledEvents } from "../../providers/polled-events.ts";
import { stepFailureOf } from "../../session/step-failure.ts";
import type { Model } from "../definition/model-source.ts";
import { callIdAt } from "../turn/call-id.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { partialsOf } from "../features/output/partial-outputs.ts";

/** How long a provider has to end its stream once it was told to; then it is left behind. */
const GRACE_MS = 500;

/** A call of the model. */
export interface ModelCall {
  readonly key: string;
  readonly modelCall: number;
  readonly model: Model;
  readonly fold: InferFold;
  /** It is no response of the run: nobody watches it. */
  readonly hidden?: true;
}

/** Feeds the provider's stream into the fold and to watchers. Leaves early once the response is longer than allowed. */
export class ResponseStream {
  readonly #loop: Loop;
  readonly #asked: ModelCall;
  /** Not that of `#consume`: a stream may be left behind. */
  readonly #ended = Promise.withResolvers<StepFailure | undefined>();
  #over = false;
  /** The request was lost with a kept connection: it can be sent again at once. */
  lost = false;
  #isFired = false;
  #cancelGrace: (() => void) | undefined;

  constructor(loop: Loop, asked: ModelCall) {
    this.#loop = loop;
    this.#asked = asked;
  }

  /** Once. @returns why there is no response, where there is none */
  read(request: InferRequest): Promise<StepFailure | undefined> {
    this.#loop.execution.goOutside(`the model ${this.#asked.model.reference}`);
    if (!this.#asked.hidden) {
      this.#loop.hub.nextAttempt(() => this.#soFar());
      partialsOf(this.#loop)?.begin(this.#asked.fold);
    }
    void this.#consume(request);
    return this.#ended.promise;
  }

  /** Never rejects: what comes of it is told to whoever waits for the response. */
  async #consume(request: InferRequest): Promise<void> {
    const { attempts, context, execution } = this.#loop;
    try {
      const events = this.#asked.model.provider.stream(request, {
        signal: attempts.begin(() => this.#leaveSoon()),
        idempotencyKey: `${execution.runId}/${this.#asked.key}`,
        conversation: context.conversation,
        // What was lost may be billed: another try needs a reservation of its own.
        resendLost: () => {
          this.lost = true;
          return false;
        },
      });
      const polled = canPoll(events) ? events : undefined;
      for await (const first of events) if (!this.#take(first, polled)) break;
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#asked.fold.end === undefined && !this.#asked.fold.overflowed) this.#fail(endedEarly(this.#asked.model));
    else if (this.#end()) this.#ended.resolve(undefined);
  }

  /** A provider that ignores its signal must not hold up the run. */
  #leaveSoon(): void {
    this.#isFired = true;
    this.#cancelGrace = this.#loop.execution.clock.after(GRACE_MS, () => this.#fail(leftBehind(this.#asked.model)));
  }

  /** Takes an event and what is there behind it. @returns whether more is wanted */
  #take(first: InferEvent, polled: PolledEvents | undefined): boolean {
    const { hidden } = this.#asked;
    const partials = hidden ? undefined : partialsOf(this.#loop);
    // Nobody begins to watch between events that are there together.
    const isWatched = !hidden && this.#loop.hub.watched;
    for (let event: InferEvent | undefined = first; event !== undefined; event = polled?.poll()) {
      if (this.#over) return false;
      this.#asked.fold.push(event);
      partials?.push(event);
      if (isWatched) this.#show(event);
      if (this.#asked.fold.overflowed) return false;
      const texts = event.type === "text-delta" && !hidden ? polled?.pollTexts() : undefined;
      if (texts !== undefined && !this.#takeTexts(texts)) return false;
    }
    return true;
  }

  /** As `#take` with a delta of each of these: only for watchers is each something by itself. */
  #takeTexts(texts: readonly string[]): boolean {
    const text = texts.join("");
    if (this.#over || !this.#asked.fold.fits(text))
      return texts.every((piece) => this.#take({ type: "text-delta", text: piece }, undefined));
    const event: InferEvent = { type: "text-delta", text };
    this.#asked.fold.push(event);
    partialsOf(this.#loop)?.push(event);
    this.#loop.hub.deltas("text-delta", texts);
    return true;
  }

  #show(event: InferEvent): void {
    const { hub, execution } = this.#loop;
    switch (event.type) {
      case "text-delta":
      case "thinking-delta":
        hub.delta(event.type, event.text);
        return;
      case "text-start":
      case "text-end":
      case "thinking-start":
      case "thinking-end":
        execution.emit({ type: event.type });
        return;
      case "tool-call-start":
        execution.emit({ type: "tool-call-start", callId: this.#callIdAt(event.index), name: event.name });
        return;
      case "tool-call-delta":
        execution.emit({ type: "tool-call-delta", callId: this.#callIdAt(event.index), text: event.text });
        return;
      case "tool-call-end":
        execution.emit({ type: "tool-call-end", callId: this.#callIdAt(event.index) });
        return;
      case "content":
        execution.emit({ type: "content", part: event.part });
        return;
      case "rate-limit":
      case "end":
        return;
    }
  }

  /** What it has said, for whoever begins to watch now: each part in one piece, the last one open. */
  #soFar(): readonly TransientEvent[] {
    const { content } = this.#asked.fold;
    let calls = 0;
    return content.flatMap((part, index): readonly TransientEvent[] => {
      const isOpen = index === content.length - 1 && this.#asked.fold.end === undefined;
      switch (part.type) {
        case "text":
          return [{ type: "text-start" }, { type: "text-delta", text: part.text }, ...(isOpen ? [] : [{ type: "text-end" as const }])];
        case "thinking":
          return [
            { type: "thinking-start" },
            { type: "thinking-delta", text: part.text },
            ...(isOpen ? [] : [{ type: "thinking-end" as const }]),
          ];
        case "tool-call": {
          const callId = this.#callIdAt(calls++);
          return [
            { type: "tool-call-start", callId, name: part.name },
            { type: "tool-call-delta", callId, text: part.inputText },
            ...(part.input === undefined ? [] : [{ type: "tool-call-end" as const, callId }]),
          ];
        }
        default:
          return [{ type: "content", part }];
      }
    });
  }

  #callIdAt(index: number): CallId {
    return callIdAt(this.#loop.callPrefix, runOf(this.#loop).turn, this.#asked.modelCall, index);
  }

  #fail(error: unknown): void {
    if (this.#end()) this.#ended.resolve(stepFailureOf(this.#isFired ? error : failureOf(error, this.#asked.model)));
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
      message: `${model.reference} cancelled its response: ${error.message}`,
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
