import type { FilePart, ImagePart } from "@keelson/protocol";
import { withBytes } from "../history.ts";

/** Other names of media types. */
const ALIASES: { readonly [mediaType: string]: string } = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/jfif": "image/jpeg",
  "image/x-jpeg": "image/jpeg",
  "image/x-png": "image/png",
  "image/apng": "image/png",
  "image/x-webp": "image/webp",
  "application/x-pdf": "application/pdf",
};

/**
 * The part with the media type that its bytes have: that wins over another one that was declared. Without bytes, or with bytes of
 * no known kind, the declared type in its registered form.
 */
export function fitMedia<T extends ImagePart | FilePart>(part: T): T {
  const own = withBytes(part);
  const declared = mediaTypeOf(own.mediaType);
  const found = own.data === undefined ? undefined : sniffMediaType(own.data);
  const isOfKind = found !== undefined && found.startsWith("image/") === (part.type === "image");
  const mediaType = isOfKind ? found : declared;
  return mediaType === own.mediaType ? part : { ...own, mediaType };
}

function mediaTypeOf(declared: string): string {
  const bare = (declared.split(";")[0] as string).trim().toLowerCase();
  const known = Object.hasOwn(ALIASES, bare) ? ALIASES[bare] : undefined;
  if (known !== undefined) return known;
  // Parameters of text say how it is encoded; those of images and documents say nothing that a vendor reads.
  return bare.startsWith("image/") || bare === "application/pdf" ? bare : declared;
}

/** The media type of base64 bytes, by their first ones. */
export function sniffMediaType(base64: string): string | undefined {
  const bytes = Buffer.from(base64.slice(0, 64), "base64");
  const text = bytes.toString("latin1");
  if (text.startsWith("\u0089PNG\r\n\u001A\n")) return "image/png";
  if (text.startsWith("\u00FF\u00D8\u00FF")) return "image/jpeg";
  if (/^GIF8[79]a/.test(text)) return "image/gif";
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "image/webp";
  if (/^ftyp(?:heic|heix|hevc|heim|heis)/.test(text.slice(4))) return "image/heic";
  if (/^ftyp(?:mif1|msf1)/.test(text.slice(4))) return "image/heif";
  return text.startsWith("%PDF-") ? "application/pdf" : undefined;
}
