import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Vfs, type VfsCapability, VfsError } from "@keelson/protocol";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMemoryStore } from "../../state/index.ts";
import { createDiskVfs } from "./disk-vfs.ts";
import { createMemoryVfs } from "./memory-vfs.ts";
import { createStoreVfs } from "./store-vfs.ts";
import { vfsErrorFrom } from "./vfs-error-from.ts";

function diskFiles(): Vfs {
  const root = mkdtempSync(join(tmpdir(), "keelson-timeout-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return createDiskVfs({ root });
}

const FILE_SYSTEMS: readonly (readonly [name: string, open: () => Vfs])[] = [
  ["memory", () => createMemoryVfs()],
  ["the disk", diskFiles],
  ["a state store", () => createStoreVfs({ store: createMemoryStore(), scope: { type: "global" }, namespace: "files" })],
];

/** A signal as `AbortSignal.timeout` makes it, after its time. */
const timedOut = (): AbortSignal => AbortSignal.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => (VfsError.is(error) ? error.failure : error),
  );

describe.each(FILE_SYSTEMS)("operations on files in %s", (_name, open) => {
  it("reject with timeout if the time limit of their signal has passed, and name the path [ER-16, ET-11]", async () => {
    const files = open();
    await files.write("a.txt", "text");
    const signal = timedOut();
    const operations: readonly (readonly [VfsCapability, () => Promise<unknown>])[] = [
      ["read", () => files.read("a.txt", { signal })],
      ["write", () => files.write("a.txt", "other", { signal })],
      ["edit", () => files.edit("a.txt", "text", "other", { signal })],
      ["ls", () => files.ls("a.txt", { signal })],
      ["cp", () => files.cp("a.txt", "b.txt", { signal })],
      ["rm", () => files.rm("a.txt", { signal })],
      ["grep", () => files.grep("text", { path: "a.txt", signal })],
    ];
    for (const [capability, operation] of operations)
      if (files.capabilities.has(capability))
        expect(await failureOf(operation()), capability).toMatchObject({ kind: "timeout", path: "a.txt" });
    if (files.capabilities.has("glob")) expect(await failureOf(files.glob("*", { signal }))).toMatchObject({ kind: "timeout", path: "." });
    expect(new TextDecoder().decode((await files.read("a.txt")).content)).toBe("text");
  });

  it("reject with the reason of any other abort", async () => {
    const files = open();
    const reason = new Error("the user left");
    expect(await failureOf(files.read("a.txt", { signal: AbortSignal.abort(reason) }))).toBe(reason);
  });
});

it("vfsErrorFrom reports a timeout of the system, as of a network file system, as timeout [ER-16]", () => {
  const error = vfsErrorFrom(Object.assign(new Error("connection timed out"), { code: "ETIMEDOUT" }), "/mnt/a");
  expect(error.failure).toMatchObject({ kind: "timeout", path: "/mnt/a" });
  expect(error.retryable).toBe(true);
});
