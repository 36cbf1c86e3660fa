import { HELD_ITEM_LENGTH, type HeldText } from "../held-text.ts";
import type { DecodedEvent } from "../polled-events.ts";
import { argumentText, sentArguments } from "../sent-arguments.ts";
import type { ToolNames } from "../tool-names.ts";
import { type Fields, fieldsOf, stringOf } from "../wire-decoder.ts";
import { ChatCall } from "./chat-call.ts";
import type { ChatCallSaid } from "./chat-wire.ts";

/** The members of a fragment of a call. */
interface Fragment {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly custom: boolean;
  readonly extra: unknown;
}

/** Puts the fragments of tool calls together and pushes them as events. */
export class ChatCalls {
  readonly #queue: DecodedEvent[];
  readonly #wire: string;
  readonly #held: HeldText;
  readonly #names: ToolNames;
  readonly #calls: ChatCall[] = [];
  /** The calls that had not begun when the last of them was added. */
  readonly #waiting: ChatCall[] = [];
  readonly #byIndex = new Map<number, ChatCall>();
  readonly #byId = new Map<string, ChatCall>();
  #legacy: ChatCall | undefined;
  #begun = 0;

  constructor(queue: DecodedEvent[], wire: string, held: HeldText, names: ToolNames) {
    this.#queue = queue;
    this.#wire = wire;
    this.#held = held;
    this.#names = names;
  }

  /** True if a call has begun. */
  get any(): boolean {
    return this.#begun > 0;
  }

  /**
   * Fragments of a stream. They belong together by id, else by `index`, else by their order. Gateways give the same index to all calls
   * or none, repeat ids and names in every fragment, or leave them out: a name or an id behind a complete object begins a new call.
   */
  fragments(values: readonly unknown[]): void {
    for (const value of values) {
      const fragment = fragmentOf(value);
      if (fragment === undefined) continue;
      const known = this.#find(fragment);
      const call = known === undefined || this.#isOther(known, fragment) ? this.#add(known, fragment) : known;
      if (fragment.index !== undefined) this.#byIndex.set(fragment.index, call);
      this.#extend(call, fragment);
    }
  }

  /** The calls of a whole response: their order counts, never their `index`. One that repeats an earlier one with its id is that call. */
  whole(values: readonly unknown[]): void {
    for (const value of values) {
      const fragment = fragmentOf(value);
      if (fragment !== undefined) this.#extend(this.#add(this.#byId.get(fragment.id), fragment), fragment);
    }
  }

  /** The older form of a call: one at most, without an id. Some servers send it empty, as a placeholder. */
  functionCall(fields: Fields): void {
    if (this.#legacy === undefined && stringOf(fields["name"]) === "") return;
    const fragment = fragmentOf({ function: fields }) as Fragment;
    if (this.#legacy === undefined) {
      this.#legacy = this.#add(undefined, fragment);
      this.#legacy.legacy = true;
    }
    this.#extend(this.#legacy, fragment);
  }

  /**
   * Ends all calls. The text of a call without a name belongs to the call before it if that is incomplete. If it is arguments of its own,
   * it stays a call, so that the model is told of it.
   */
  finish(): void {
    let before: ChatCall | undefined;
    for (const call of this.#calls) {
      if (call.name === "") {
        call.input.finish();
        if (before !== undefined && isOpen(before)) before.add(call.input.take());
        else if (call.isComplete && !this.#calls.some((other) => other.isBegun && call.input.repeats(other.input)))
          call.begin(this.#begun++, this.#queue);
        continue;
      }
      this.#settle(call, true);
      if (call.isBegun) before = call;
    }
    for (const call of this.#calls) call.end(this.#queue, this.#wire);
  }

  #find({ id, index, name }: Fragment): ChatCall | undefined {
    const known = id === "" ? undefined : this.#byId.get(id);
    if (index === undefined) {
      const last = this.#calls.at(-1);
      return (
        known ??
        (id === "" || (last !== undefined && idOf(last) === "" && (name === "" || name === last.name) && !last.isComplete)
          ? last
          : undefined)
      );
    }
    const placed = this.#byIndex.get(index);
    if (placed === undefined) return known !== undefined && (name === "" || !known.isComplete) ? known : undefined;
    return id === "" || idOf(placed) === "" || idOf(placed) === id ? placed : known;
  }

  /** True if a fragment begins another call than the one that it was found to belong to. */
  #isOther(call: ChatCall, { id, name, text }: Fragment): boolean {
    if (call.name === "") return false;
    const sameId = id !== "" && id === call.id;
    const otherName = name !== "" && name !== call.name;
    if (name === "" && (id === "" || sameId)) return false;
    if (!call.isComplete) {
      if (!otherName || sameId) return false;
      return !call.isBlank || this.#names.joined(call.name, name) === undefined;
    }
    if (otherName || name === "") return true;
    if (sameId) return false;
    // A repeated name behind a complete object: a new call, a copy, or the end of the same.
    if (isEmptyObject(call) && text !== "") return false;
    return text === "" || text.trimStart().startsWith("{");
  }

  /** @param before - the call before it, which it may repeat */
  #add(before: ChatCall | undefined, { id, name }: Fragment): ChatCall {
    for (const call of this.#waiting.splice(0)) {
      if (call.isBlank && this.#names.isPart(call.name)) this.#waiting.push(call);
      else this.#settle(call, true);
    }
    this.#held.add(HELD_ITEM_LENGTH);
    const call = new ChatCall();
    const mayRepeat = before !== undefined && before.name === name && (id === "" || before.id === "" || before.id === id);
    if (mayRepeat) call.copyOf = before.isBegun ? before : (before.copyOf ?? before);
    this.#calls.push(call);
    this.#waiting.push(call);
    return call;
  }

  #extend(call: ChatCall, { id, name, text, custom, extra }: Fragment): void {
    if (custom) call.custom = true;
    if (extra !== undefined) call.extra = extra;
    if (id !== "" && call.id === "") {
      call.id = id;
      if (!this.#byId.has(id)) this.#byId.set(id, call);
    }
    // Some servers repeat the name in every fragment, and some send it in pieces.
    if (call.name === "") call.name = name;
    else if (name !== "" && !call.isBegun && call.isBlank) call.name = this.#names.joined(call.name, name) ?? call.name;
    const pending = call.input.pending;
    call.add(text);
    this.#held.add(call.isBegun ? Math.max(0, call.input.pending - pending) : text.length);
    if (call.isBegun) call.flow(this.#queue);
    else this.#settle(call, false);
  }

  /** Begins a call that is sure to be one. `isOver`: no more of it comes before another call does. */
  #settle(call: ChatCall, isOver: boolean): void {
    if (call.isBegun || call.name === "") return;
    const { copyOf } = call;
    if (copyOf !== undefined) {
      if (call.isBlank || call.input.repeats(copyOf.input) || (!isOver && !call.isComplete)) return;
    } else if (!isOver && call.isBlank && (!this.#names.has(call.name) || this.#names.mayGoOn(call.name))) return;
    call.begin(this.#begun++, this.#queue);
  }
}

/** The id of a call, or of the call that it may only repeat. */
function idOf({ id, copyOf }: ChatCall): string {
  return id === "" && copyOf !== undefined ? idOf(copyOf) : id;
}

/** True if arguments can follow: the object is not complete, or is the empty one that some gateways send first. */
function isOpen(call: ChatCall): boolean {
  return !call.isComplete || isEmptyObject(call);
}

function isEmptyObject({ input }: ChatCall): boolean {
  return /^\{\s*\}$/.test(input.object ?? "");
}

function fragmentOf(value: unknown): Fragment | undefined {
  const fields = fieldsOf(value) as ChatCallSaid | undefined;
  if (fields === undefined) return undefined;
  // By type, not by member: Snowflake puts an empty `custom` beside `function`.
  const own = fields["type"] === "custom" ? undefined : fieldsOf(fields["function"]);
  // Some servers put name and arguments beside the id (Cloudflare).
  const body = own ?? fieldsOf(fields["custom"]) ?? (fields as Fields);
  return {
    index: indexOf(fields["index"]),
    id: stringOf(fields["id"]),
    name: stringOf(body["name"]),
    text: argumentText(sentArguments(body, fields["type"] === "custom" ? "input" : "arguments")),
    custom: fields["type"] === "custom",
    extra: fields["extra_content"],
  };
}

function indexOf(value: unknown): number | undefined {
  if (typeof value === "string" && /^\d{1,6}$/.test(value)) return Number(value);
  return typeof value === "number" ? value : undefined;
}
