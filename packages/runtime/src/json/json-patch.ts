import { StateError, type JsonObject, type JsonValue } from "@keelson/protocol";
import { canonicalJson } from "./canonical-json.ts";
import { copyJson } from "./copy-json.ts";

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

/** What patches are applied and made with, for whoever follows the state of agents. */
export function loadJsonPatch(): Promise<JsonPatcher> {
  return Promise.resolve({ apply: applyJsonPatch, diff: (before, after) => diffJson(before, after) });
}

type Container = JsonValue[] | { [name: string]: JsonValue };

/** {@link JsonPatcher.apply} */
export function applyJsonPatch(document: JsonValue, patch: unknown): JsonValue {
  // The document is a member of this, so that the whole of it can be replaced like any other member.
  const root: { [name: string]: JsonValue } = { document };
  const own = new Set<object>();
  const operations = checkedPatch(patch);
  let index = 0;
  try {
    for (; index < operations.length; index++) applyOne(root, own, operations[index] as JsonPatchOperation);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const { op, path } = operations[index] as JsonPatchOperation;
    throw new StateError(
      {
        kind: "invalid-input",
        message: `Operation ${index} of the patch (${op} ${JSON.stringify(path)}) does not apply: ${cause.message}. Nothing was changed.`,
      },
      { cause },
    );
  }
  return root["document"] as JsonValue;
}

/**
 * {@link JsonPatcher.diff}
 * @param path where in the document both stand
 */
export function diffJson(before: JsonValue, after: JsonValue, path = ""): JsonPatch {
  const patch: JsonPatchOperation[] = [];
  compare(before, after, path, patch);
  return patch;
}

/** Adds to a patch what makes `after` of `before`. */
function compare(before: JsonValue, after: JsonValue, path: string, patch: JsonPatchOperation[]): void {
  if (before === after) return;
  const comparable = typeof before === "object" && typeof after === "object" && before !== null && after !== null;
  if (!comparable || Array.isArray(before) !== Array.isArray(after)) patch.push({ op: "replace", path, value: after });
  else if (Array.isArray(before)) compareLists(before, after as readonly JsonValue[], path, patch);
  else compareObjects(before as JsonObject, after as JsonObject, path, patch);
}

function compareObjects(before: JsonObject, after: JsonObject, path: string, patch: JsonPatchOperation[]): void {
  for (const name of Object.keys(before)) {
    if (before[name] !== undefined && ownMember(after, name) === undefined) patch.push({ op: "remove", path: `${path}/${escaped(name)}` });
  }
  for (const [name, value] of Object.entries(after)) {
    const known = ownMember(before, name);
    if (value === undefined) continue;
    const place = `${path}/${escaped(name)}`;
    if (known === undefined) patch.push({ op: "add", path: place, value });
    else compare(known, value, place, patch);
  }
}

function ownMember(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function applyOne(root: Container, own: Set<object>, operation: JsonPatchOperation): void {
  const path = tokensOf(operation.path);
  switch (operation.op) {
    case "test": {
      const found = valueAt(root, path);
      if (canonicalJson(found) !== canonicalJson(operation.value))
        throw new RangeError(`there is ${shown(found)}, not ${shown(operation.value)}`);
      return;
    }
    case "add":
      return put(root, own, path, operation.value);
    case "replace":
      return replace(ownedContainer(root, own, path), lastOf(path), operation.value);
    case "remove":
      if (path.length === 1) throw new RangeError("the whole document can't be removed: replace it");
      return remove(ownedContainer(root, own, path), lastOf(path));
    case "copy":
      return put(root, own, path, valueAt(root, tokensOf(operation.from)));
    case "move": {
      const from = tokensOf(operation.from);
      const value = valueAt(root, from);
      if (operation.from === operation.path) return;
      if (from.every((token, index) => token === path[index])) throw new RangeError("it would be moved into itself");
      if (from.length === 1) throw new RangeError("the whole document can't be moved");
      remove(ownedContainer(root, own, from), lastOf(from));
      return put(root, own, path, value);
    }
  }
}

function put(root: Container, own: Set<object>, path: readonly string[], value: JsonValue): void {
  const container = ownedContainer(root, own, path);
  const name = lastOf(path);
  if (!Array.isArray(container)) container[name] = copyJson(value);
  else if (name === "-") container.push(copyJson(value));
  else if (INDEX.test(name) && Number(name) <= container.length) container.splice(Number(name), 0, copyJson(value));
  else throw new RangeError(`${JSON.stringify(name)} is no place in a list of ${container.length}`);
}

function replace(container: Container, name: string, value: JsonValue): void {
  memberOf(container, name);
  (container as { [name: string]: JsonValue })[name] = copyJson(value);
}

function remove(container: Container, name: string): void {
  memberOf(container, name);
  if (Array.isArray(container)) container.splice(Number(name), 1);
  else delete container[name];
}

/** The container that a path ends in, copied on the way to it where it is still the caller's. */
function ownedContainer(root: Container, own: Set<object>, path: readonly string[]): Container {
  let container = root;
  for (let index = 0; index < path.length - 1; index++) {
    const token = path[index] as string;
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

function compareLists(before: readonly JsonValue[], after: readonly JsonValue[], path: string, patch: JsonPatchOperation[]): void {
  const same = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
    a === b || (typeof a === "object" && typeof b === "object" && canonicalJson(a) === canonicalJson(b));
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && same(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && same(before.at(-1 - end), after.at(-1 - end))) end++;
  const changed = shorter - end;
  for (let index = start; index < changed; index++)
    compare(before[index] as JsonValue, after[index] as JsonValue, `${path}/${index}`, patch);
  for (let index = before.length - end - 1; index >= changed; index--) patch.push({ op: "remove", path: `${path}/${index}` });
  for (let index = changed; index < after.length - end; index++)
    patch.push({ op: "add", path: `${path}/${index}`, value: after[index] as JsonValue });
}

/** @throws StateError of kind `invalid-input` */
function checkedPatch(patch: unknown): JsonPatch {
  if (!Array.isArray(patch)) throw invalidPatch(`A JSON Patch is a list of operations, not ${shown(patch)}.`);
  for (let index = 0; index < patch.length; index++) {
    const operation: unknown = patch[index];
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
  if (pointer.includes("__proto__") && tokensOf(pointer).includes("__proto__"))
    throw invalidPatch(`${at} has the ${name} ${shown(pointer)}: "__proto__" is no member.`);
}

function namesPrototype(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Object.hasOwn(value, "__proto__")) return true;
  return Object.values(value).some(namesPrototype);
}

/** Where a pointer leads from what holds the document. */
function tokensOf(pointer: string): readonly string[] {
  const tokens = pointer.split("/");
  tokens[0] = "document";
  return pointer.includes("~") ? tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~")) : tokens;
}

function lastOf(path: readonly string[]): string {
  return path.at(-1) as string;
}

function escaped(token: string): string {
  return token.includes("~") || token.includes("/") ? token.replaceAll("~", "~0").replaceAll("/", "~1") : token;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function invalidPatch(message: string): StateError {
  return new StateError({ kind: "invalid-input", message });
}
