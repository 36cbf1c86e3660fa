import type { KeyRing } from "@keelson/protocol";
import { deriveKey } from "./derive-key.ts";
import { equalInConstantTime, hmac } from "./hmac.ts";

/** Signs texts for readers who have the same keys (HMAC-SHA-256). Those who must not be able to sign get {@link createSignatureKeys}. */
export interface Signer {
  /** @returns the id of the key and the signature, with a dot between them */
  sign(text: string): Promise<string>;
  /** False when the text or the signature was changed, was signed for another purpose, or by a key that is not known here. */
  verify(text: string, signature: string): Promise<boolean>;
}

/** @param purpose what the signatures say, as in "webhook": one that was made for something else is refused */
export function createSigner(ring: KeyRing, purpose: string): Signer {
  const signed = (secret: Uint8Array, text: string): string => hmac(deriveKey(secret, `keelson signature ${purpose}`), text);
  return {
    async sign(text) {
      const { id, secret } = await ring.current();
      return `${id}.${signed(secret, text)}`;
    },
    async verify(text, signature) {
      const dot = signature.indexOf(".");
      const key = dot < 0 ? undefined : await ring.find(signature.slice(0, dot));
      return key !== undefined && equalInConstantTime(signature.slice(dot + 1), signed(key.secret, text));
    },
  };
}
