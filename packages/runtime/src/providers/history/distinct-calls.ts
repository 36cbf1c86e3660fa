import type { CallId, Content, Message, ToolCallPart } from "@keelson/protocol";
import { callsOf, isAssistantGroup, type MessageGroup } from "./message-group.ts";
import { shapedCallId } from "./wire-call-id.ts";

/** New ids by the old one, in the order of the calls that had it. */
type Renames = ReadonlyMap<string, readonly CallId[]>;

/**
 * Gives each call of a conversation an id that no other has. Servers that count ids anew in each response, and histories put
 * together by hand, repeat them; vendors refuse that, and results would find the wrong call. Groups without repetition, which
 * are nearly all, are passed through as they are.
 */
export class DistinctCalls {
  readonly #callId: (call: ToolCallPart) => string;
  readonly #before: DistinctCalls | undefined;
  readonly #seen = new Set<string>();
  #renames: Renames | undefined;

  /** `before`: what came before these groups, which stays as it is. */
  constructor(callId: (call: ToolCallPart) => string, before?: DistinctCalls) {
    this.#callId = callId;
    this.#before = before;
    this.#renames = before === undefined ? undefined : before.#renames;
  }

  /** Whether `next` would give this group as it is and remember nothing of it. */
  passes(group: MessageGroup): boolean {
    return this.#renames === undefined && !isAssistantGroup(group);
  }

  /** The next group. */
  next(group: MessageGroup): MessageGroup {
    const renames = this.#renames;
    this.#renames = undefined;
    if (!isAssistantGroup(group)) return renames === undefined ? group : renameResults(group, renames);
    const calls = callsOf(group);
    const [only] = calls;
    if (only === undefined) return group;
    if (calls.length === 1) {
      const id = this.#callId(only);
      if (this.#has(id)) return this.#rename(group);
      this.#seen.add(id);
      return group;
    }
    const ids = new Set<string>();
    const ours = new Set<string>();
    for (const call of calls) {
      const id = this.#callId(call);
      if (ids.has(id) || ours.has(call.id) || this.#has(id)) return this.#rename(group);
      ids.add(id);
      ours.add(call.id);
    }
    for (const id of ids) this.#seen.add(id);
    return group;
  }

  #rename(group: MessageGroup): MessageGroup {
    const renames = new Map<string, CallId[]>();
    const renamed = group.map((message) =>
      withContent(message, (part) => {
        if (part.type !== "tool-call") return part;
        const ids = renames.get(part.id) ?? [];
        renames.set(part.id, ids);
        let call = part;
        if (ids.length > 0) call = { ...part, id: shapedCallId(`${part.id}/${ids.length}`) as CallId };
        for (let turn = 1; this.#has(this.#callId(call)); turn += 1)
          call = { ...withoutVendorId(part), id: shapedCallId(`${part.id}/${ids.length}/${turn}`) as CallId };
        ids.push(call.id);
        this.#seen.add(this.#callId(call));
        return call;
      }),
    );
    this.#renames = renames;
    return renamed;
  }

  #has(id: string): boolean {
    return this.#seen.has(id) || (this.#before !== undefined && this.#before.#has(id));
  }
}

function renameResults(group: MessageGroup, renames: Renames): MessageGroup {
  const taken = new Map<string, number>();
  return group.map((message) =>
    withContent(message, (part) => {
      const ids = part.type === "tool-result" ? renames.get(part.id) : undefined;
      if (part.type !== "tool-result" || ids === undefined) return part;
      const nth = taken.get(part.id) ?? 0;
      taken.set(part.id, nth + 1);
      const id = ids[nth];
      return id === undefined || id === part.id ? part : { ...part, id };
    }),
  );
}

function withContent(message: Message, change: (part: Content) => Content): Message {
  const content = message.content.map(change);
  return content.every((part, at) => part === message.content[at]) ? message : { ...message, content };
}

function withoutVendorId(call: ToolCallPart): ToolCallPart {
  if (call.providerData === undefined) return call;
  const { id: _id, responseId: _output, itemId: _item, ...kept } = call.providerData;
  return { ...call, providerData: kept as typeof call.providerData };
}
