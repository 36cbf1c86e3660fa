import { type Digest, LogError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createKeyRing, newKey } from "../../environment/crypto/keys.ts";
import { digestOf } from "../../state/kit/blob-content.ts";
import { createMemoryBlobStore } from "../../state/memory/memory-blob-store.ts";
import { describeBlobStore } from "../../testing/blob-store-contract.ts";
import { encryptBlobStore } from "./encrypt-blob-store.ts";

const first = newKey();
const second = newKey();
const onlyFirst = createKeyRing({ current: first });
const both = createKeyRing({ current: second, previous: [first] });
const onlySecond = createKeyRing({ current: second });
const hello = Buffer.from("hello, nobody else");

describeBlobStore("an encrypted store of blobs", () => encryptBlobStore(createMemoryBlobStore(), { keys: onlyFirst }), {
  digestOf: "other form",
});

async function failureOf(action: Promise<unknown>): Promise<LogError["failure"]> {
  const error = await action.then(
    () => new Error("It resolved."),
    (reason: unknown) => reason,
  );
  if (!LogError.is(error)) throw error;
  return error.failure;
}

describe("an encrypted store of blobs", () => {
  it("gives the store beneath nothing of what they hold, and no digest of it", async () => {
    const inner = createMemoryBlobStore();
    const digest = await encryptBlobStore(inner, { keys: onlyFirst }).put(hello);
    expect(Buffer.from(await inner.get(digest)).includes("hello")).toBe(false);
    expect(await failureOf(inner.get(digestOf(hello)))).toMatchObject({ kind: "not-found" });
  });

  it("reads what an old key sealed while the ring has it, and says which key is missing when it has not", async () => {
    const inner = createMemoryBlobStore();
    const digest = await encryptBlobStore(inner, { keys: onlyFirst }).put(hello);
    const rotated = encryptBlobStore(inner, { keys: both });
    expect(Buffer.from(await rotated.get(digest))).toEqual(hello);
    expect(await rotated.put(hello)).not.toBe(digest);
    const failure = await failureOf(encryptBlobStore(inner, { keys: onlySecond }).get(digest));
    expect(failure).toMatchObject({ kind: "corrupt", log: digest });
    expect(failure.message).toContain(`"${first.id}"`);
  });

  it("opens nothing that was changed, swapped for another, or put there plain, unless that is allowed", async () => {
    const inner = createMemoryBlobStore();
    const store = encryptBlobStore(inner, { keys: onlyFirst });
    const digest = await store.put(hello);
    const other = await store.put(Buffer.from("another"));
    const swapping = encryptBlobStore({ ...inner, get: () => inner.get(other) }, { keys: onlyFirst });
    expect(await failureOf(swapping.get(digest))).toMatchObject({ kind: "corrupt", log: digest });
    const changed = (await inner.get(digest)).slice();
    changed[changed.length - 20] = (changed[changed.length - 20] as number) ^ 1;
    expect(await failureOf(store.get(await inner.put(changed)))).toMatchObject({ kind: "corrupt" });
    const plain: Digest = await inner.put(hello);
    expect(await failureOf(store.get(plain, { start: 0, end: 5 }))).toMatchObject({
      kind: "corrupt",
      message: expect.stringContaining("mayBePlain"),
    });
    const moving = encryptBlobStore(inner, { keys: onlyFirst, mayBePlain: true });
    expect(Buffer.from(await moving.get(plain, { start: 0, end: 5 })).toString()).toBe("hello");
    expect(Buffer.from(await store.get(digest, { start: 0, end: 5 })).toString()).toBe("hello");
  });
});
