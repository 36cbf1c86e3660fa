import { ModelError, type InferEvent, type ModelFailure } from "@keelson/protocol";
import type { ChaosFault, FaultHand } from "./fault.ts";

type ModelStream = NonNullable<ChaosFault["stream"]>;

/** Failures that vendors get over: a run that asks again ends as it would have ended. One that does not may end with the failure. */
const modelFault = (name: string, stream: ModelStream): ChaosFault => ({ name, seams: ["model"], stream, mayEnd: ["error"] });

export const rateLimited: ChaosFault = modelFault("429 at", failing({ kind: "rate-limit", status: 429, retryAfterMs: 7_000 }));
export const serverError: ChaosFault = modelFault("500 at", failing({ kind: "server-error", status: 500 }));
export const overloaded: ChaosFault = modelFault("529 at", failing({ kind: "server-error", status: 529 }));
/** The vendor says that the conversation is too long for the model. */
export const contextOverflow: ChaosFault = modelFault("context overflow at", failing({ kind: "context-overflow", status: 400 }));

/** The connection is reset before anything came. */
export const noResponse: ChaosFault = modelFault("no response at", failing({ kind: "server-error" }));

/** The connection is reset in the middle of the response. */
export const streamReset: ChaosFault = modelFault("reset amid", async function* (respond, hand) {
  yield* halfOf(await respond(), hand);
  throw new ModelError({ kind: "server-error", progress: "begun", code: "stream-cut", message: "chaos: the connection was reset" });
});

/** The response ends in the middle, as if that were all of it. */
export const halfStream: ChaosFault = modelFault("half of", async function* (respond, hand) {
  yield* halfOf(await respond(), hand);
});

/** A response of nothing at all. */
export const emptyStream: ChaosFault = modelFault("nothing from", async function* () {});

/** The arguments of each call break off: they are no JSON any more. */
export const garbledCalls: ChaosFault = modelFault("garbled calls of", async function* (respond) {
  const cut = new Set<number>();
  for (const event of await respond()) {
    if (event.type !== "tool-call-delta") {
      yield event;
      continue;
    }
    if (cut.has(event.index)) continue;
    cut.add(event.index);
    yield { ...event, text: event.text.slice(0, Math.ceil(event.text.length / 2)) };
  }
});

/** Each piece takes its time; all of them together less than a lease lasts. */
export const slowStream: ChaosFault = modelFault("slow stream of", async function* (respond, hand) {
  const events = await respond();
  for (const event of events) {
    await hand.sleep(25_000 / events.length);
    yield event;
  }
});

function failing(failure: { readonly kind: ModelFailure["kind"]; readonly status?: number; readonly retryAfterMs?: number }): ModelStream {
  const { kind, status } = failure;
  return async function* () {
    yield* [];
    throw new ModelError({
      ...failure,
      message: `chaos: ${kind}${status === undefined ? "" : ` (${status})`}`,
      progress: status === undefined ? "sent" : "refused",
    } as ModelFailure);
  };
}

/** The beginning of a response, without its end; where it breaks off is drawn. */
function halfOf(events: readonly InferEvent[], hand: FaultHand): readonly InferEvent[] {
  return events.slice(0, Math.floor(hand.random() * events.length));
}
