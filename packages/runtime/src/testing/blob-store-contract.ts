import { createHash } from "node:crypto";
import { type BlobStore, type Digest, LogError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";

/**
 * The tests that every `BlobStore` must pass. `create` returns an empty store.
 * @param options.digestOf of what its digests are: of what was put, or, for one that keeps it in another form, of that
 */
export function describeBlobStore(
  name: string,
  create: () => BlobStore | Promise<BlobStore>,
  { digestOf = "content" }: { readonly digestOf?: "content" | "other form" } = {},
): void {
  describe(`${name} keeps the BlobStore contract`, () => {
    it("gives back the bytes it was given, under the digest of their content", async () => {
      await using store = await create();
      const every = Uint8Array.from({ length: 1000 }, (_, index) => index % 256);
      for (const bytes of [
        new Uint8Array(),
        Uint8Array.of(0),
        every,
        new Uint8Array(3 * 1024 * 1024).fill(7),
        Buffer.from("as a Buffer"),
      ]) {
        const digest = await store.put(bytes);
        const ofContent = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
        if (digestOf === "content") expect(digest).toBe(ofContent);
        else {
          expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
          expect(digest).not.toBe(ofContent);
        }
        const back = await store.get(digest);
        expect(back).toBeInstanceOf(Uint8Array);
        expect(Buffer.compare(back, bytes)).toBe(0);
        expect(await store.put(bytes)).toBe(digest);
      }
    });

    it("keeps its content whatever callers do with their bytes", async () => {
      await using store = await create();
      const bytes = Buffer.from("original");
      const put = store.put(bytes);
      bytes.fill(0);
      const digest = await put;
      (await store.get(digest)).fill(1);
      (await store.get(digest, { start: 0, end: 4 })).fill(1);
      expect(text(await store.get(digest))).toBe("original");
    });

    it("reads ranges, cut at the last byte", async () => {
      await using store = await create();
      const digest = await store.put(Buffer.from("0123456789"));
      expect(text(await store.get(digest, { start: 3 }))).toBe("3456789");
      expect(text(await store.get(digest, { start: 3, end: 5 }))).toBe("34");
      expect(text(await store.get(digest, { start: 8, end: 100 }))).toBe("89");
      expect(text(await store.get(digest, { start: 4, end: 4 }))).toBe("");
      expect(text(await store.get(digest, { start: 50 }))).toBe("");
      expect(text(await store.get(digest, { start: 50, end: 60 }))).toBe("");
      for (const range of [{ start: -1 }, { start: 5, end: 4 }, { start: 0.5 }, { start: 0, end: Number.NaN }]) {
        expect(await kindOf(store.get(digest, range))).toBe("invalid-input");
      }
    });

    it("says so when there is no such blob, and refuses what is no blob", async () => {
      await using store = await create();
      expect(await kindOf(store.get(`sha256:${"0".repeat(64)}` as Digest))).toBe("not-found");
      // @ts-expect-error: a text is no bytes
      expect(await kindOf(store.put("text"))).toBe("invalid-input");
    });

    it("removes a blob where it can, unless it was put since, and says whether it is gone", async (context) => {
      await using store = await create();
      if (store.delete === undefined) return context.skip("it keeps blobs for ever");
      const [digest, other] = [await store.put(Buffer.from("one")), await store.put(Buffer.from("other"))];
      expect(await store.delete(digest, { putUpTo: 0 })).toBe(false);
      expect(text(await store.get(digest))).toBe("one");
      const later = Number.MAX_SAFE_INTEGER;
      expect(await store.delete(digest, { putUpTo: later })).toBe(true);
      expect(await kindOf(store.get(digest))).toBe("not-found");
      expect(await store.delete(digest, { putUpTo: later })).toBe(true);
      expect(text(await store.get(other))).toBe("other");
      expect(await store.put(Buffer.from("one"))).toBe(digest);
      expect(await store.delete(digest, { putUpTo: 0 })).toBe(false);
      expect(text(await store.get(digest))).toBe("one");
    });

    it("rejects everything after its disposal", async () => {
      const store = await create();
      const digest = await store.put(Buffer.from("x"));
      await store[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      expect(await kindOf(store.get(digest))).toBe("closed");
      expect(await kindOf(store.put(Buffer.from("x")))).toBe("closed");
      if (store.delete !== undefined) expect(await kindOf(store.delete(digest, { putUpTo: 0 }))).toBe("closed");
    });
  });
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

async function kindOf(action: Promise<unknown>): Promise<string> {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!LogError.is(error)) throw new Error(`A LogError was expected, not ${String(error)}.`);
  return error.failure.kind;
}
