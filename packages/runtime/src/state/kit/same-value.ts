import type { JsonValue } from "@keelson/protocol";

/** Whether two values that come from JSON say the same; the order of members does not matter. */
export function isSameValue(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item: JsonValue, index) => isSameValue(item, right[index] as JsonValue))
    );
  }
  const leftObject = left as Record<string, JsonValue>;
  const rightObject = right as Record<string, JsonValue>;
  const names = Object.keys(leftObject);
  return (
    names.length === Object.keys(rightObject).length &&
    names.every((name) => Object.hasOwn(rightObject, name) && isSameValue(leftObject[name], rightObject[name]))
  );
}
