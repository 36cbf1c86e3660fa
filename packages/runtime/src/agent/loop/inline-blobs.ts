import { AgentError, LogError, type BlobStore, type Content, type Message } from "@keelson/protocol";
import { namesBlob } from "../../context/conversation.ts";

/** A message that is sent again at the next turn is the same object again, whose bytes were read once. */
const inlined = new WeakMap<Message, Message>();

/** The messages as a model gets them: images and files that are named by digest come with their bytes. */
export function messagesWithBlobs(messages: readonly Message[], blobs: BlobStore): Promise<readonly Message[]> {
  return Promise.all(messages.map((message) => withBlobs(message, blobs)));
}

async function withBlobs(message: Message, blobs: BlobStore): Promise<Message> {
  if (!message.content.some((part) => namesBlob(part))) return message;
  let whole = inlined.get(message);
  if (whole === undefined) {
    whole = { ...message, content: await Promise.all(message.content.map((part) => withBytes(part, blobs))) };
    inlined.set(message, whole);
  }
  return whole;
}

async function withBytes(part: Content, blobs: BlobStore): Promise<Content> {
  if (!namesBlob(part)) return part;
  const { blob, ...rest } = part;
  try {
    return { ...rest, data: Buffer.from(await blobs.get(blob)).toString("base64") } as Content;
  } catch (cause) {
    // It will not come by waiting: the run ends, while a store that can't be reached only interrupts it.
    if (!LogError.is(cause, "not-found")) throw cause;
    throw new AgentError(
      { kind: "backend", message: `The conversation names an ${part.type} that is not in the blob store: ${blob}.` },
      { cause },
    );
  }
}
