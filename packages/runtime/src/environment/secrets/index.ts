// Crypto
export { type Keys, createKeyRing, newKey } from "../crypto/keys.ts";
export { loadKeys } from "../crypto/load-keys.ts";
export { type FileKeyRing, openKeyRing } from "../crypto/file-key-ring.ts";
export { deriveKey, keyFromPassphrase, type PassphraseOptions } from "../crypto/derive-key.ts";
export { createSealer, type Sealer } from "../crypto/sealer.ts";
export { createSigner, type Signer } from "../crypto/signer.ts";
export { createSignatureKeys, isSignedBy, type SignatureKeys, signWith } from "../crypto/signature-keys.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { KeyRing, NamedKey } from "@keelson/protocol";
