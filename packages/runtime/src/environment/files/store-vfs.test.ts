import { StateError, type StateStore, VfsError } from "@keelson/protocol";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { mockStateStore } from "../../testing/mocks/mock-state-store.ts";
import { describeVfs } from "../../testing/vfs-contract.ts";
import { createStoreVfs } from "./store-vfs.ts";

describeVfs("a state store", {
  capabilities: ["read", "write", "rm"],
  create: async (content) => {
    const files = createStoreVfs({ store: mockStateStore(), namespace: "notes" });
    for (const [path, text] of Object.entries(content)) await files.write(path, text);
    return files;
  },
});

it("keeps a file under /<namespace>/<key>, in its scope, text as it stands [AP-02]", async () => {
  const scope = { type: "session", id: "s" } as const;
  const store = mockStateStore({ entries: [[scope, "/notes/plan.json", { steps: [1] }]] });
  const files = createStoreVfs({ store, namespace: "notes", scope });
  await files.write("/notes/a/b.txt", "héllo");
  expect(store.writes).toMatchObject([{ scope, key: "/notes/a/b.txt", value: "héllo" }]);
  expect(Buffer.from((await files.read("plan.json")).content).toString()).toBe('{"steps":[1]}');
  await expect(files.read("/other/a")).rejects.toMatchObject({ failure: { kind: "path-traversal", root: "/notes" } });
});

it("gives back any bytes, from a store that only knows JSON", async () => {
  const files = createStoreVfs({ store: mockStateStore(), namespace: "n" });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array(),
        fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
      ),
      async (bytes) => {
        await files.write("a", bytes);
        expect(Buffer.compare((await files.read("a")).content, bytes)).toBe(0);
      },
    ),
  );
});

it("tells of a store that fails as a VfsError with its cause", async () => {
  const down = new StateError({ kind: "unavailable", message: "the store is away" });
  const fail = (): Promise<never> => Promise.reject(down);
  const store: StateStore = { ...mockStateStore(), read: fail, write: fail, list: fail, delete: fail };
  const error = await createStoreVfs({ store, namespace: "n" })
    .read("a")
    .catch((reason: unknown) => reason);
  expect(VfsError.is(error, "io") && error.cause).toBe(down);
});

it.each(["", ".", "..", "a/b", "a\0"])("refuses the namespace %j", (namespace) => {
  expect(() => createStoreVfs({ store: mockStateStore(), namespace })).toThrow(VfsError);
});
