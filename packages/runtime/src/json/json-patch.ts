import type * as Rfc6902 from "rfc6902";
import { StateError, type JsonValue } from "@keelson/protocol";
import { canonicalJson } from "./canonical-json.ts";

/** One operation of RFC 6902. Paths are JSON Pointers (RFC 6901). */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: JsonValue }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly path: string; readonly from: string };

export type JsonPatch = readonly JsonPatchOperation[];

/** Patches of JSON documents. Nothing that is passed in is changed, and results share with it what is the same. */
export interface JsonPatcher {
  /**
   * The document as it is after all operations.
   * @throws StateError of kind `invalid-input` that names the operation when the patch is none, or one of its operations does
   * not apply: then none of them took effect. A patch that names `__proto__` is refused.
   */
  apply(document: JsonValue, patch: unknown): JsonValue;
  /** A patch that makes `after` of `before`; empty when they are the same. Lists are compared from both ends, in linear time. */
  diff(before: JsonValue, after: JsonValue): JsonPatch;
}

type Library = Pick<typeof Rfc6902, "applyPatch" | "createPatch">;
type LibraryPatch = ReturnType<Library["createPatch"]>;

let loading: Promise<JsonPatcher> | undefined;
let loaded: JsonPatcher | undefined;

/** Loads what patches are applied and made with, once. */
export function loadJsonPatch(): Promise<JsonPatcher> {
  return (loading ??= import("rfc6902").then((library) => (loaded = patcherOf(library))));
}

/**
 * The patcher, where it was loaded before: for folds, which can't wait.
 * @throws StateError of kind `other` when it was not
 */
export function loadedJsonPatch(): JsonPatcher {
  if (loaded === undefined)
    throw new StateError({ kind: "other", message: "JSON Patch was not loaded before a patch was folded: await loadJsonPatch() first." });
  return loaded;
}

/** Whether {@link loadedJsonPatch} has something to give. */
export function isJsonPatchLoaded(): boolean {
  return loaded !== undefined;
}

type Container = JsonValue[] | { [name: string]: JsonValue };

/**
 * The library changes documents in place, follows paths by inherited members, steps over members named `constructor`, and lets
 * lists have members that are no index. So it is only ever shown one container at a time: a copy that belongs to the result,
 * with the name of an own member, or an index, that was checked before.
 */
function patcherOf({ applyPatch, createPatch }: Library): JsonPatcher {
  const change = (container: Container, operation: "add" | "remove" | "replace", name: string, value?: JsonValue): void => {
    const path = `/${escaped(name)}`;
    const [failure] = applyPatch(container, [operation === "remove" ? { op: operation, path } : { op: operation, path, value }]);
    if (failure) throw new RangeError(failure.message);
  };

  /** Recursion of the library's own comparison, for lists in a way of ours: its own takes quadratic time and space. */
  const compare = (before: unknown, after: unknown, pointer: { toString(): string }): LibraryPatch | void => {
    if (Array.isArray(before) && Array.isArray(after))
      return compareLists(before as JsonValue[], after as JsonValue[], pointer.toString(), (a, b) => createPatch(a, b, compare));
  };

  return {
    apply(document, patch) {
      // The document is a member of this, so that the whole of it can be replaced like any other member.
      const root: { [name: string]: JsonValue } = { document };
      const own = new Set<object>([root]);
      checkedPatch(patch).forEach((operation, index) => {
        try {
          applyOne(root, own, operation, change);
        } catch (cause) {
          if (!(cause instanceof RangeError)) throw cause;
          const { op, path } = operation;
          throw new StateError(
            {
              kind: "invalid-input",
              message: `Operation ${index} of the patch (${op} ${JSON.stringify(path)}) does not apply: ${cause.message}. Nothing was changed.`,
            },
            { cause },
          );
        }
      });
      return root["document"] as JsonValue;
    },
    diff: (before, after) => createPatch(before, after, compare) as JsonPatch,
  };
}

function applyOne(
  root: Container,
  own: Set<object>,
  operation: JsonPatchOperation,
  change: (container: Container, operation: "add" | "remove" | "replace", name: string, value?: JsonValue) => void,
): void {
  const path = tokensOf(operation.path);
  switch (operation.op) {
    case "test": {
      const found = valueAt(root, path);
      if (canonicalJson(found) !== canonicalJson(operation.value))
        throw new RangeError(`there is ${shown(found)}, not ${shown(operation.value)}`);
      return;
    }
    case "add":
      return put(root, own, path, operation.value, change);
    case "replace":
      valueAt(root, path);
      return change(ownedContainer(root, own, path), "replace", lastOf(path), operation.value);
    case "remove":
      valueAt(root, path);
      if (path.length === 1) throw new RangeError("the whole document can't be removed: replace it");
      return change(ownedContainer(root, own, path), "remove", lastOf(path));
    case "copy":
      return put(root, own, path, valueAt(root, tokensOf(operation.from)), change);
    case "move": {
      const from = tokensOf(operation.from);
      const value = valueAt(root, from);
      if (operation.from === operation.path) return;
      if (from.every((token, index) => token === path[index])) throw new RangeError("it would be moved into itself");
      if (from.length === 1) throw new RangeError("the whole document can't be moved");
      change(ownedContainer(root, own, from), "remove", lastOf(from));
      return put(root, own, path, value, change);
    }
  }
}

function put(
  root: Container,
  own: Set<object>,
  path: readonly string[],
  value: JsonValue,
  change: (container: Container, operation: "add", name: string, value: JsonValue) => void,
): void {
  const container = ownedContainer(root, own, path);
  const name = lastOf(path);
  if (Array.isArray(container) && name !== "-" && !(INDEX.test(name) && Number(name) <= container.length))
    throw new RangeError(`${JSON.stringify(name)} is no place in a list of ${container.length}`);
  change(container, "add", name, value);
}

/** The container that a path ends in, copied on the way to it where it is still the caller's. */
function ownedContainer(root: Container, own: Set<object>, path: readonly string[]): Container {
  let container = root;
  for (const token of path.slice(0, -1)) {
    let next = memberOf(container, token);
    if (typeof next !== "object" || next === null) throw new RangeError(`there is no object or list at ${JSON.stringify(token)}`);
    if (!own.has(next)) {
      next = Array.isArray(next) ? [...next] : { ...next };
      own.add(next);
      (container as { [name: string]: JsonValue })[token] = next;
    }
    container = next as Container;
  }
  return container;
}

function valueAt(root: Container, path: readonly string[]): JsonValue {
  return path.reduce<JsonValue>((value, token) => memberOf(value, token), root);
}

function memberOf(value: JsonValue, token: string): JsonValue {
  if (typeof value === "object" && value !== null && (!Array.isArray(value) || INDEX.test(token)) && Object.hasOwn(value, token)) {
    const member = (value as { readonly [name: string]: JsonValue | undefined })[token];
    if (member !== undefined) return member;
  }
  throw new RangeError(`there is nothing at ${JSON.stringify(token)}`);
}
const INDEX = /^(?:0|[1-9]\d*)$/;

function compareLists(
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  path: string,
  compare: (before: JsonValue, after: JsonValue) => LibraryPatch,
): LibraryPatch {
  const same = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
    a === b || (typeof a === "object" && typeof b === "object" && canonicalJson(a) === canonicalJson(b));
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && same(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && same(before.at(-1 - end), after.at(-1 - end))) end++;
  const patch: LibraryPatch = [];
  const changed = shorter - end;
  for (let index = start; index < changed; index++)
    for (const operation of compare(before[index] as JsonValue, after[index] as JsonValue))
      patch.push({ ...operation, path: `${path}/${index}${operation.path}` });
  for (let index = before.length - end - 1; index >= changed; index--) patch.push({ op: "remove", path: `${path}/${index}` });
  for (let index = changed; index < after.length - end; index++)
    patch.push({ op: "add", path: `${path}/${index}`, value: after[index] as JsonValue });
  return patch;
}

/** @throws StateError of kind `invalid-input` */
function checkedPatch(patch: unknown): JsonPatch {
  if (!Array.isArray(patch)) throw invalidPatch(`A JSON Patch is a list of operations, not ${shown(patch)}.`);
  for (const [index, operation] of patch.entries()) {
    const { op, path, from } = (operation ?? {}) as { readonly op?: unknown; readonly path?: unknown; readonly from?: unknown };
    const at = `Operation ${index} of the patch`;
    if (typeof op !== "string" || !OPERATIONS.has(op)) throw invalidPatch(`${at} has the op ${shown(op)}, which is none of RFC 6902.`);
    checkPointer(`${at} (${op})`, "path", path);
    if (op === "move" || op === "copy") checkPointer(`${at} (${op})`, "from", from);
    else if (op !== "remove") {
      if (!Object.hasOwn(operation as object, "value") || (operation as { value: unknown }).value === undefined)
        throw invalidPatch(`${at} (${op}) has no value.`);
      if (namesPrototype((operation as { value: unknown }).value)) throw invalidPatch(`${at} (${op}) has a member named "__proto__".`);
    }
  }
  return patch as JsonPatch;
}
const OPERATIONS: ReadonlySet<string> = new Set(["add", "remove", "replace", "move", "copy", "test"]);

function checkPointer(at: string, name: string, pointer: unknown): void {
  if (typeof pointer !== "string" || !/^(?:\/(?:[^~/]|~[01])*)*$/u.test(pointer))
    throw invalidPatch(`${at} has the ${name} ${shown(pointer)}, which is no JSON Pointer.`);
  if (tokensOf(pointer).includes("__proto__")) throw invalidPatch(`${at} has the ${name} ${shown(pointer)}: "__proto__" is no member.`);
}

function namesPrototype(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Object.hasOwn(value, "__proto__")) return true;
  return Object.values(value).some(namesPrototype);
}

/** Where a pointer leads from what holds the document. */
function tokensOf(pointer: string): readonly string[] {
  return pointer.split("/").map((token, index) => (index === 0 ? "document" : token.replaceAll("~1", "/").replaceAll("~0", "~")));
}

function lastOf(path: readonly string[]): string {
  return path.at(-1) as string;
}

function escaped(token: string): string {
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function invalidPatch(message: string): StateError {
  return new StateError({ kind: "invalid-input", message });
}
