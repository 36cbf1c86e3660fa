import type { JsonValue } from "@keelson/protocol";

/** Sets a member as `JSON.parse` does: `__proto__` is a name like any other. */
export function putMember(object: { [key: string]: JsonValue }, key: string, value: JsonValue): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}
