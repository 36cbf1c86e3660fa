import type { JsonObject } from "@keelson/protocol";
import { ArgumentText } from "../argument-text.ts";
import type { DecodedEvent } from "../polled-events.ts";
import { fieldsOf, madeUpCallId } from "../wire-decoder.ts";

/** One tool call while its fragments come in. Its events are pushed from the moment on at which it is sure to be a call. */
export class ChatCall {
  id = "";
  name = "";
  custom = false;
  legacy = false;
  /** Data that goes back to the vendor beside the id: the signatures of Gemini in Google's compatible API. */
  extra: unknown;
  readonly input: ArgumentText = new ArgumentText();
  /** The call that this one may only repeat. */
  copyOf: ChatCall | undefined;
  /** Place in the response; `undefined` until the call is begun. */
  #index: number | undefined;

  get isBegun(): boolean {
    return this.#index !== undefined;
  }

  /** True if no arguments came yet. */
  get isBlank(): boolean {
    return this.input.isBlank;
  }

  /** True if the arguments are a complete object, so that what has a name or an id behind it is another call. */
  get isComplete(): boolean {
    return !this.custom && this.input.object !== undefined;
  }

  add(text: string): void {
    if (this.custom) this.input.join(text);
    else this.input.add(text);
  }

  begin(index: number, queue: DecodedEvent[]): void {
    this.#index = index;
    const id = this.id === "" ? madeUpCallId() : this.id;
    queue.push({ type: "tool-call-start", index, id, name: this.name, ...(this.custom && { custom: true }) });
    this.flow(queue);
  }

  /** Pushes the arguments that came since. */
  flow(queue: DecodedEvent[]): void {
    if (this.#index === undefined) return;
    const text = this.input.take();
    if (text !== "") queue.push({ type: "tool-call-delta", index: this.#index, text });
  }

  end(queue: DecodedEvent[], wire: string): void {
    if (this.#index === undefined) return;
    this.input.finish();
    this.flow(queue);
    const { id, legacy } = this;
    const index = this.#index;
    const extraContent = fieldsOf(this.extra) as JsonObject | undefined;
    // A made-up id means nothing to the vendor, so that it is not kept for him.
    if (id === "" && extraContent === undefined && !legacy) queue.push({ type: "tool-call-end", index });
    else {
      const providerData = {
        wire,
        ...(id !== "" && { id }),
        ...(legacy && { functionCall: true }),
        ...(extraContent && { extraContent }),
      };
      queue.push({ type: "tool-call-end", index, providerData });
    }
  }
}
