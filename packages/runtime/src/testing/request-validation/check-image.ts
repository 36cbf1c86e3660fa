import type { RequestCheck } from "./request-check.ts";

/** The first bytes of the formats that the APIs read. */
const SIGNATURES: readonly { readonly mediaType: string; readonly base64: RegExp }[] = [
  { mediaType: "image/png", base64: /^iVBORw0KGgo/ },
  { mediaType: "image/jpeg", base64: /^\/9j\// },
  { mediaType: "image/gif", base64: /^R0lGOD[ld]h/ },
  { mediaType: "image/webp", base64: /^UklGR.{6,8}XRUJQ/ },
];

/**
 * Notes an image of a type that the API does not accept, or with bytes of another: "The image was specified using the image/png
 * media type, but the image appears to be a image/jpeg image".
 */
export function checkImage(check: RequestCheck, mediaType: unknown, data: unknown, path: string, accepted: readonly string[]): void {
  if (check.oneOf(mediaType, path, accepted) === undefined || typeof data !== "string") return;
  const found = SIGNATURES.find(({ base64 }) => base64.test(data))?.mediaType;
  if (found !== undefined && found !== mediaType) check.fail(path, `was specified as ${String(mediaType)}, but appears to be ${found}`);
}

/** Does the same as `checkImage` for a `data:` address; every other address passes. */
export function checkImageUrl(check: RequestCheck, url: unknown, path: string, accepted: readonly string[]): void {
  if (typeof url !== "string" || !url.startsWith("data:")) return;
  const [, mediaType, data] = /^data:([^;,]*)(?:;[^;,]+)*,(.*)$/s.exec(url) ?? [];
  checkImage(check, mediaType, data, path, accepted);
}
