import type { JsonObject, JsonValue } from "@keelson/protocol";
import { checkJson } from "./check-json.ts";
import { reportKeywords } from "./keywords.ts";
import { resolveLocalReference } from "./local-reference.ts";

const MAX_DEPTH = 8;

/**
 * A small value of a JSON Schema, to show what is wanted: the required properties, from `examples`, `default` and `enum`
 * where there are any, else placeholders. `undefined` when none that is surely valid was found.
 */
export function exampleOf(schema: JsonObject): JsonValue | undefined {
  const report = reportKeywords(schema);
  if (report.type !== "known") return undefined;
  const example = build(schema, "value", 0);
  return example === undefined || checkJson(schema, example, report.isSlow).length > 0 ? undefined : example;

  function build(part: unknown, name: string, depth: number): JsonValue | undefined {
    if (depth > MAX_DEPTH || part === false) return undefined;
    if (typeof part !== "object" || part === null) return `<${name}>`;
    const keywords = part as { readonly [keyword: string]: JsonValue | undefined };
    const given = first(keywords["examples"]) ?? keywords["default"] ?? keywords["const"] ?? first(keywords["enum"]);
    if (given !== undefined) return given;
    if (typeof keywords["$ref"] === "string") return build(resolveLocalReference(schema, keywords["$ref"]), name, depth + 1);
    const form = first(keywords["anyOf"]) ?? first(keywords["oneOf"]);
    if (form !== undefined && keywords["properties"] === undefined) return build(form, name, depth + 1);
    const type = typeof keywords["type"] === "string" ? keywords["type"] : first(keywords["type"]);
    switch (type ?? (keywords["properties"] === undefined ? "string" : "object")) {
      case "object":
        return buildObject(keywords, depth);
      case "array":
        return buildArray(keywords, name, depth);
      case "boolean":
        return true;
      case "null":
        return null;
      case "number":
      case "integer":
        return (
          (keywords["minimum"] as number | undefined) ??
          (keywords["maximum"] as number | undefined) ??
          (keywords["multipleOf"] as number | undefined) ??
          1
        );
      default:
        return `<${name}>`;
    }
  }

  function buildObject(keywords: { readonly [keyword: string]: JsonValue | undefined }, depth: number): JsonValue | undefined {
    const properties = (keywords["properties"] ?? {}) as { readonly [name: string]: JsonValue };
    const value: { [name: string]: JsonValue } = {};
    for (const name of (keywords["required"] ?? []) as readonly string[]) {
      const member = build(Object.hasOwn(properties, name) ? properties[name] : {}, name, depth + 1);
      if (member === undefined) return undefined;
      Object.defineProperty(value, name, { value: member, enumerable: true, writable: true, configurable: true });
    }
    return value;
  }

  function buildArray(keywords: { readonly [keyword: string]: JsonValue | undefined }, name: string, depth: number): JsonValue | undefined {
    if (Array.isArray(keywords["items"]) || keywords["prefixItems"] !== undefined) return undefined;
    const item = build(keywords["items"] ?? {}, name, depth + 1);
    if (item === undefined) return keywords["minItems"] === undefined ? [] : undefined;
    return [item];
  }
}

function first(list: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(list) ? (list as readonly JsonValue[])[0] : undefined;
}
