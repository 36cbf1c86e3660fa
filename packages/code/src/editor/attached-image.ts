import { getImageDimensions } from "@earendil-works/pi-tui";
import { printableLine } from "../text/printable.ts";

/** An image that a message brings along. */
export interface AttachedImage {
  /** The name of its file, or where it comes from. */
  readonly name: string;
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
  /** Pixels; absent if the image does not say. */
  readonly width?: number;
  readonly height?: number;
}

/** Five mebibytes as base64, the smallest limit of the vendors of models. */
const MAX_BYTES = (5 * 1024 * 1024 * 3) / 4;

/** Reads the bytes of an image. @throws Error with the reason if they are none, or too many */
export function readAttachedImage(bytes: Uint8Array, name: string): AttachedImage {
  const shown = printableLine(name);
  const mediaType = imageType(bytes);
  if (mediaType === undefined) throw new Error(`${shown} is not a PNG, JPEG, GIF or WebP image. Convert it to one of these.`);
  if (bytes.byteLength > MAX_BYTES)
    throw new Error(`${shown} has ${megabytes(bytes.byteLength)} MB, and models take at most ${megabytes(MAX_BYTES)} MB. Scale it down.`);
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  const size = getImageDimensions(data, mediaType);
  return { name, mediaType, data, ...(size !== null && { width: size.widthPx, height: size.heightPx }) };
}

/** Returns the media type that the first bytes show. */
function imageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(16, bytes.byteLength)).toString("latin1");
  if (head.startsWith("\u0089PNG\r\n\u001a\n")) return "image/png";
  if (head.startsWith("\u00ff\u00d8\u00ff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return head.startsWith("RIFF") && head.slice(8, 12) === "WEBP" ? "image/webp" : undefined;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
