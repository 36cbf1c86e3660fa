import type { CallId, Digest } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/**
 * What a vendor wants back unchanged: ids, signatures, encrypted reasoning. It is sent only to the wire (and, where the
 * vendor asks for it, the model family) that it came from.
 */
export interface ProviderData extends JsonObject {
  /** The wire protocol that wrote it, for example `anthropic-messages`. */
  readonly wire: string;
  /** The model that produced it. */
  readonly model?: string;
}

export type TextPart = {
  readonly type: "text";
  readonly text: string;
  readonly providerData?: ProviderData;
};
/** Reasoning text. It may be empty while `providerData` holds a signature or encrypted content that must go back. */
export type ThinkingPart = {
  readonly type: "thinking";
  readonly text: string;
  readonly providerData?: ProviderData;
};
/** The model declined. Not an error, and never also a text part. */
export type RefusalPart = {
  readonly type: "refusal";
  readonly text: string;
  readonly providerData?: ProviderData;
};
/** Bytes as base64 in `data`, or a `url`, or a `blob` of the session's blob store; exactly one of them. */
export type ImagePart = {
  readonly type: "image";
  readonly mediaType: string;
  readonly data?: string;
  readonly url?: string;
  readonly blob?: Digest;
  readonly providerData?: ProviderData;
};
export type FilePart = {
  readonly type: "file";
  readonly mediaType: string;
  readonly name?: string;
  readonly data?: string;
  readonly url?: string;
  readonly blob?: Digest;
  readonly providerData?: ProviderData;
};
/**
 * The model asks for a tool. `input` is absent when `inputText` does not parse; such a call must not run as it stands.
 */
export type ToolCallPart = {
  readonly type: "tool-call";
  readonly id: CallId;
  readonly name: string;
  readonly input?: JsonValue;
  readonly inputText: string;
  /** A free-text tool: `input` is the raw string. */
  readonly custom?: true;
  readonly providerData?: ProviderData;
};
export type ToolResultPart = {
  readonly type: "tool-result";
  readonly id: CallId;
  readonly name: string;
  /** What the model reads: any JSON value, or `{ type: "content", content }` when the tool returned parts (images). */
  readonly output: JsonValue;
  readonly isError?: boolean;
  /** The whole output, when `output` was truncated. */
  readonly blob?: Digest;
};
/** A call the vendor ran itself, or its result: kept for replay to the same wire, never dispatched. */
export type ServerToolPart = {
  readonly type: "server-tool";
  readonly name: string;
  /** A readable form for other wires. */
  readonly text: string;
  readonly providerData: ProviderData;
};
/** A part this version does not know; kept whole. */
export type OtherPart = {
  readonly type: "other";
  readonly raw: JsonValue;
  readonly providerData?: ProviderData;
};

export type Content =
  | TextPart
  | ThinkingPart
  | RefusalPart
  | ImagePart
  | FilePart
  | ToolCallPart
  | ToolResultPart
  | ServerToolPart
  | OtherPart;

export type Role = "system" | "user" | "assistant" | "tool";

/** One entry of a conversation. Messages are values: they are never changed once made, so that encoders may cache by identity. */
export type Message = {
  readonly role: Role;
  readonly content: readonly Content[];
  /** A response whose end never came, since the run was ended or failed while the model wrote it: the text that it had by then. */
  readonly cut?: true;
  /** It stands for messages that a compaction took out. Who compacts again may take it in. */
  readonly summary?: true;
};

/** What compaction may do with a message. Default `normal`. */
export type CompactionPolicy = "pinned" | "normal" | "compress-first" | "discard-when-done";

export function textMessage(role: Role, text: string): Message {
  return { role, content: [{ type: "text", text }] };
}
