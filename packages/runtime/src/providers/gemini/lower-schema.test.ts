import type { JsonObject, JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkJson } from "../../schema/check-json.ts";
import { lowerGeminiSchema } from "./lower-schema.ts";

const lower = (schema: JsonObject): JsonObject => lowerGeminiSchema({ type: "object", properties: { a: schema } });
const member = (schema: JsonObject): unknown => (lower(schema)["properties"] as JsonObject)["a"];

describe("lowerGeminiSchema", () => {
  it("writes an ordinary schema in Gemini's words", () => {
    const schema: JsonObject = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        city: { type: "string", description: "Where", minLength: 1, pattern: "^[A-Z]" },
        days: { type: "integer", minimum: 1, maximum: 7, format: "int32" },
        units: { enum: ["C", "F"] },
        tags: { type: "array", items: { type: "string" }, maxItems: 3 },
      },
      required: ["city", "gone"],
      additionalProperties: false,
    };
    const lowered = {
      type: "OBJECT",
      properties: {
        city: { type: "STRING", description: "Where", minLength: 1, pattern: "^[A-Z]" },
        days: { type: "INTEGER", minimum: 1, maximum: 7, format: "int32" },
        units: { type: "STRING", format: "enum", enum: ["C", "F"] },
        tags: { type: "ARRAY", items: { type: "STRING" }, maxItems: 3 },
      },
      required: ["city"],
    };
    expect(lowerGeminiSchema(schema)).toEqual(lowered);
    expect(lowerGeminiSchema(schema, { ordered: true })).toEqual({ ...lowered, propertyOrdering: ["city", "days", "units", "tags"] });
  });

  it.each<[string, JsonObject, unknown]>([
    ["null among types", { type: ["string", "null"] }, { type: "STRING", nullable: true }],
    ["null among choices", { anyOf: [{ type: "integer" }, { type: "null" }] }, { type: "INTEGER", nullable: true }],
    ["several types", { type: ["string", "number"] }, { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] }],
    ["oneOf", { oneOf: [{ type: "string" }, { type: "boolean" }] }, { anyOf: [{ type: "STRING" }, { type: "BOOLEAN" }] }],
    ["a constant", { const: "x" }, { type: "STRING", format: "enum", enum: ["x"] }],
    ["constants that are no strings", { enum: [1, 2] }, { type: "NUMBER", description: "(one of 1, 2)" }],
    ["an empty string among constants", { enum: ["", "a"] }, { type: "STRING", description: '(one of "", "a")' }],
    [
      "bounds that are left out, of whole numbers",
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: "INTEGER", minimum: 1, maximum: 9 },
    ],
    ["bounds that are left out, of others", { type: "number", exclusiveMinimum: 0 }, { type: "NUMBER", description: "(greater than 0)" }],
    [
      "a format that is not known",
      { type: "string", format: "email", description: "Whom" },
      { type: "STRING", description: 'Whom (format: "email")' },
    ],
    ["a default", { type: "integer", default: 5 }, { type: "INTEGER", description: "(default: 5)" }],
    ["a list of whatever", { type: "array" }, { type: "ARRAY", items: member({}) as JsonObject }],
    [
      "a tuple",
      { type: "array", prefixItems: [{ type: "string" }, { type: "string" }] },
      { type: "ARRAY", items: { type: "STRING" }, description: '(items in this order: [{"type":"string"},{"type":"string"}])' },
    ],
    [
      "a free map",
      { type: "object", additionalProperties: { type: "number" } },
      { type: "OBJECT", description: '(each further value: {"type":"number"})' },
    ],
    ["an object within", { properties: { b: { type: "string" } } }, { type: "OBJECT", properties: { b: { type: "STRING" } } }],
    [
      "alternatives of required members",
      { type: "object", properties: { b: { type: "string" } }, anyOf: [{ required: ["b"] }] },
      { type: "OBJECT", properties: { b: { type: "STRING" } } },
    ],
    [
      "choices beside members",
      {
        type: "object",
        properties: { b: { type: "string" } },
        anyOf: [{ properties: { c: { type: "string" } } }, { properties: { d: { type: "string" } } }],
      },
      {
        anyOf: [
          { type: "OBJECT", properties: { c: { type: "STRING" }, b: { type: "STRING" } } },
          { type: "OBJECT", properties: { d: { type: "STRING" }, b: { type: "STRING" } } },
        ],
      },
    ],
    [
      "allOf",
      {
        allOf: [
          { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
          { properties: { c: { type: "string" } }, required: ["c"] },
        ],
      },
      { type: "OBJECT", properties: { b: { type: "STRING" }, c: { type: "STRING" } }, required: ["b", "c"] },
    ],
  ])("says %s by other means", (_name, schema, lowered) => expect(member(schema)).toEqual(lowered));

  it("keeps an object without members an object, so that tools without arguments can be called", () => {
    expect(lowerGeminiSchema({ type: "object" })).toEqual({ type: "OBJECT", properties: {} });
  });

  it("keeps nothing of a choice whose type contradicts that beside it", () => {
    const text: JsonObject = { type: "string", format: "date-time", minLength: 2, enum: ["a"] };
    expect(member({ type: "array", items: { type: "string" }, anyOf: [text] })).toEqual({ type: "ARRAY", items: { type: "STRING" } });
    expect(member({ format: "enum", allOf: [{ anyOf: [{ type: "string" }] }, { type: "integer" }] })).toEqual({
      type: "INTEGER",
      description: '(format: "enum")',
    });
  });

  it("puts references in their place, and ends a structure that contains itself", () => {
    const schema: JsonObject = {
      type: "object",
      properties: { root: { $ref: "#/$defs/node", description: "The top" }, list: { $ref: "#/$defs/list" } },
      $defs: {
        node: { type: "object", properties: { name: { type: "string" }, next: { $ref: "#/$defs/node" } } },
        list: { type: "array", items: { $ref: "#/$defs/list" } },
      },
    };
    expect(lowerGeminiSchema(schema)["properties"]).toMatchObject({
      root: {
        type: "OBJECT",
        description: "The top",
        properties: { name: { type: "STRING" }, next: { type: "OBJECT", description: "the same structure again: node" } },
      },
      list: { type: "ARRAY", items: { type: "ARRAY", description: "the same structure again: list" } },
    });
  });

  // The laws: nothing but what the API knows, and nothing refused that the schema takes.
  const name = fc.constantFrom("a", "b", "c");
  const { schema: anySchema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.record(
        { type: fc.constant("string"), minLength: fc.nat(2), format: fc.constantFrom("date-time", "email") },
        { requiredKeys: ["type"] },
      ),
      fc.record(
        {
          type: fc.constantFrom("number", "integer"),
          exclusiveMinimum: fc.integer({ min: -3, max: 3 }),
          maximum: fc.integer({ min: 5, max: 9 }),
        },
        { requiredKeys: ["type"] },
      ),
      fc.record({ type: fc.constant(["boolean", "null"]) }),
      fc.constant<JsonObject>({}),
      fc.record({ enum: fc.uniqueArray(fc.constantFrom<JsonValue>("x", "y", 1, true, null, ""), { minLength: 1 }) }),
      fc.record(
        { type: fc.constant("array"), items: tie("schema") as fc.Arbitrary<JsonObject>, minItems: fc.nat(1) },
        { requiredKeys: ["type"] },
      ),
      fc.record({ anyOf: fc.array(tie("schema") as fc.Arbitrary<JsonObject>, { minLength: 1, maxLength: 3 }) }),
      fc.record({
        allOf: fc.tuple(fc.constant<JsonObject>({ type: "object" }), fc.constant<JsonObject>({ properties: { c: { type: "string" } } })),
      }),
      fc.record(
        {
          type: fc.constant("object"),
          properties: fc.dictionary(name, tie("schema") as fc.Arbitrary<JsonObject>, { maxKeys: 3 }),
          required: fc.uniqueArray(name),
          additionalProperties: fc.boolean(),
        },
        { requiredKeys: ["type"] },
      ),
    ) as fc.Arbitrary<JsonObject>,
  }));
  const nested = (inner: JsonValue): boolean =>
    Array.isArray(inner)
      ? inner.some((item) => Array.isArray(item) || nested(item as JsonValue))
      : typeof inner === "object" && inner !== null && Object.values(inner).some((item) => nested(item as JsonValue));
  const anyValue = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<JsonValue>("x", "y", 1, 4, true, null, "", {}, []),
    fc.dictionary(name, fc.jsonValue({ maxDepth: 1 })),
  );
  // Lists of lists are beyond what a value of any type can be said to be.
  const value = (anyValue as fc.Arbitrary<JsonValue>).filter((inner) => !nested(inner));

  /** What the lowered schema says, in JSON Schema again. */
  function raised(lowered: JsonObject): JsonObject {
    const { nullable, type, properties, items, anyOf, format: _, propertyOrdering: __, ...rest } = lowered;
    const schema: JsonObject = {
      ...(rest as JsonObject),
      ...(type !== undefined && { type: String(type).toLowerCase() }),
      ...(properties !== undefined && {
        properties: Object.fromEntries(Object.entries(properties as JsonObject).map(([key, inner]) => [key, raised(inner as JsonObject)])),
      }),
      ...(items !== undefined && { items: raised(items as JsonObject) }),
      ...(anyOf !== undefined && { anyOf: (anyOf as JsonObject[]).map(raised) }),
    };
    return nullable === true ? { anyOf: [schema, { type: "null" }] } : schema;
  }

  it("takes every value that the schema takes", () => {
    fc.assert(
      fc.property(anySchema, fc.array(value, { minLength: 20, maxLength: 20 }), (schema, values) => {
        const whole: JsonObject = { type: "object", properties: { a: schema } };
        const lowered = raised(lowerGeminiSchema(whole));
        for (const a of values) if (checkJson(whole, { a }, false).length === 0) expect(checkJson(lowered, { a }, false)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  const KNOWN = new Set(
    "type format title description nullable enum items minItems maxItems properties required propertyOrdering minProperties maxProperties minimum maximum minLength maxLength pattern anyOf".split(
      " ",
    ),
  );
  function faultsOf(schema: JsonObject): readonly string[] {
    const { type, anyOf, items, properties, enum: constants } = schema as Record<string, JsonValue | undefined>;
    const faults = Object.keys(schema).filter((keyword) => !KNOWN.has(keyword));
    if ((type === undefined) === (anyOf === undefined)) faults.push(`neither typed nor a choice: ${JSON.stringify(schema)}`);
    if (type === "ARRAY" && items === undefined) faults.push("a list without items");
    if (constants !== undefined && !(type === "STRING" && (constants as JsonValue[]).every((one) => typeof one === "string" && one !== "")))
      faults.push("constants that are no strings");
    const inner = [
      ...(items === undefined ? [] : [items]),
      ...Object.values((properties ?? {}) as JsonObject),
      ...((anyOf ?? []) as JsonObject[]),
    ];
    return [...faults, ...inner.flatMap((one) => faultsOf(one as JsonObject))];
  }

  it("uses the words of the API only, and types every value", () => {
    fc.assert(
      fc.property(anySchema, (schema) => void expect(faultsOf(lower(schema))).toEqual([])),
      { numRuns: 150 },
    );
  });
});
