import type { InferRequest, Message, ToolSchema, Usage } from "@keelson/protocol";
import { type DecodedRequest, decodeRequest } from "./decode-request.ts";
import { type Recording, recordings } from "./recordings.ts";

export interface CountedRecording {
  readonly recording: Recording;
  readonly decoded: DecodedRequest;
  readonly request: InferRequest;
  readonly usage: Usage;
}

/** The recorded requests whose response told their tokens, in the order of their conversations. */
export function countedRecordings(): readonly CountedRecording[] {
  const values = new Map<string, unknown>();
  // Equal values are one value, as they are in a session, where messages keep their identity.
  const one = <T>(value: T): T => {
    const key = JSON.stringify(value);
    if (!values.has(key)) values.set(key, value);
    return values.get(key) as T;
  };
  return recordings(({ response, request, expect: { usage } }) => response.status === 200 && request.body !== null && usage !== null)
    .toSorted((a, b) => `${a.conversation ?? a.id}`.localeCompare(`${b.conversation ?? b.id}`) || (a.step ?? 0) - (b.step ?? 0))
    .flatMap((recording): CountedRecording[] => {
      const { usage } = recording.expect;
      const decoded = decodeRequest(recording);
      const input = usage?.["input_tokens"];
      if (decoded === undefined || input === null || input === undefined) return [];
      // Anthropic alone counts what its cache holds apart.
      const cached = recording.wire === "anthropic-messages" ? (usage?.["cache_read"] ?? 0) + (usage?.["cache_write"] ?? 0) : 0;
      const { model, system, output, extra } = decoded;
      const request: InferRequest = {
        model,
        messages: decoded.messages.map((message): Message => one({ ...message, content: message.content.map(withoutIds) })),
        tools: one(decoded.tools) as readonly ToolSchema[],
        ...(system !== undefined && { system }),
        ...(output !== undefined && { output: one(output) }),
        extra,
      };
      const told: Usage = {
        inputTokens: input + cached,
        outputTokens: usage?.["output_tokens"] ?? null,
        cacheReadTokens: null,
        cacheCreationTokens: null,
        reasoningTokens: usage?.["reasoning"] ?? null,
      };
      return [{ recording, decoded, request, usage: told }];
    });
}

/** Ids are numbered anew in each decoded request. */
function withoutIds<T extends Message["content"][number]>(part: T): T {
  return "id" in part ? { ...part, id: "c" } : part;
}
