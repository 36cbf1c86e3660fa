import type { Digest, JsonValue } from "@keelson/protocol";
import { canonicalJson } from "./canonical-json.ts";
import { nodeCrypto } from "../platform/node-crypto.ts";

/**
 * The SHA-256 content address of a text (its UTF-8), of bytes, or of any other JSON value (its canonical JSON).
 * Values that are equal as JSON have one digest, whatever the order of their keys.
 */
export function digestOf(value: JsonValue | Uint8Array): Digest {
  const data = typeof value === "string" || value instanceof Uint8Array ? value : canonicalJson(value);
  return `sha256:${nodeCrypto().hash("sha256", data, "hex")}` as Digest;
}

// RFC 4648 base32 in lower case: letters and digits alone, so ids made of it pass every vendor's pattern and file system.
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const MAX_LENGTH = 51;

/**
 * A short name for a text: the first `length` characters (5 bits each) of its SHA-256 in lower-case base32.
 * The default of 24 holds 120 bits. @throws RangeError outside 1 to 51
 */
export function shortHash(text: string, length: number = 24): string {
  if (!Number.isInteger(length) || length < 1 || length > MAX_LENGTH)
    throw new RangeError(`A short hash has 1 to ${MAX_LENGTH} characters, not ${length}`);
  const bytes = nodeCrypto().hash("sha256", text, "buffer");
  let name = "";
  for (let bit = 0; name.length < length; bit += 5) {
    // The two bytes that the five bits lie in.
    const pair = ((bytes[bit >> 3] as number) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    name += ALPHABET[(pair >> (11 - (bit & 7))) & 31];
  }
  return name;
}
