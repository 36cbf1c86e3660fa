import type { InferEvent, JsonValue } from "@keelson/protocol";
import { nextOpener, PartialJson } from "../../../json/index.ts";
import type { InferFold } from "../../../providers/infer-fold.ts";
import type { OutputForm } from "../../definition/output/output-form.ts";
import { isOutputCall } from "./output-call.ts";
import { unwrapOutput } from "../../definition/output/output-schema.ts";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

/** Members that snapshots may copy for each step of reading: what keeps the whole linear, however often somebody looks. */
const COPIES = 4;

/**
 * The structured output of a run as it streams. Nothing is read until somebody asks. A value is made when a reader takes it,
 * so that a slow one gets the newest and nothing is kept for it; values share what is finished.
 */
export class PartialOutputs {
  readonly #form: OutputForm;
  #wanted = false;
  #fold: InferFold | undefined;
  /** What was written of this response before it was cut off and told to go on. */
  #begun = "";
  #reader: PartialJson | undefined;
  /** The call that gives the output. */
  #call: number | undefined;
  #shown: { readonly changes: number; readonly value: unknown } | undefined;
  /** Members that this reader's snapshots copied. */
  #copied = 0;
  #final: { readonly value: unknown } | undefined;
  /** Grows whenever there is another response to look at. */
  #generation = 0;
  #ended = false;
  #waiting: (() => void)[] = [];

  constructor(form: OutputForm) {
    this.#form = form;
  }

  /** An attempt at the model begins: what another one gave is void. */
  begin(fold: InferFold): void {
    this.discard();
    this.#fold = fold;
    if (this.#wanted && this.#begun !== "") this.#feed(this.#begun);
  }

  /** The next attempt goes on with this text. */
  goOn(begun: string): void {
    this.#begun = begun;
  }

  /** Called with every event of the attempt, after the fold has it. */
  push(event: InferEvent): void {
    if (!this.#wanted) return;
    if (event.type === "text-delta") {
      if (this.#form.tool === undefined) this.#feed(event.text);
    } else if (event.type === "tool-call-start") {
      if (this.#call === undefined && isOutputCall(this.#form, event)) this.#call = event.index;
    } else if (event.type === "tool-call-delta" && event.index === this.#call) this.#feed(event.text);
  }

  /** The attempt failed, or its response was not accepted. */
  discard(): void {
    this.#fold = undefined;
    this.#reader = undefined;
    this.#call = undefined;
    this.#shown = undefined;
    this.#final = undefined;
    this.#generation++;
  }

  /** The response was accepted: the last value there is, unless somebody steers. */
  finish(value: unknown): void {
    this.#final = { value };
    this.#wake();
  }

  /** The run is over, or left. */
  end(): void {
    this.#ended = true;
    this.#fold = undefined;
    this.#wake();
  }

  /** Values from now on, each newer than the one before; the last is the output. */
  subscribe(): AsyncIterableIterator<unknown, undefined> {
    if (!this.#wanted) {
      this.#wanted = true;
      this.#catchUp();
    }
    return this.#values();
  }

  async *#values(): AsyncGenerator<unknown, undefined> {
    let generation = -1;
    let last: unknown;
    for (;;) {
      const value = this.#final === undefined ? this.#snapshot() : this.#final.value;
      if (value !== undefined && (value !== last || generation !== this.#generation)) {
        last = value;
        generation = this.#generation;
        yield value;
      } else if (this.#ended) return undefined;
      else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** What was streamed before anybody asked. */
  #catchUp(): void {
    const { tool } = this.#form;
    if (this.#begun !== "") this.#feed(this.#begun);
    if (this.#fold === undefined) return;
    if (tool === undefined) this.#feed(this.#fold.text);
    else {
      const call = this.#fold.calls.find((open) => isOutputCall(this.#form, open));
      if (call === undefined) return;
      this.#call = call.index;
      this.#feed(call.text);
    }
  }

  #feed(text: string): void {
    const before = this.#reader?.changes;
    for (let at = 0; at < text.length && this.#reader?.status !== "complete";) {
      if (this.#reader === undefined) {
        at = nextOpener(text, at);
        if (at < 0) return;
        this.#reader = new PartialJson();
        this.#copied = 0;
        this.#shown = undefined;
      }
      at = this.#reader.push(text, at);
      // That was a word in brackets: the output is still to come.
      if (this.#reader.status === "broken") this.#reader = undefined;
    }
    if (this.#reader?.changes !== before) this.#wake();
  }

  /** The newest value, or the one before it where a newer one would cost too much yet. */
  #snapshot(): unknown {
    const reader = this.#reader;
    if (reader === undefined) return undefined;
    if (this.#shown?.changes === reader.changes) return this.#shown.value;
    if (reader.openMembers === 0 && reader.changes < 2 && reader.status === "open") return undefined;
    const { openMembers, work } = reader;
    if (reader.status === "open" && this.#copied + openMembers > COPIES * (work - this.#copied)) return this.#shown?.value;
    const value = reader.snapshot();
    this.#copied += reader.work - work;
    this.#shown = { changes: reader.changes, value: unwrapped(value, this.#form.wrapped) };
    return this.#shown.value;
  }

  #wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

function unwrapped(value: JsonValue | undefined, wrapped: boolean): unknown {
  return value === undefined || (wrapped && isEmpty(value)) ? undefined : unwrapOutput(value, wrapped);
}

function isEmpty(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

const PARTIALS = new PartKey<PartialOutputs>("partial outputs");

/** The output of a run as it streams, where the agent has one. */
export function partialsOf({ parts }: Loop): PartialOutputs | undefined {
  return parts.get(PARTIALS);
}

export function bindPartials({ parts }: Loop, partials: PartialOutputs | undefined): void {
  parts.set(PARTIALS, partials);
}
