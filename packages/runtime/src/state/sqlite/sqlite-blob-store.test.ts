import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { LogError, type LogId } from "@keelson/protocol";
import { afterAll, expect, it } from "vitest";
import { describeBlobStore } from "../../testing/blob-store-contract.ts";
import { createSqliteBlobStore } from "./sqlite-blob-store.ts";
import { createSqliteEventLog } from "./sqlite-event-log.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-blobs-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

describeBlobStore("createSqliteBlobStore", () => createSqliteBlobStore(newPath()));

it("keeps blobs in the file, where another store finds them, beside the logs of the same file", async () => {
  const path = newPath();
  await using log = createSqliteEventLog(path);
  const first = createSqliteBlobStore(path);
  const digest = await first.put(Buffer.from("kept"));
  await first[Symbol.asyncDispose]();
  await log.append("l" as LogId, 0, [{ key: "k", type: "t", data: { digest } }], { durability: "power" });
  await using second = createSqliteBlobStore({ path });
  expect(Buffer.from(await second.get(digest)).toString()).toBe("kept");
});

it("notices content that went bad, in ranges as well", async () => {
  const path = newPath();
  const store = createSqliteBlobStore(path);
  const digest = await store.put(Buffer.from("0123456789"));
  await store[Symbol.asyncDispose]();
  const raw = new DatabaseSync(path);
  raw.exec("UPDATE blobs SET bytes = CAST('0123X56789' AS BLOB)");
  raw.close();
  await using again = createSqliteBlobStore(path);
  for (const range of [undefined, { start: 0, end: 2 }]) {
    await expect(again.get(digest, range)).rejects.toSatisfy((error) => LogError.is(error, "corrupt") && error.message.includes(digest));
  }
});

it("refuses what is no digest, and a blob over its limit", async () => {
  await using store = createSqliteBlobStore({ path: newPath(), maxBlobBytes: 10 });
  await expect(store.get("sha256:nonsense" as never)).rejects.toSatisfy((error) => LogError.is(error, "invalid-input"));
  await expect(store.put(new Uint8Array(11))).rejects.toSatisfy((error) => LogError.is(error, "too-large"));
});
