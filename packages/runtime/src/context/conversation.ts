import type { CompactionPolicy, Content, Digest, FilePart, ImagePart, Message } from "@keelson/protocol";

/**
 * The messages of one conversation, oldest first, each with what compaction may do to it. Grows at the end; only a
 * compaction or a rewind replaces what stands before. Messages keep their identity, so that encoders may cache by it.
 */
export class Conversation {
  #messages: Message[] = [];
  #policies: CompactionPolicy[] = [];
  #bytes = 0;
  #namesBlobs = false;

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get length(): number {
    return this.#messages.length;
  }

  /** An upper bound of the messages' tokens: their UTF-8 bytes, with what images and files may cost. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a part of some message may have to be fetched from the blob store before a model sees it. */
  get namesBlobs(): boolean {
    return this.#namesBlobs;
  }

  policyAt(index: number): CompactionPolicy {
    return this.#policies[index] ?? "normal";
  }

  append(message: Message, policy: CompactionPolicy = "normal"): void {
    this.#messages.push(message);
    this.#bytes += messageBytes(message);
    this.#namesBlobs ||= message.content.some((part) => namesBlob(part));
    this.#policies.push(policy);
  }

  replace(entries: readonly { readonly message: Message; readonly policy?: CompactionPolicy }[]): void {
    this.#messages = entries.map((entry) => entry.message);
    this.#policies = entries.map((entry) => entry.policy ?? "normal");
    this.#count();
  }

  truncate(length: number): void {
    this.#messages.length = Math.min(length, this.#messages.length);
    this.#policies.length = this.#messages.length;
    this.#count();
  }

  #count(): void {
    this.#namesBlobs = this.#messages.some((message) => message.content.some((part) => namesBlob(part)));
    this.#bytes = 0;
    for (const message of this.#messages) this.#bytes += messageBytes(message);
  }
}

/** An image or file whose bytes are in the blob store. */
export function namesBlob(part: Content): part is (ImagePart | FilePart) & { readonly blob: Digest } {
  return (part.type === "image" || part.type === "file") && part.blob !== undefined && part.data === undefined;
}

/** Framing of a message and of a part on any wire. */
const FRAME_BYTES = 64;
/** More than any vendor counts for an image or a page it fetches itself. */
const REMOTE_PART_TOKENS = 16_384;

function messageBytes(message: Message): number {
  let bytes = FRAME_BYTES;
  for (const part of message.content) {
    bytes += FRAME_BYTES;
    if ("text" in part) bytes += Buffer.byteLength(part.text);
    if (part.type === "tool-call") bytes += Buffer.byteLength(part.inputText) + part.name.length;
    else if (part.type === "tool-result")
      bytes += typeof part.output === "string" ? Buffer.byteLength(part.output) : Buffer.byteLength(JSON.stringify(part.output));
    else if (part.type === "image" || part.type === "file") bytes += part.data === undefined ? REMOTE_PART_TOKENS : part.data.length;
    else if (part.type === "other") bytes += Buffer.byteLength(JSON.stringify(part.raw));
    if ("providerData" in part && part.providerData !== undefined) bytes += Buffer.byteLength(JSON.stringify(part.providerData));
  }
  return bytes;
}
