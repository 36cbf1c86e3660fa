import { MAX_JSON_DEPTH } from "./max-json-depth.ts";

/**
 * True if a value is JSON as it is: `JSON.stringify` writes all of it, and what is read back is the same. Members that are `undefined` are
 * left out on the way. Reads the value once and copies nothing. False if looking at it throws.
 */
export function isJson(value: unknown): boolean {
  try {
    return visit(value, []);
  } catch {
    return false;
  }
}

function visit(value: unknown, ancestors: object[]): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      return value === null || visitObject(value, ancestors);
    default:
      return false;
  }
}

function visitObject(value: object, ancestors: object[]): boolean {
  if (ancestors.length >= MAX_JSON_DEPTH || ancestors.includes(value) || isForeign(value)) return false;
  ancestors.push(value);
  const holds = Array.isArray(value)
    ? visitItems(value, ancestors)
    : Object.values(value).every((member) => member === undefined || visit(member, ancestors));
  ancestors.pop();
  return holds;
}

/** Holes of a list are no items for `every`. */
function visitItems(list: readonly unknown[], ancestors: object[]): boolean {
  for (let index = 0; index < list.length; index++) if (!visit(list[index], ancestors)) return false;
  return true;
}

/** True for objects that JSON turns into `{}` or into something that does not read back as what it was. */
function isForeign(value: object): boolean {
  return (
    typeof (value as { readonly toJSON?: unknown }).toJSON === "function" ||
    value instanceof Map ||
    value instanceof Set ||
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer ||
    value instanceof Error ||
    value instanceof Promise ||
    value instanceof RegExp ||
    value instanceof Number ||
    value instanceof String ||
    value instanceof Boolean ||
    value instanceof BigInt
  );
}
