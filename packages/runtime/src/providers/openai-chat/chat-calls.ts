import type { JsonObject } from "@keelson/protocol";
import { HELD_ITEM_LENGTH, type HeldText } from "../held-text.ts";
import type { DecodedEvent } from "../polled-events.ts";
import { type Fields, fieldsOf, madeUpCallId, stringOf } from "../wire-decoder.ts";
import type { ChatCallSaid } from "./chat-wire.ts";

interface ChatCall {
  /** Place in the response; `undefined` until the call has a name. */
  index: number | undefined;
  id: string;
  custom: boolean;
  /** Arguments that came before the name. */
  early: string;
  /** What the vendor wants back beside the id: Gemini's signatures in Google's compatible API. */
  extra: unknown;
  legacy: boolean;
}

/** Puts the fragments of tool calls together and pushes them as events. */
export class ChatCalls {
  readonly #queue: DecodedEvent[];
  readonly #wire: string;
  readonly #held: HeldText;
  readonly #calls: ChatCall[] = [];
  readonly #byIndex = new Map<number, ChatCall>();
  readonly #byId = new Map<string, ChatCall>();
  #legacy: ChatCall | undefined;
  #started = 0;
  /** Whether a call has begun; changed by the methods alone. */
  any = false;

  constructor(queue: DecodedEvent[], wire: string, held: HeldText) {
    this.#queue = queue;
    this.#wire = wire;
    this.#held = held;
  }

  /** Fragments of a stream: told apart by `index`, else by `id`. A new id at a known index is a new call. */
  fragments(values: readonly unknown[]): void {
    for (let at = 0; at < values.length; at += 1) {
      const fragment = fieldsOf(values[at]) as ChatCallSaid | undefined;
      if (fragment === undefined) continue;
      const id = typeof fragment["id"] === "string" ? fragment["id"] : "";
      const index = typeof fragment["index"] === "number" ? fragment["index"] : undefined;
      let call = index !== undefined ? this.#byIndex.get(index) : id !== "" ? this.#byId.get(id) : this.#calls.at(-1);
      if (call === undefined || (id !== "" && call.id !== "" && call.id !== id)) call = this.#add();
      if (index !== undefined) this.#byIndex.set(index, call);
      if (id !== "" && call.id === "") {
        call.id = id;
        this.#byId.set(id, call);
      }
      this.#extend(call, fragment);
    }
  }

  /** The calls of a whole response: their order counts, never their `index`. */
  whole(values: readonly unknown[]): void {
    for (const value of values) {
      const fields = fieldsOf(value) as ChatCallSaid | undefined;
      if (fields === undefined) continue;
      const call = this.#add();
      call.id = stringOf(fields["id"]);
      this.#extend(call, fields);
    }
  }

  /** The older form of a call: one at most, without an id. Some servers send it empty, as a placeholder. */
  functionCall(fields: Fields): void {
    const name = stringOf(fields["name"]);
    if (this.#legacy === undefined && name === "") return;
    if (this.#legacy === undefined) {
      this.#legacy = this.#add();
      this.#legacy.legacy = true;
    }
    this.#extend(this.#legacy, { function: fields });
  }

  /** Ends all calls; a call without a name was none. */
  finish(): void {
    for (const { index, id, extra, legacy } of this.#calls) {
      if (index === undefined) continue;
      const extraContent = fieldsOf(extra) as JsonObject | undefined;
      // A made-up id means nothing to the vendor, so that it is not kept for him.
      if (id === "" && extraContent === undefined && !legacy) this.#queue.push({ type: "tool-call-end", index });
      else {
        const providerData = {
          wire: this.#wire,
          ...(id !== "" && { id }),
          ...(legacy && { functionCall: true }),
          ...(extraContent && { extraContent }),
        };
        this.#queue.push({ type: "tool-call-end", index, providerData });
      }
    }
  }

  #add(): ChatCall {
    this.#held.add(HELD_ITEM_LENGTH);
    const call: ChatCall = { index: undefined, id: "", custom: false, early: "", extra: undefined, legacy: false };
    this.#calls.push(call);
    return call;
  }

  #extend(call: ChatCall, fragment: ChatCallSaid): void {
    // By type, not by member: Snowflake puts an empty `custom` beside `function`.
    if (fragment["type"] === "custom") call.custom = true;
    const body = fieldsOf(call.custom ? fragment["custom"] : fragment["function"]);
    if (fragment["extra_content"] !== undefined) call.extra = fragment["extra_content"];
    if (body === undefined) return;
    const said = call.custom ? body["input"] : body["arguments"];
    const text = typeof said === "string" ? said : argumentText(said);
    if (call.index !== undefined) {
      if (text !== "") this.#queue.push({ type: "tool-call-delta", index: call.index, text });
      return;
    }
    this.#held.add(text.length);
    call.early += text;
    const name = body["name"];
    if (typeof name !== "string" || name === "") return;
    // Some servers repeat the name in every fragment, so that only the first counts.
    call.index = this.#started++;
    this.any = true;
    const id = call.id === "" ? madeUpCallId() : call.id;
    this.#queue.push({ type: "tool-call-start", index: call.index, id, name, ...(call.custom && { custom: true }) });
    if (call.early !== "") this.#queue.push({ type: "tool-call-delta", index: call.index, text: call.early });
  }
}

/** Of arguments that are no string: some servers send them as an object. */
function argumentText(value: unknown): string {
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
