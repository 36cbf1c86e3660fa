import { NAME_HASH_LENGTH, nameHash } from "../../json/name-hash.ts";
import { isFitName, type NameRule } from "./wire-rules.ts";

/**
 * The name as the vendor accepts it: itself, or the readable part of it with a hash of the whole. The same name gives the same
 * each time, and two names never give one.
 */
export function fitName(name: string, rule: NameRule): string {
  return isFitName(name, rule) ? name : standInName(name, rule);
}

/** Returns a name that replaces the given one, even if that fits. */
export function standInName(name: string, { first, maxLength }: NameRule, salt = ""): string {
  const readable = name.replaceAll(/[^a-zA-Z0-9_-]+/g, "_").slice(0, maxLength - NAME_HASH_LENGTH - 2);
  const hash = nameHash(name, salt);
  const start = readable === "" || readable === "_" ? "x" : new RegExp(`^[${first}]`).test(readable) ? readable : `x${readable}`;
  return `${start}${start.endsWith("_") ? "" : "_"}${hash}`;
}
