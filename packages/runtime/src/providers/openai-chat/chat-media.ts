import type { ProviderData } from "@keelson/protocol";
import type { DecodedEvent } from "../polled-events.ts";
import { type Fields, fieldsOf, stringOf } from "../wire-decoder.ts";
import type { ChatSaid } from "./chat-wire.ts";

/** Gathers the images and the sound of a response, which stand behind its text. */
export class ChatMedia {
  readonly #images: string[] = [];
  readonly #sound: string[] = [];
  #audioId = "";
  #transcript = "";

  read(message: ChatSaid): void {
    if (Array.isArray(message["images"])) {
      for (const value of message["images"]) {
        const image = fieldsOf(value);
        if (image !== undefined) this.image(image);
      }
    }
    const audio = fieldsOf(message["audio"]);
    if (audio === undefined) return;
    this.#audioId ||= stringOf(audio["id"]);
    const data = stringOf(audio["data"]);
    if (data !== "") this.#sound.push(data);
    this.#transcript += stringOf(audio["transcript"]);
  }

  /** An image as it stands in a message or in its content. */
  image(part: Fields): void {
    this.#images.push(stringOf(fieldsOf(part["image_url"])?.["url"]));
  }

  push(queue: DecodedEvent[], wire: string, audioFormat: string): void {
    for (const url of this.#images) pushImage(queue, url);
    if (this.#audioId === "" && this.#sound.length === 0) return;
    const bytes = Buffer.concat(this.#sound.map((piece) => Buffer.from(piece, "base64")));
    const providerData: ProviderData = {
      wire,
      ...(this.#audioId !== "" && { audio: this.#audioId }),
      ...(this.#transcript !== "" && { transcript: this.#transcript }),
    };
    queue.push({
      type: "content",
      part: { type: "file", mediaType: `audio/${audioFormat}`, data: bytes.toString("base64"), providerData },
    });
  }
}

function pushImage(queue: DecodedEvent[], url: string): void {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  if (inline !== null) queue.push({ type: "content", part: { type: "image", mediaType: inline[1] as string, data: inline[2] as string } });
  else if (url !== "") queue.push({ type: "content", part: { type: "image", mediaType: "image/*", url } });
}
