import { nodeCrypto } from "../../platform/node-crypto.ts";

/** HMAC-SHA-256 of a text, as base64url. */
export function hmac(secret: Uint8Array, text: string): string {
  return nodeCrypto().createHmac("sha256", secret).update(text).digest("base64url");
}

/** Compares in a time that tells nothing of where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && nodeCrypto().timingSafeEqual(left, right);
}
