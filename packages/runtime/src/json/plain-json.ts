import type { JsonValue } from "@keelson/protocol";

/**
 * A copy of a value that is JSON already: objects, lists, texts, numbers, booleans and `null`. Members that are `undefined` are
 * left out.
 * @throws TypeError that says where there is something else, such as a `Map`, a class's instance, `NaN`, a cycle, or a member
 * named `__proto__`
 */
export function plainJson(value: unknown): JsonValue {
  return copy(value, [], []);
}

/** @param above what the value stands in, from the top @param path the names of the members that lead to it */
function copy(value: unknown, above: object[], path: (string | number)[]): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  // JSON has no negative zero.
  if (typeof value === "number" && Number.isFinite(value)) return value + 0;
  if (typeof value !== "object") throw notJson(path, typeof value === "number" ? String(value) : `a value of type ${typeof value}`);
  if (above.includes(value)) throw notJson(path, "an object that contains itself");
  above.push(value);
  const copied = Array.isArray(value) ? items(value, above, path) : members(value, above, path);
  above.pop();
  return copied;
}

function items(list: readonly unknown[], above: object[], path: (string | number)[]): JsonValue {
  const copied: JsonValue[] = [];
  for (let index = 0; index < list.length; index++) {
    path.push(index);
    copied.push(copy(list[index], above, path));
    path.pop();
  }
  return copied;
}

function members(value: object, above: object[], path: (string | number)[]): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notJson(path, `an instance of ${value.constructor?.name ?? "a class"}`);
  const copied: { [name: string]: JsonValue } = {};
  for (const name of Object.keys(value)) {
    if (name === "__proto__") throw notJson(path, 'a member named "__proto__"');
    const member = (value as { readonly [name: string]: unknown })[name];
    if (member === undefined) continue;
    path.push(name);
    copied[name] = copy(member, above, path);
    path.pop();
  }
  return copied;
}

function notJson(path: readonly (string | number)[], what: string): TypeError {
  const place = path.length === 0 ? "its top" : `/${path.join("/")}`;
  return new TypeError(`there is ${what} at ${place}: only JSON can be kept`);
}
