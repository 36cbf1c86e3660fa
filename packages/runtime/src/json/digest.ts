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
const ALPHABET: Uint8Array = Buffer.from("abcdefghijklmnopqrstuvwxyz234567");
const MAX_LENGTH = 51;
/** Each name is written here and read out at once, as one flat string. */
const scratch = Buffer.alloc(MAX_LENGTH);

/**
 * A short name for a text: the first `length` characters (5 bits each) of its SHA-256 in lower-case base32.
 * The default of 24 holds 120 bits. @throws RangeError outside 1 to 51
 */
export function shortHash(text: string, length: number = 24): string {
  if (!Number.isInteger(length) || length < 1 || length > MAX_LENGTH)
    throw new RangeError(`A short hash has 1 to ${MAX_LENGTH} characters, not ${length}`);
  // As text of one character a byte: a buffer for 32 bytes would cost more than the hash.
  const bytes = nodeCrypto().hash("sha256", text, "binary");
  let bits = 0;
  let pending = 0;
  for (let index = 0, written = 0; written < length; index++) {
    pending = (pending << 8) | bytes.charCodeAt(index);
    bits += 8;
    while (bits >= 5 && written < length) {
      bits -= 5;
      scratch[written++] = ALPHABET[(pending >> bits) & 31] as number;
    }
    pending &= (1 << bits) - 1;
  }
  return scratch.toString("latin1", 0, length);
}
