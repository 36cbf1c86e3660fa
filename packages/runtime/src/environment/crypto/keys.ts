import { AgentError, type KeyRing, type NamedKey } from "@keelson/protocol";
import { nodeCrypto } from "../../platform/node-crypto.ts";
import { checkOptionNames } from "../../json/option-names.ts";

/** `current` seals and signs; what `previous` keys sealed or signed is still read. To rotate, put a new key first and drop an old one when nothing needs it. */
export interface Keys {
  readonly current: NamedKey;
  readonly previous?: readonly NamedKey[];
}

/** What messages call keys. */
export interface KeyTerms {
  /** The option that they are given as. */
  readonly option: string;
  /** As in "approval key". */
  readonly name: string;
}

export const KEY_BYTES = 32;
const KEY_ID = /^[\w-]{1,64}$/;

export function newKey(): NamedKey {
  const { randomBytes } = nodeCrypto();
  return { id: randomBytes(6).toString("hex"), secret: new Uint8Array(randomBytes(KEY_BYTES)) };
}

/** @throws AgentError of kind `invalid-option` when a key is too short, badly named or named twice */
export function checkKeys(keys: Keys, { option, name }: KeyTerms): void {
  const refuse = (message: string): AgentError => new AgentError({ kind: "invalid-option", option, message });
  checkOptionNames(option, keys, { current: true, previous: true });
  const seen = new Set<string>();
  for (const { id, secret } of [keys.current, ...(keys.previous ?? [])]) {
    if (!KEY_ID.test(id))
      throw refuse(`The id of ${withArticle(name)} is ${JSON.stringify(id)}: use at most 64 letters, digits, "_" and "-".`);
    if (seen.has(id)) throw refuse(`Two ${name}s have the id ${JSON.stringify(id)}: give each its own.`);
    if (secret.length < KEY_BYTES)
      throw refuse(`The ${name} ${JSON.stringify(id)} has ${secret.length} bytes: use at least ${KEY_BYTES} random ones.`);
    seen.add(id);
  }
}

/** A ring of keys that are here. @throws AgentError of kind `invalid-option` when one can't be used */
export function createKeyRing(keys: Keys): KeyRing {
  checkKeys(keys, { option: "keys", name: "key" });
  const all = new Map([keys.current, ...(keys.previous ?? [])].map((key) => [key.id, key]));
  const { current } = keys;
  return {
    current: async () => current,
    find: async (id) => all.get(id),
  };
}

function withArticle(name: string): string {
  return `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
}
