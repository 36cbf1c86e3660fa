import {
  type Content,
  type FilePart,
  type ImagePart,
  type JsonValue,
  type Message,
  ModelError,
  type ProviderData,
  type ToolCallPart,
  type ToolResultPart,
} from "@keelson/protocol";

/**
 * Neighbouring messages of one side: those of the assistant, or those between them (user, tool and system messages). Requests
 * are encoded group by group; a group is final once another follows it.
 */
export type MessageGroup = readonly Message[];

export function isAssistantGroup(group: MessageGroup): boolean {
  return group[0]?.role === "assistant";
}

export function groupMessages(messages: readonly Message[], from: number): MessageGroup[] {
  const groups: Message[][] = [];
  let current: Message[] | undefined;
  for (let at = from; at < messages.length; at += 1) {
    const message = messages[at] as Message;
    if (current !== undefined && (current[0]?.role === "assistant") === (message.role === "assistant")) current.push(message);
    else {
      current = [message];
      groups.push(current);
    }
  }
  return groups;
}

/** What a vendor's request calls a call: the id it gave on this wire, else ours. */
export function wireCallId(call: ToolCallPart, wire: string): string {
  const own = call.providerData?.wire === wire ? call.providerData["id"] : undefined;
  return typeof own === "string" && own !== "" ? own : call.id;
}

/** Whether data belongs to this wire, and where it names a model, to this model. */
export function belongsTo(data: ProviderData | undefined, wire: string, model: string): data is ProviderData {
  return data !== undefined && data.wire === wire && (data.model === undefined || data.model === model);
}

export interface AnsweredCall {
  readonly call: ToolCallPart;
  /** `undefined`: nobody answered it. Vendors refuse such a history, so that it must be closed. */
  readonly result: ToolResultPart | undefined;
}

/** Brings the results in `group` to the calls before it. `strays` are results of calls that the request does not hold. */
export function matchResults(
  before: MessageGroup | undefined,
  group: MessageGroup,
): { readonly answered: readonly AnsweredCall[]; readonly strays: readonly ToolResultPart[] } {
  const calls =
    before !== undefined && isAssistantGroup(before)
      ? before.flatMap((message) => message.content.filter((part): part is ToolCallPart => part.type === "tool-call"))
      : [];
  const results = new Map<string, ToolResultPart>();
  const strays: ToolResultPart[] = [];
  const known = new Set<string>(calls.map((call) => call.id));
  for (const message of group) {
    for (const part of message.content) {
      if (part.type !== "tool-result") continue;
      if (known.has(part.id) && !results.has(part.id)) results.set(part.id, part);
      else strays.push(part);
    }
  }
  return { answered: calls.map((call) => ({ call, result: results.get(call.id) })), strays };
}

export const UNANSWERED = "This call was not executed.";
export const EARLIER_NOT_SHOWN = "(The beginning of the conversation is not shown.)";

export function strayResultText(result: ToolResultPart): string {
  return `Result of an earlier call of ${result.name}: ${outputText(result.output)}`;
}

/** The parts of an output that is no plain JSON value. */
export function outputParts(output: JsonValue): readonly Content[] | undefined {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return undefined;
  const { type, content } = output as { type?: unknown; content?: unknown };
  return type === "content" && Array.isArray(content) ? (content as unknown as readonly Content[]) : undefined;
}

export function outputText(output: JsonValue): string {
  const parts = outputParts(output);
  if (parts !== undefined)
    return parts
      .map(readableText)
      .filter((text) => text !== "")
      .join("\n");
  return typeof output === "string" ? output : JSON.stringify(output);
}

/** A part in words, for places that take nothing else. */
export function readableText(part: Content): string {
  switch (part.type) {
    case "text":
    case "refusal":
    case "server-tool":
      return part.text;
    case "image":
      return "[image]";
    case "file":
      return `[file${part.name === undefined ? "" : ` ${part.name}`}]`;
    case "tool-result":
      return outputText(part.output);
    case "thinking":
    case "tool-call":
    case "other":
      return "";
  }
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** A part that names a blob cannot be sent: whoever holds the blob store puts the bytes in. */
export function unresolvedBlob(part: ImagePart | FilePart, provider: string): ModelError {
  const message =
    part.blob === undefined
      ? `the ${part.type} holds neither data nor a URL`
      : `the ${part.type} names the blob ${part.blob}; its bytes must be put in as data before the request`;
  return new ModelError({ kind: "invalid-request", message: `${message} (${provider})`, provider });
}
