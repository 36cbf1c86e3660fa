import { type BlobStore, type KeyRing, LogError } from "@keelson/protocol";
import { createSealer, isSealed } from "../../environment/crypto/sealer.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { assertBlob, digestOf, MAX_BLOB_BYTES, sliceBlob } from "../../state/kit/blob-content.ts";
import { unopened } from "./unopened.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { BLOB_STORE_METHODS } from "../../json/interface-methods.ts";
import { FLAG_OPTION } from "../../json/option-rules.ts";

export interface EncryptBlobStoreOptions {
  readonly keys: KeyRing;
  /** Whether blobs that were put without encryption are read as they are, while a store is being moved to it. Default false. */
  readonly mayBePlain?: boolean | undefined;
}

const PLACE = "blob";

/**
 * Encryption at rest: blobs are sealed (AES-256-GCM) before a store gets them. A digest is that of the sealed bytes: that of what they hold
 * would tell everybody who sees the store whether it has a file that they know. The same bytes have the same digest, and are kept once,
 * for as long as one key is the current one. Sizes stay readable. A range is cut from the whole blob, which has to be opened for it.
 */
export function encryptBlobStore(blobs: BlobStore, options: EncryptBlobStoreOptions): BlobStore {
  checkOptionNames("encryptBlobStore", options, { keys: true, mayBePlain: FLAG_OPTION });
  const { keys, mayBePlain = false } = options;
  const sealer = createSealer(keys);
  const encrypted: BlobStore = {
    async put(bytes) {
      assertBlob(bytes, MAX_BLOB_BYTES);
      // The caller may change its bytes while the keys are fetched.
      return blobs.put(await sealer.sealAlike(new Uint8Array(bytes), PLACE));
    },
    async get(digest, range) {
      const sealed = await blobs.get(digest);
      const what = `Blob ${digest}`;
      // The store beneath may give a blob that was sealed with our keys, and is not the one that was asked for.
      if (digestOf(sealed) !== digest)
        throw new LogError({
          kind: "corrupt",
          log: digest,
          message: `${what} is damaged: its content has another digest. Restore the store from a backup.`,
        });
      if (isSealed(sealed)) return sliceBlob(await sealer.open(sealed, PLACE).catch(unopened(what, { log: digest })), range);
      if (mayBePlain) return sliceBlob(sealed, range);
      throw new LogError({
        kind: "corrupt",
        log: digest,
        message: `${what} is not encrypted, and was perhaps put there by somebody who has no key. Where it was put before encryption was on, allow that with mayBePlain.`,
      });
    },
    ...(blobs.delete && { delete: blobs.delete.bind(blobs) }),
    [Symbol.asyncDispose]: () => blobs[Symbol.asyncDispose](),
  };
  return checkMethodOptions("blobs", encrypted, BLOB_STORE_METHODS);
}
