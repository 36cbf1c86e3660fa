import type { ImagePart } from "@keelson/protocol";
import { withBytes } from "../history.ts";
import { fitMedia } from "./fit-media.ts";
import { readImage } from "./read-image.ts";

/** What a vendor takes of an image. What is absent is not limited, as far as his pages say. */
interface ImageLimits {
  readonly vendor: string;
  readonly mediaTypes: readonly string[];
  /** Of the base64 text, which is what vendors measure. */
  readonly maxCharacters: number;
  readonly maxPixelsASide?: number;
}

const MIB = 1024 * 1024;
const COMMON = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/**
 * By wire, from the vendors' pages on images (Claude: vision; OpenAI: images and vision; Gemini: image understanding) and their errors.
 * A limit that is missing here (2,000 pixels a side where a request has many images) is met at the vendor: what he refuses is left out then.
 */
const LIMITS: { readonly [wire: string]: ImageLimits } = {
  // "image exceeds 5 MB maximum: … bytes > 5242880 bytes", "… dimensions exceed max allowed size: 8000 pixels".
  "anthropic-messages": { vendor: "Anthropic", mediaTypes: COMMON, maxCharacters: 5 * MIB, maxPixelsASide: 8000 },
  "openai-responses": { vendor: "OpenAI", mediaTypes: COMMON, maxCharacters: 50 * MIB },
  // Of many vendors: what the first of them takes.
  "openai-chat": { vendor: "this API", mediaTypes: COMMON, maxCharacters: 50 * MIB },
  "gemini": {
    vendor: "Gemini",
    mediaTypes: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    maxCharacters: 20 * MIB,
  },
};

/**
 * Why an image can't be shown to a model over this wire, in words that say what to do; nothing where it can, as far as its bytes
 * tell. One that is named by its address or digest has no bytes here.
 */
export function imageProblem(part: ImagePart, wire: string): string | undefined {
  const { data, mediaType } = withBytes(fitMedia(part));
  if (data === undefined) return undefined;
  const limits = Object.hasOwn(LIMITS, wire) ? LIMITS[wire] : undefined;
  if (limits !== undefined && !limits.mediaTypes.includes(mediaType))
    return `${limits.vendor} takes no ${mediaType}, only ${limits.mediaTypes.join(", ")}: convert it`;
  if (COMMON.includes(mediaType)) {
    const facts = readImage(data);
    if (facts === undefined)
      return `its bytes are no ${mediaType.slice("image/".length).toUpperCase()} image: it is damaged, cut off, or something else`;
    const side = limits?.maxPixelsASide;
    if (side !== undefined && Math.max(facts.width ?? 0, facts.height ?? 0) > side)
      return `it has ${facts.width} × ${facts.height} pixels, and ${limits?.vendor} takes at most ${side} a side: scale it down`;
  }
  if (limits !== undefined && data.length > limits.maxCharacters)
    return `it has ${data.length} bytes as base64, and ${limits.vendor} takes at most ${limits.maxCharacters}: scale it down`;
  return undefined;
}
