import { LogError } from "@keelson/protocol";
import { expect, it } from "vitest";
import { describeBlobStore } from "../../testing/blob-store-contract.ts";
import { createMemoryBlobStore } from "./memory-blob-store.ts";

describeBlobStore("createMemoryBlobStore", () => createMemoryBlobStore());

it("refuses a blob over its limit", async () => {
  await using store = createMemoryBlobStore({ maxBlobBytes: 10 });
  await store.put(new Uint8Array(10));
  await expect(store.put(new Uint8Array(11))).rejects.toSatisfy((error) => LogError.is(error, "too-large"));
});
