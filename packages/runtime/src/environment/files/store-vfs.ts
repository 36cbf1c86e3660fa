import { isUtf8 } from "node:buffer";
import { type JsonValue, type Scope, StateError, type StateStore, type Vfs, VfsError } from "@keelson/protocol";
import { mimeTypeOf } from "./file-type.ts";
import { isDirectory, needsRecursive, notDirectory, notFound, rootStays, unexpectedContent, unsupported } from "./vfs-failures.ts";
import { namesOf, resolveVirtualPath } from "./virtual-path.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { withTimeoutErrors } from "./with-timeout-errors.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { VFS_METHODS } from "../../json/interface-methods.ts";

export interface StoreVfsOptions {
  readonly store: StateStore;
  /** The root is `/<namespace>`, and the key of a file its whole path. One name, without slashes. */
  readonly namespace: string;
  /** Where in the store. Default: the global scope. */
  readonly scope?: Scope | undefined;
}

// What no writer of plain values would use by chance.
const BYTES_KEY = "~base64";
// What the stores of `keelson/state` take as a key, in UTF-8. Paths may be longer.
const MAX_KEY_BYTES = 1024;

/**
 * The values of a state store as files, one a key: `/<namespace>/<key>`. It reads, writes and removes; a store has no
 * folders to list and no search over content. Text is kept as a string, so that others who read the store see it as it
 * is; what is no text as `{ "~base64": … }`. A value that somebody else put there reads as its JSON.
 */
export function createStoreVfs(options: StoreVfsOptions): Vfs {
  checkOptionNames("createStoreVfs", options, { store: true, namespace: true, scope: true });
  const { store, namespace, scope = { type: "global" } } = options;
  if (namespace === "" || namespace === "." || namespace === ".." || /[/\0]/.test(namespace))
    throw new VfsError({ kind: "other", message: `The namespace "${namespace}" is no name of a folder: use one without slashes.` });
  const root = `/${namespace}`;
  const resolve = (path: string): string => resolveVirtualPath(path, root, root);
  const keysBelow = (place: string): Promise<readonly string[]> =>
    attempt(place, () => store.list(scope, place === root ? `${root}/` : `${place}/`, { limit: 1 }));
  const valueAt = (place: string) => attempt(place, () => store.read(scope, place));

  /** Rejects with what stands there instead of a file, or on the way to it. */
  async function requireFree(place: string): Promise<void> {
    if (place === root || (await keysBelow(place)).length > 0) throw isDirectory(place);
    const names = namesOf(place);
    for (let depth = 2; depth < names.length; depth++)
      if ((await valueAt(`/${names.slice(0, depth).join("/")}`)) !== undefined) throw notDirectory(place);
  }
  async function requireValue(place: string): Promise<{ readonly value: JsonValue; readonly version: number }> {
    const stored = await valueAt(place);
    if (stored !== undefined) return stored;
    await requireFree(place);
    throw notFound(place);
  }
  const refuse = async (operation: Parameters<typeof unsupported>[0]): Promise<never> => {
    throw unsupported(operation, `A state store only reads, writes and removes files; ${operation} is not possible in ${root}.`);
  };

  const files: Vfs = withTimeoutErrors({
    capabilities: new Set(["read", "write", "rm"]),
    root,

    async read(path, { signal } = {}) {
      signal?.throwIfAborted();
      const place = resolve(path);
      const { value } = await requireValue(place);
      const mimeType = mimeTypeOf(place);
      return { content: decode(value), ...(mimeType !== undefined && { mimeType }) };
    },

    async stat(path, { signal } = {}) {
      signal?.throwIfAborted();
      const place = resolve(path);
      const stored = place === root ? undefined : await valueAt(place);
      if (stored !== undefined) return { path: place, size: decode(stored.value).byteLength, isDir: false, isSymlink: false };
      if (place !== root && (await keysBelow(place)).length === 0) {
        await requireFree(place);
        throw notFound(place);
      }
      return { path: place, size: 0, isDir: true, isSymlink: false };
    },

    async write(path, content, { signal, ifUnchanged } = {}) {
      signal?.throwIfAborted();
      const place = resolve(path);
      const bytes = Buffer.from(content);
      const previous = place === root ? undefined : await valueAt(place);
      if (previous === undefined) await requireFree(place);
      if (ifUnchanged === null && previous !== undefined) throw unexpectedContent(place, "it exists already");
      if (ifUnchanged != null && previous === undefined) throw unexpectedContent(place, "it is gone");
      if (ifUnchanged != null && previous !== undefined && Buffer.compare(decode(previous.value), ifUnchanged) !== 0)
        throw unexpectedContent(place, "its content changed");
      const ifVersion = ifUnchanged === undefined ? {} : { ifVersion: previous?.version ?? 0 };
      await attempt(place, () => store.write(scope, place, encode(bytes), ifVersion));
      return { path: place, bytesWritten: bytes.byteLength };
    },

    async rm(path, { recursive = false, signal } = {}) {
      signal?.throwIfAborted();
      const place = resolve(path);
      if (place === root) throw rootStays(root);
      if ((await valueAt(place)) !== undefined) return attempt(place, () => store.delete(scope, place));
      if ((await keysBelow(place)).length === 0) {
        await requireFree(place);
        throw notFound(place);
      }
      if (!recursive) throw needsRecursive(place);
      for (const key of await attempt(place, () => store.list(scope, `${place}/`))) {
        signal?.throwIfAborted();
        await attempt(key, () => store.delete(scope, key));
      }
    },

    ls: () => refuse("ls"),
    edit: () => refuse("edit"),
    grep: () => refuse("grep"),
    glob: () => refuse("glob"),
    upload: () => refuse("upload"),
    download: () => refuse("download"),
    pwd: () => refuse("pwd"),
    cd: () => refuse("cd"),
    cp: () => refuse("cp"),
    mv: () => refuse("mv"),
  });
  return checkMethodOptions("files", files, VFS_METHODS);
}

// A NUL is a character of JSON, but databases refuse it in text.
function encode(bytes: Buffer): JsonValue {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString("utf8") : { [BYTES_KEY]: bytes.toString("base64") };
}

function decode(value: JsonValue): Uint8Array {
  if (typeof value === "string") return Buffer.from(value, "utf8");
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    const encoded = (value as { readonly [key: string]: JsonValue })[BYTES_KEY];
    if (typeof encoded === "string" && Object.keys(value).length === 1) return Buffer.from(encoded, "base64");
  }
  return Buffer.from(JSON.stringify(value), "utf8");
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (StateError.is(error, "conflict")) throw unexpectedContent(path, "somebody wrote it meanwhile");
    if (StateError.is(error, "invalid-input") && Buffer.byteLength(path) > MAX_KEY_BYTES) throw longerThanKeys(path, error);
    const message = error instanceof Error ? error.message : String(error);
    throw new VfsError({ kind: "io", path, message: `The store failed on ${path}: ${message}` }, { cause: error });
  }
}

function longerThanKeys(path: string, cause: unknown): VfsError {
  return new VfsError(
    {
      kind: "io",
      path,
      code: "ENAMETOOLONG",
      message: `The path ${path.slice(0, 80)}… is too long to be a key of the store: ${MAX_KEY_BYTES} bytes are the most.`,
    },
    { cause },
  );
}
