import type { CompactionPolicy, Content, Digest, FilePart, ImagePart, Message } from "@keelson/protocol";
import { messageTokenBound } from "../providers/token-bound.ts";

/**
 * The messages of one conversation, oldest first, each with what compaction may do to it. Grows at the end; only a
 * compaction or a rewind replaces what stands before. Messages keep their identity, so that encoders may cache by it.
 */
export class Conversation {
  #messages: Message[] = [];
  /** Of the messages that have another than "normal", at their places; absent where none has. */
  #policies: CompactionPolicy[] | undefined;
  #tokenBound = 0;
  #namesBlobs = false;
  #revision = 0;

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get length(): number {
    return this.#messages.length;
  }

  /** An upper bound of the messages' tokens. */
  get tokenBound(): number {
    return this.#tokenBound;
  }

  /** Whether a part of some message may have to be fetched from the blob store before a model sees it. */
  get namesBlobs(): boolean {
    return this.#namesBlobs;
  }

  /** How often it was replaced or shortened: as long as it stays, messages were only added. */
  get revision(): number {
    return this.#revision;
  }

  policyAt(index: number): CompactionPolicy {
    return this.#policies?.[index] ?? "normal";
  }

  /** The messages from the one at `index` on; those that compaction may treat as any other have no policy. */
  entriesFrom(index: number): readonly { readonly message: Message; readonly policy?: CompactionPolicy }[] {
    return this.#messages.slice(index).map((message, offset) => {
      const policy = this.policyAt(index + offset);
      return policy === "normal" ? { message } : { message, policy };
    });
  }

  append(message: Message, policy: CompactionPolicy = "normal"): void {
    if (policy !== "normal") (this.#policies ??= [])[this.#messages.length] = policy;
    this.#messages.push(message);
    this.#tokenBound += messageTokenBound(message);
    this.#namesBlobs ||= message.content.some(namesBlob);
  }

  replace(entries: readonly { readonly message: Message; readonly policy?: CompactionPolicy }[]): void {
    this.#messages = entries.map((entry) => entry.message);
    this.#policies = entries.some(({ policy = "normal" }) => policy !== "normal")
      ? entries.map(({ policy = "normal" }) => policy)
      : undefined;
    this.#count();
  }

  truncate(length: number): void {
    this.#messages.length = Math.min(length, this.#messages.length);
    this.#policies?.splice(this.#messages.length);
    this.#count();
  }

  #count(): void {
    this.#revision++;
    this.#namesBlobs = this.#messages.some((message) => message.content.some(namesBlob));
    this.#tokenBound = 0;
    for (const message of this.#messages) this.#tokenBound += messageTokenBound(message);
  }
}

/** An image or file whose bytes are in the blob store. */
export function namesBlob(part: Content): part is (ImagePart | FilePart) & { readonly blob: Digest } {
  return (part.type === "image" || part.type === "file") && part.blob !== undefined && part.data === undefined;
}
