import { EnvironmentError, type KeyRing, type NamedKey } from "@keelson/protocol";
import { nodeCrypto } from "../../platform/node-crypto.ts";

/**
 * Seals values so that they can be neither read nor changed without a key of the ring (AES-256-GCM). Every value has a key and a nonce
 * of its own, drawn from 16 random bytes and the ring's key (HKDF), so that one key of the ring may seal any number of values.
 * `associated` says what the value belongs to, a name or a place: a sealed value that was moved elsewhere does not open there.
 */
export interface Sealer {
  seal(plain: Uint8Array, associated: string): Promise<Uint8Array>;
  /**
   * Seals so that, while a key is the current one, the same value for the same place becomes the same bytes: for stores that keep what is
   * the same once. Who sees the bytes learns that two values are the same, and nothing else.
   */
  sealAlike(plain: Uint8Array, associated: string): Promise<Uint8Array>;
  /** @throws EnvironmentError of kind `credential-failed` when it was changed or moved, or its key is unknown */
  open(sealed: Uint8Array, associated: string): Promise<Uint8Array>;
  /** As letters, digits, `_`, `-` and `.`, for where bytes can't stand. */
  sealText(plain: string, associated: string): Promise<string>;
  openText(sealed: string, associated: string): Promise<string>;
  /** The same value under the current key; what that sealed already is given back as it is. Call it on everything before an old key is dropped. */
  reseal(sealed: Uint8Array, associated: string): Promise<Uint8Array>;
  resealText(sealed: string, associated: string): Promise<string>;
}

// A sealed value: MAGIC, the length of the key's id, the id, SALT_BYTES of salt, the ciphertext, TAG_BYTES of tag.
const MAGIC = Buffer.from("KSL1");
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const KEY_BYTES = 32;
const TAG_BYTES = 16;
const TEXT_PREFIX = "keelson-sealed-1.";

export function createSealer(ring: KeyRing): Sealer {
  const sealer: Sealer = {
    async seal(plain, associated) {
      return sealWith(await ring.current(), plain, associated, nodeCrypto().randomBytes(SALT_BYTES));
    },
    async sealAlike(plain, associated) {
      const key = await ring.current();
      return sealWith(key, plain, associated, saltOf(key, plain, associated));
    },
    async open(sealed, associated) {
      const parts = partsOf(sealed);
      const key = await ring.find(parts.keyId);
      if (key === undefined)
        throw cannotOpen(
          parts.keyId,
          `it was sealed with the key "${parts.keyId}", which is not known here. Add that key to the previous ones.`,
        );
      return openWith(key, parts, associated);
    },
    async reseal(sealed, associated) {
      const { id } = await ring.current();
      return partsOf(sealed).keyId === id ? sealed : sealer.seal(await sealer.open(sealed, associated), associated);
    },
    async sealText(plain, associated) {
      return toText(await sealer.seal(Buffer.from(plain, "utf8"), associated));
    },
    async openText(sealed, associated) {
      return Buffer.from(await sealer.open(fromText(sealed), associated)).toString("utf8");
    },
    async resealText(sealed, associated) {
      return toText(await sealer.reseal(fromText(sealed), associated));
    },
  };
  return sealer;
}

/** Whether these bytes begin as sealed values do. */
export function isSealed(bytes: Uint8Array): boolean {
  return MAGIC.equals(bytes.subarray(0, MAGIC.length));
}

interface SealedParts {
  readonly keyId: string;
  readonly header: Buffer;
  readonly salt: Buffer;
  readonly ciphertext: Buffer;
  readonly tag: Buffer;
}

function sealWith(key: NamedKey, plain: Uint8Array, associated: string, salt: Uint8Array): Uint8Array {
  const { createCipheriv } = nodeCrypto();
  const id = Buffer.from(key.id, "utf8");
  const header = Buffer.concat([MAGIC, Buffer.of(id.length), id]);
  const { secret, nonce } = keyOfValue(key, salt);
  const cipher = createCipheriv("aes-256-gcm", secret, nonce, { authTagLength: TAG_BYTES }).setAAD(boundTo(header, associated));
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  return new Uint8Array(Buffer.concat([header, salt, ciphertext, cipher.getAuthTag()]));
}

function openWith(key: NamedKey, { keyId, header, salt, ciphertext, tag }: SealedParts, associated: string): Uint8Array {
  const { secret, nonce } = keyOfValue(key, salt);
  const decipher = nodeCrypto()
    .createDecipheriv("aes-256-gcm", secret, nonce, { authTagLength: TAG_BYTES })
    .setAAD(boundTo(header, associated))
    .setAuthTag(tag);
  try {
    return new Uint8Array(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
  } catch {
    throw cannotOpen(keyId, `it was changed, or belongs somewhere else than to ${JSON.stringify(associated)}.`);
  }
}

function keyOfValue(key: NamedKey, salt: Uint8Array): { readonly secret: Uint8Array; readonly nonce: Uint8Array } {
  const derived = new Uint8Array(nodeCrypto().hkdfSync("sha256", key.secret, salt, "keelson sealed value 1", KEY_BYTES + NONCE_BYTES));
  return { secret: derived.subarray(0, KEY_BYTES), nonce: derived.subarray(KEY_BYTES) };
}

/** As good as random to who has no key; no two values share one, short of a collision of 128 bits. */
function saltOf(key: NamedKey, plain: Uint8Array, associated: string): Uint8Array {
  const { createHmac, hkdfSync } = nodeCrypto();
  const secret = new Uint8Array(hkdfSync("sha256", key.secret, new Uint8Array(), "keelson sealed alike 1", KEY_BYTES));
  const place = Buffer.from(associated, "utf8");
  return createHmac("sha256", secret).update(`${place.length}\n`).update(place).update(plain).digest().subarray(0, SALT_BYTES);
}

/** The header is of a length that it tells itself, so that no two pairs make the same bytes. */
function boundTo(header: Uint8Array, associated: string): Uint8Array {
  return Buffer.concat([header, Buffer.from(associated, "utf8")]);
}

function partsOf(sealed: Uint8Array): SealedParts {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const idLength = bytes[MAGIC.length] ?? 0;
  const headerLength = MAGIC.length + 1 + idLength;
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC) || bytes.length < headerLength + SALT_BYTES + TAG_BYTES) throw notSealed();
  return {
    keyId: bytes.subarray(MAGIC.length + 1, headerLength).toString("utf8"),
    header: bytes.subarray(0, headerLength),
    salt: bytes.subarray(headerLength, headerLength + SALT_BYTES),
    ciphertext: bytes.subarray(headerLength + SALT_BYTES, bytes.length - TAG_BYTES),
    tag: bytes.subarray(bytes.length - TAG_BYTES),
  };
}

function toText(sealed: Uint8Array): string {
  return TEXT_PREFIX + Buffer.from(sealed).toString("base64url");
}

function fromText(sealed: string): Uint8Array {
  const text = sealed.startsWith(TEXT_PREFIX) ? sealed.slice(TEXT_PREFIX.length) : undefined;
  // Node skips what is no base64url; a changed text must not open all the same.
  const bytes = text === undefined ? undefined : Buffer.from(text, "base64url");
  if (bytes === undefined || bytes.toString("base64url") !== text) throw notSealed();
  return bytes;
}

function notSealed(): EnvironmentError {
  return new EnvironmentError({
    kind: "credential-failed",
    credential: "sealed value",
    message: "This is no sealed value, or only a part of one.",
  });
}

function cannotOpen(keyId: string, reason: string): EnvironmentError {
  return new EnvironmentError({ kind: "credential-failed", credential: keyId, message: `The sealed value can't be opened: ${reason}` });
}
