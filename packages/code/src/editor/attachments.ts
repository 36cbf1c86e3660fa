import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { Content } from "@keelson/protocol";
import { printableLine } from "../text/printable.ts";
import { type AttachedImage, readAttachedImage } from "./attached-image.ts";
import { findImagePaths } from "./image-paths.ts";

/** A message with its images. */
export interface AttachedMessage {
  /** A text if the message has no image. */
  readonly content: string | readonly Content[];
  /** A line for each image that is sent. */
  readonly sent: readonly string[];
  /** A line for each image that is not sent, although the message names it. */
  readonly problems: readonly string[];
}

/** The images of a conversation. */
export interface Attachments {
  /** Keeps an image. @returns its marker in a message */
  add(image: AttachedImage): string;
  /** Puts the images into a message that its markers and its paths of image files name. */
  attach(text: string): Promise<AttachedMessage>;
}

export interface AttachmentsOptions {
  /** The folder of relative paths, absolute. */
  cwd(): string;
  /** Default: the home folder of the user. */
  readonly home?: string;
  /** Default: the file system. */
  readonly read?: (path: string) => Promise<Uint8Array>;
}

/** Images that markers of earlier messages can still name. */
const MAX_KEPT = 20;
const MAX_PATHS = 10;
const MARKER = /\[image #(\d+)\]/g;

export function createAttachments({ cwd, home = homedir(), read = (path) => readFile(path) }: AttachmentsOptions): Attachments {
  const images = new Map<number, AttachedImage>();
  let count = 0;

  function add(image: AttachedImage): string {
    count += 1;
    images.set(count, image);
    images.delete(count - MAX_KEPT);
    return `[image #${count}]`;
  }

  /** Returns the text with markers in place of the paths of images that can be read. */
  async function replacePaths(text: string, problems: string[]): Promise<string> {
    const parts: string[] = [];
    let end = 0;
    for (const found of findImagePaths(text).slice(0, MAX_PATHS)) {
      const path = found.path.startsWith("~/") ? join(home, found.path.slice(2)) : resolve(cwd(), found.path);
      // A path without a file is text: the agent reads it as it is written.
      const bytes = await read(path).catch(() => undefined);
      if (bytes === undefined) continue;
      try {
        const marker = add(readAttachedImage(bytes, basename(path)));
        parts.push(text.slice(end, found.start), marker);
        end = found.end;
      } catch (error) {
        problems.push(error instanceof Error ? error.message : String(error));
      }
    }
    return [...parts, text.slice(end)].join("");
  }

  return {
    add,
    async attach(given) {
      const problems: string[] = [];
      const text = await replacePaths(given, problems);
      const content: Content[] = [];
      const sent: string[] = [];
      const seen = new Set<number>();
      let end = 0;
      for (const match of text.matchAll(MARKER)) {
        const number = Number(match[1]);
        const image = images.get(number);
        if (image === undefined)
          problems.push(
            `${match[0]} is not available: there is no such image, or 20 newer ones replaced it. Paste it again, or name its file.`,
          );
        if (image === undefined || seen.has(number)) continue;
        seen.add(number);
        const upTo = match.index + match[0].length;
        content.push({ type: "text", text: text.slice(end, upTo) }, { type: "image", mediaType: image.mediaType, data: image.data });
        sent.push(`image #${number}: ${describeImage(image)}`);
        end = upTo;
      }
      if (sent.length === 0) return { content: text, sent, problems };
      const rest = text.slice(end);
      // Vendors refuse text without a character.
      if (rest.trim() !== "") content.push({ type: "text", text: rest });
      return { content, sent, problems };
    },
  };
}

/** Returns the name and the size of an image, for a person. */
export function describeImage({ name, width, height }: AttachedImage): string {
  return `${printableLine(name)}${width === undefined ? "" : ` ${width}×${height}`}`;
}
