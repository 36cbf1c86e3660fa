import type { ToolCall, ToolOutput } from "@keelson/protocol";
import { isThenable } from "../platform/is-thenable.ts";
import { isProgressReport, YieldProgress } from "./yield-progress.ts";

/** After so many values in a row, timers and aborts get their turn: a generator that never waits must not block the process. */
const VALUES_PER_TURN = 100;

/**
 * Returns the result of a call from what `execute` of its tool returned, which stays as it is unless it is streamed. The yields of a generator, and the
 * chunks of another async iterable, are reported as progress. The result is what the generator returns, or its last yield if it returns nothing; of a
 * stream of text or bytes, the whole text.
 */
export function settleResult(returned: unknown, call: ToolCall): unknown {
  const settled: unknown = isThenable(returned)
    ? Promise.resolve(returned).then((value): unknown => (isStreamed(value) ? drain(value, call) : value))
    : returned;
  return isStreamed(settled) ? drain(settled, call) : settled;
}

/** Iterators of arrays and maps are no generators: they have no `throw`. */
export function isGenerator(value: object): value is Generator<unknown, unknown, undefined> {
  const { next, return: end, throw: fail } = value as { readonly [member: string]: unknown };
  return [next, end, fail].every((member) => typeof member === "function") && Symbol.iterator in value;
}

function isStreamed(value: unknown): value is object {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || isGenerator(value) || isWebStream(value));
}

function isWebStream(value: object): value is ReadableStream<unknown> {
  return typeof (value as { readonly getReader?: unknown }).getReader === "function";
}

function isNodeStream(value: object): boolean {
  const { pipe, read } = value as { readonly [member: string]: unknown };
  return typeof pipe === "function" && typeof read === "function";
}

type Step = IteratorResult<unknown, unknown>;

/** One form of all sources. `end` has the source clean up, and gives what it returns then. */
interface Values {
  next(): Promise<Step>;
  end(): Promise<Step | undefined>;
}

function valuesOf(source: object): Values {
  if (isWebStream(source)) {
    const reader = source.getReader();
    return { next: () => reader.read() as Promise<Step>, end: async () => void (await reader.cancel()) };
  }
  if (Symbol.asyncIterator in source) {
    const iterator = (source as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    return { next: async () => checkedStep(await iterator.next()), end: async () => iterator.return?.() };
  }
  const iterator = source as Generator<unknown, unknown, undefined>;
  const settled = async ({ done, value }: Step): Promise<Step> => ({ done: done === true, value: await value }) as Step;
  return { next: async () => settled(iterator.next()), end: async () => settled(iterator.return(undefined)) };
}

function checkedStep(step: Step): Step {
  if (typeof step === "object" && step !== null) return step;
  throw new TypeError(`its iterator gave ${String(step)} in place of { done, value }`);
}

async function drain(source: object, call: ToolCall): Promise<ToolOutput> {
  const { signal } = call;
  const values = valuesOf(source);
  const progress = new YieldProgress(call);
  const text = isWebStream(source) || isNodeStream(source) ? new StreamText() : undefined;
  const abort = new AbortWait(signal);
  let isOver = false;
  try {
    let last: unknown;
    for (let count = 1; ; count++) {
      const next = values.next();
      const step = await abort.unless(next);
      if (step === undefined) {
        isOver = true;
        return (await endEarly(values, next, signal)) as ToolOutput;
      }
      if (step.done === true) {
        isOver = true;
        return (step.value !== undefined ? step.value : (text?.whole ?? lastYield(last))) as ToolOutput;
      }
      last = step.value;
      text?.add(last);
      progress.report(last);
      if (count % VALUES_PER_TURN === 0) await new Promise((resolve) => void setImmediate(resolve));
    }
  } catch (error) {
    if (!isOver) values.end().catch(() => {});
    throw error;
  } finally {
    progress.end();
    abort.end();
  }
}

function lastYield(value: unknown): unknown {
  return isProgressReport(value) ? undefined : value;
}

/** Ends the source, so that its `finally` blocks run, and takes what it still returns. It may be at work on its next value meanwhile. */
async function endEarly(values: Values, pending: Promise<Step>, signal: AbortSignal): Promise<unknown> {
  const ending = values.end();
  ending.catch(() => {});
  const step = await pending;
  const ended = step.done === true ? step : await ending;
  const returned = ended?.done === true ? ended.value : undefined;
  if (returned !== undefined) return returned;
  throw signal.reason;
}

/** Waits for promises until the signal fires, with one listener for all of them. */
class AbortWait {
  readonly #signal: AbortSignal;
  #leave = (): void => {};
  readonly #onAbort = (): void => this.#leave();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** @returns `undefined` if the signal fired first */
  unless<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#leave = () => resolve(undefined);
      promise.then(resolve, reject);
      if (this.#signal.aborted) resolve(undefined);
    });
  }

  end(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}

/** The text of a stream whose chunks are all texts or bytes. */
class StreamText {
  readonly #decoder = new TextDecoder();
  #parts: string[] | undefined = [];
  #size = 0;

  add(chunk: unknown): void {
    if (this.#parts === undefined) return;
    if (typeof chunk === "string") this.#parts.push(this.#decoder.decode(), chunk);
    else if (chunk instanceof Uint8Array) this.#parts.push(this.#decoder.decode(chunk, { stream: true }));
    else this.#parts = undefined;
    this.#size += (chunk as { readonly length?: number }).length ?? 0;
    if (this.#size > MAX_STREAM_LENGTH) throw new RangeError(`it gave more than ${MAX_STREAM_LENGTH} characters or bytes`);
  }

  /** `undefined` if a chunk was neither. */
  get whole(): string | undefined {
    return this.#parts === undefined ? undefined : this.#parts.join("") + this.#decoder.decode();
  }
}
const MAX_STREAM_LENGTH = 256 * 1024 * 1024;
