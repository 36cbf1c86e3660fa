import type { JsonObject, JsonValue } from "@keelson/protocol";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, it } from "vitest";
import { strictSchema } from "./strict-schema.ts";

const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  ...more,
});

it("closes objects whose members are all required, at every depth, and leaves out what constrains nothing", () => {
  const schema = closed(
    {
      a: closed({ b: { type: "array", items: closed({ c: { type: "string", format: "uri", default: "x" } }) } }),
      d: { anyOf: [{ type: "null" }, { $ref: "#/$defs/e" }] },
    },
    { $schema: "https://json-schema.org/draft/2020-12/schema", $defs: { e: closed({}) } },
  );
  const inner = (properties: JsonObject): JsonObject => ({ ...closed(properties), additionalProperties: false });
  expect(strictSchema(schema)).toEqual({
    ...inner({
      a: inner({ b: { type: "array", items: inner({ c: { type: "string" } }) } }),
      d: { anyOf: [{ type: "null" }, { $ref: "#/$defs/e" }] },
    }),
    $defs: { e: inner({}) },
  });
});

const loose: readonly (readonly [string, JsonObject])[] = [
  ["optional members", { type: "object", properties: { a: { type: "string" } } }],
  ["required members that are not described", { type: "object", properties: {}, required: ["a"] }],
  ["free maps", { type: "object" }],
  ["open objects", closed({}, { additionalProperties: true })],
  ["values of any type", closed({ a: {} })],
  ["constants without a type", closed({ a: { enum: ["x"] } })],
  ["lists of anything", closed({ a: { type: "array" } })],
  ["keywords that strict modes do not know", closed({ a: { oneOf: [{ type: "string" }] } })],
  ["such deep inside", closed({ a: { type: "array", items: { type: "string", not: { const: "x" } } } })],
  ["a choice at the root", { anyOf: [closed({})] }],
  ["a root that is no object", { type: "string" }],
];
it.each(loose)("takes no schema with %s for strict", (_name, schema) => {
  expect(strictSchema(schema)).toBeUndefined();
});

const value: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonObject>(
      { type: "string" },
      { type: "integer", minimum: 1 },
      { type: ["string", "null"] },
      { type: "string", enum: ["a", "b"] },
    ),
    tie("schema").map((items): JsonObject => ({ type: "array", items, maxItems: 3 })),
    fc.dictionary(fc.constantFrom("a", "b"), tie("schema")).map((properties) => closed(properties)),
    fc.dictionary(fc.constantFrom("a", "b"), tie("schema")).map((properties): JsonObject => ({ type: "object", properties })),
  ),
})).schema;
const instance = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom("a", "b", "", 0, 1, null),
    fc.array(tie("json"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("json")),
  ),
})).json;

/** A value that fits one of the schemas above. */
function exampleOf(schema: JsonObject): JsonValue {
  switch (schema["type"]) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema["properties"] as JsonObject).map(([name, member]) => [name, exampleOf(member as JsonObject)]),
      );
    case "array":
      return [exampleOf(schema["items"] as JsonObject)];
    case "integer":
      return 1;
    default:
      return "a";
  }
}

it("leaves words beside a reference out, which strict modes refuse, and takes no schema with more beside one", () => {
  const schema = (place: object) => ({
    type: "object",
    properties: { place },
    required: ["place"],
    $defs: { Place: { type: "object", properties: {} } },
  });
  expect(strictSchema(schema({ $ref: "#/$defs/Place", description: "Where." }) as JsonObject)?.["properties"]).toEqual({
    place: { $ref: "#/$defs/Place" },
  });
  expect(strictSchema(schema({ $ref: "#/$defs/Place", minProperties: 1 }) as JsonObject)).toBeUndefined();
});

it("takes what fits, and never lets pass what what the schema itself refuses", () => {
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom("a", "b"), value),
      fc.array(instance, { minLength: 8, maxLength: 8 }),
      (properties, instances) => {
        const schema = closed(properties);
        const strict = strictSchema(schema);
        if (strict === undefined) return;
        const checks = [strict, schema].map((each) => ajv.compile(each));
        for (const each of [...instances, exampleOf(schema)]) {
          if (checks[0]?.(each) !== true) {
            expect(instances).toContain(each);
            continue;
          }
          accepted += 1;
          expect(checks[1]?.(each)).toBe(true);
        }
      },
    ),
    { numRuns: 80 },
  );
  expect(accepted).toBeGreaterThan(10);
});
