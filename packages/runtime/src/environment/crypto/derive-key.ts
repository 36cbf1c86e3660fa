import { promisify } from "node:util";
import type { ScryptOptions } from "node:crypto";
import { checkOptionNames } from "../../json/option-names.ts";
import { nodeCrypto } from "../../platform/node-crypto.ts";
import { KEY_BYTES } from "./keys.ts";

/**
 * A key of 32 bytes for one purpose, from a key that has others (HKDF with SHA-256): who learns the one learns nothing about the rest.
 * @param purpose what the new key is for, as in "sessions of tenant 7"
 */
export function deriveKey(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(nodeCrypto().hkdfSync("sha256", secret, new Uint8Array(), purpose, KEY_BYTES));
}

export interface PassphraseOptions {
  /** At least 16 random bytes, kept beside what the key seals: without the same salt there is no same key. */
  readonly salt: Uint8Array;
  /** A power of two: how much work each guess is. Default 131072, some 0.3 s and 128 MiB, as OWASP recommends. */
  readonly cost?: number | undefined;
}

const DEFAULT_COST = 2 ** 17;
const BLOCK_SIZE = 8;
const LEAST_SALT_BYTES = 16;

/** A key of 32 bytes from what a person remembers (scrypt). */
export async function keyFromPassphrase(passphrase: string, options: PassphraseOptions): Promise<Uint8Array> {
  checkOptionNames("keyFromPassphrase", options, { salt: true, cost: true });
  const { salt, cost = DEFAULT_COST } = options;
  if (salt.length < LEAST_SALT_BYTES)
    throw new RangeError(`The salt of a passphrase has ${salt.length} bytes: use ${LEAST_SALT_BYTES} random ones.`);
  const scrypt = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(nodeCrypto().scrypt);
  // The same letters typed on another keyboard may come in another form.
  const key = await scrypt(passphrase.normalize("NFKC"), salt, KEY_BYTES, {
    N: cost,
    r: BLOCK_SIZE,
    p: 1,
    maxmem: 129 * cost * BLOCK_SIZE + 1024 * 1024,
  });
  return new Uint8Array(key);
}
