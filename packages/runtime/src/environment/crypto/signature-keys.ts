import { nodeCrypto } from "../../platform/node-crypto.ts";

/** A pair of Ed25519 keys, as PEM: `privateKey` (PKCS #8) signs, `publicKey` (SPKI) can only verify and may be given to anybody. */
export interface SignatureKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

export function createSignatureKeys(): SignatureKeys {
  return nodeCrypto().generateKeyPairSync("ed25519", {
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}

/** @returns the signature, as base64url */
export function signWith(privateKey: string, content: string | Uint8Array): string {
  return nodeCrypto().sign(null, bytesOf(content), privateKey).toString("base64url");
}

export function isSignedBy(publicKey: string, content: string | Uint8Array, signature: string): boolean {
  return nodeCrypto().verify(null, bytesOf(content), publicKey, Buffer.from(signature, "base64url"));
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? Buffer.from(content, "utf8") : content;
}
