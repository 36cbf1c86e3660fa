import { shortHash } from "../../json/digest.ts";
import { isFitName, type NameRule } from "./wire-rules.ts";

const HASH_LENGTH = 8;

/**
 * The name as the vendor accepts it: itself, or the readable part of it with a hash of the whole. The same name gives the same
 * each time, and two names never give one.
 */
export function fitName(name: string, rule: NameRule): string {
  return isFitName(name, rule) ? name : standInName(name, rule);
}

/** Another name for it, which fits, even if the name itself does. */
export function standInName(name: string, { first, maxLength }: NameRule, salt = ""): string {
  const readable = name.replaceAll(/[^a-zA-Z0-9_-]+/g, "_").slice(0, maxLength - HASH_LENGTH - 2);
  // Half a character of UTF-16 has no UTF-8: escaped, two of them have two hashes.
  const hash = shortHash(`${JSON.stringify(name)}${salt}`, HASH_LENGTH);
  const start = readable === "" || readable === "_" ? "x" : new RegExp(`^[${first}]`).test(readable) ? readable : `x${readable}`;
  return `${start}${start.endsWith("_") ? "" : "_"}${hash}`;
}
