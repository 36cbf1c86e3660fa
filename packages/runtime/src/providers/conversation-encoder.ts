import type { Message, ToolCallPart } from "@keelson/protocol";
import { DistinctCalls } from "./history/distinct-calls.ts";
import { groupMessages, isAssistantGroup, type MessageGroup, withoutEmptyEnd } from "./history.ts";

/**
 * Encodes a group as JSON objects joined by commas, or as "" when it holds nothing to send. What it returns may depend on the
 * group, the group before, whether that is the first, and the model; on nothing else, since the bytes are kept.
 */
export type EncodeGroup = (group: MessageGroup, before: MessageGroup | undefined, model: string) => string;

export interface EncodedMessages {
  /** Everything but the last groups, with a comma before each object. */
  readonly prefix: Uint8Array;
  /** The last groups, each in JSON, "" where it holds nothing. */
  readonly tail: readonly EncodedTail[];
}

interface EncodedTail {
  readonly group: MessageGroup;
  readonly before: MessageGroup | undefined;
  readonly json: string;
}

interface Conversation {
  model: string;
  /** The messages that `bytes` holds. */
  messages: Message[];
  /** The last group among them. */
  last: MessageGroup | undefined;
  /** The ids of the calls among them. */
  readonly calls: DistinctCalls;
  bytes: Buffer;
  length: number;
}

const NO_BYTES = new Uint8Array(0);
const COMMA = 44;

/**
 * Keeps the bytes of all but the last groups of a conversation, to which a further request only appends. Without that, a turn costs
 * more the longer the conversation is, as with the peers in docs/benchmarks.md (*CPU per turn, late in the session over early*).
 */
export class ConversationEncoder {
  readonly #encode: EncodeGroup;
  readonly #tailGroups: number;
  readonly #callId: (call: ToolCallPart) => string;
  readonly #fit: (message: Message) => Message;
  readonly #conversations = new WeakMap<object, Conversation>();

  /**
   * `tailGroups`: how many groups at the end are left open, because more may come to them or marks move over them. `callId`: what
   * requests call a call; each gets an id of its own. `fit`: makes a message fit the wire, whatever wrote it.
   */
  constructor(
    encode: EncodeGroup,
    tailGroups: number,
    callId: (call: ToolCallPart) => string = (call) => call.id,
    fit: (message: Message) => Message = (message) => message,
  ) {
    this.#encode = (group, before, model) => {
      const spoken = withoutEmptyEnd(group);
      return spoken.length === 0 ? "" : encode(spoken, before, model);
    };
    this.#tailGroups = tailGroups;
    this.#callId = callId;
    this.#fit = fit;
  }

  encode(messages: readonly Message[], model: string, conversation?: object): EncodedMessages {
    let known = conversation === undefined ? undefined : this.#known(conversation, messages, model);
    let groups = groupMessages(messages, known?.messages.length ?? 0);
    if (known !== undefined && groups.length < this.#tailGroups) {
      // The conversation went back: groups are kept that are to be left open.
      known = undefined;
      groups = groupMessages(messages, 0);
    }
    const closed = Math.max(0, groups.length - this.#tailGroups);
    const kept: Conversation = known ?? {
      model,
      messages: [],
      last: undefined,
      calls: new DistinctCalls(this.#callId),
      bytes: Buffer.alloc(0),
      length: 0,
    };
    for (let at = 0; at < closed; at += 1) {
      const original = groups[at] as MessageGroup;
      const group = kept.calls.next(this.#fitted(original));
      append(kept, this.#encode(group, kept.last, model));
      kept.messages.push(...original);
      kept.last = group;
    }
    if (conversation !== undefined && known === undefined) this.#conversations.set(conversation, kept);
    const tail: EncodedTail[] = [];
    let before = kept.last;
    let calls: DistinctCalls | undefined;
    for (let at = closed; at < groups.length; at += 1) {
      let group = this.#fitted(groups[at] as MessageGroup);
      if (calls !== undefined || !kept.calls.passes(group)) group = (calls ??= new DistinctCalls(this.#callId, kept.calls)).next(group);
      tail.push({ group, before, json: this.#encode(group, before, model) });
      before = group;
    }
    return { prefix: kept.length === 0 ? NO_BYTES : kept.bytes.subarray(0, kept.length), tail };
  }

  /** The group itself if all of it fits. */
  #fitted(group: MessageGroup): MessageGroup {
    let fitted: Message[] | undefined;
    for (let at = 0; at < group.length; at += 1) {
      const message = group[at] as Message;
      const fit = this.#fit(message);
      if (fit !== message) (fitted ??= [...group])[at] = fit;
    }
    return fitted ?? group;
  }

  /** What is kept of the conversation, when this request goes on from it. */
  #known(conversation: object, messages: readonly Message[], model: string): Conversation | undefined {
    const known = this.#conversations.get(conversation);
    if (known === undefined || known.model !== model || known.messages.length >= messages.length) return undefined;
    for (let at = 0; at < known.messages.length; at += 1) if (known.messages[at] !== messages[at]) return undefined;
    // The kept groups end where the side changes; a message of the same side would belong to the last of them.
    const next = messages[known.messages.length];
    if (known.last !== undefined && next !== undefined && isAssistantGroup(known.last) === (next.role === "assistant")) return undefined;
    return known;
  }
}

function append(conversation: Conversation, json: string): void {
  if (json === "") return;
  const room = conversation.bytes.length - conversation.length - 1;
  // A UTF-16 unit is three bytes at most: they are counted only where that many may not fit.
  if (json.length * 3 > room && Buffer.byteLength(json) > room) grow(conversation, Buffer.byteLength(json) - room);
  conversation.bytes[conversation.length] = COMMA;
  conversation.length += 1 + conversation.bytes.write(json, conversation.length + 1);
}

/** Never in place: requests under way still send the old bytes. */
function grow(conversation: Conversation, missing: number): void {
  const { bytes, length } = conversation;
  conversation.bytes = Buffer.allocUnsafeSlow(Math.max(bytes.length + missing, Math.ceil(bytes.length * 1.5), 1024));
  conversation.bytes.set(bytes.subarray(0, length));
}
