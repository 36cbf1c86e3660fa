import { shortHash } from "./digest.ts";

/** The length of the hash in a name that replaces one that a vendor refuses. */
export const NAME_HASH_LENGTH = 8;

/**
 * Returns the hash of a name that a vendor refuses, for the name that replaces it. JSON escapes the half of a surrogate pair, which has no
 * UTF-8, so that two names with different halves have different hashes.
 */
export function nameHash(name: string, salt: string = ""): string {
  return shortHash(`${JSON.stringify(name)}${salt}`, NAME_HASH_LENGTH);
}
