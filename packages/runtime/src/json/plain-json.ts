import type { JsonValue } from "@keelson/protocol";

/**
 * A copy of a value that is JSON already: objects, lists, texts, numbers, booleans and `null`. Members that are `undefined` are
 * left out.
 * @throws TypeError that says where there is something else, such as a `Map`, a class's instance, `NaN`, a cycle, or a member
 * named `__proto__`
 */
export function plainJson(value: unknown): JsonValue {
  return copy(value, "", new Set());
}

function copy(value: unknown, path: string, above: Set<object>): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  // JSON has no negative zero.
  if (typeof value === "number" && Number.isFinite(value)) return value + 0;
  if (typeof value !== "object") throw notJson(path, typeof value === "number" ? String(value) : `a value of type ${typeof value}`);
  if (above.has(value)) throw notJson(path, "an object that contains itself");
  above.add(value);
  const copied = Array.isArray(value)
    ? Array.from(value, (item, index) => copy(item, `${path}/${index}`, above))
    : members(value, path, above);
  above.delete(value);
  return copied;
}

function members(value: object, path: string, above: Set<object>): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notJson(path, `an instance of ${value.constructor?.name ?? "a class"}`);
  const copied: { [name: string]: JsonValue } = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === "__proto__") throw notJson(path, 'a member named "__proto__"');
    if (member !== undefined) copied[name] = copy(member, `${path}/${name}`, above);
  }
  return copied;
}

function notJson(path: string, what: string): TypeError {
  return new TypeError(`there is ${what} at ${path === "" ? "its top" : path}: only JSON can be kept`);
}
