import type { JsonObject, JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { validateWithAjv } from "./ajv-validator.ts";
import { checkJson } from "./check-json.ts";
import { compileSchema, createJsonSchemaValidator } from "./compile-schema.ts";
import { reportKeywords } from "./keywords.ts";
import type { JsonSchema } from "./schema.ts";
import { formatIssue } from "./schema-issue.ts";

/** As it comes out of a parser: the generators also make objects without a prototype. */
function plain(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

// Small pools, so that random values often come near to matching random schemas.
const keys = fc.constantFrom("a", "b", "c", "isPrototypeOf", "é");
const scalars: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom("", "a", "ab", "🙂", "🙂🙂", "xyz"),
  fc.constantFrom(0, 1, 2, -1, 1.5, 10),
  fc.boolean(),
  fc.constant(null),
);
const values: fc.Arbitrary<JsonValue> = fc
  .letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalars,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(keys, tie("value"), { maxKeys: 3 }),
    ),
  }))
  .value.map(plain);
const count = fc.integer({ min: 0, max: 3 });
/** A few of the keywords: all at once would leave no value valid. */
function few(keywords: { readonly [keyword: string]: fc.Arbitrary<JsonValue> }): fc.Arbitrary<JsonObject> {
  return fc
    .subarray(Object.keys(keywords), { maxLength: 3 })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, keywords[name] ?? fc.constant(null)]))));
}
const types = fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object");

const schemas: fc.Arbitrary<JsonObject> = fc
  .letrec<{ schema: JsonValue; branches: JsonValue; assertions: JsonValue; containers: JsonValue; reference: JsonValue }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      tie("assertions"),
      tie("containers"),
      tie("branches"),
      tie("reference"),
      fc.boolean(),
    ),
    // "#" itself only inside of lists: at the place it refers to it would have no meaning.
    reference: fc.constantFrom({ $ref: "#/$defs/leaf" }, { $ref: "#/$defs/list" }),
    assertions: few({
      type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
      enum: fc.array(values, { minLength: 1, maxLength: 3 }),
      const: values,
      minLength: count,
      maxLength: count,
      pattern: fc.constantFrom("^a", "b$", ".", "^.$", "[xyz]{2}"),
      minimum: count,
      maximum: count,
      exclusiveMinimum: count,
      exclusiveMaximum: count,
      multipleOf: fc.constantFrom(1, 2, 0.5),
      description: fc.constant("text"),
      default: values,
      format: fc.constant("email"),
    }),
    containers: few({
      type: fc.constantFrom("object", "array"),
      properties: fc.dictionary(keys, tie("schema"), { maxKeys: 2 }),
      required: fc.uniqueArray(keys, { maxLength: 2 }),
      additionalProperties: tie("schema"),
      patternProperties: fc.dictionary(fc.constantFrom("^a", "b"), tie("schema"), { maxKeys: 1 }),
      propertyNames: tie("schema"),
      minProperties: count,
      maxProperties: count,
      items: tie("schema"),
      prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      minItems: count,
      maxItems: count,
      uniqueItems: fc.boolean(),
    }),
    branches: few({
      anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
      oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
      allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      not: tie("schema"),
    }),
  }))
  .schema.filter((schema) => typeof schema === "object")
  .map((schema) => ({
    ...(plain(schema) as JsonObject),
    $defs: { leaf: { type: ["string", "integer"] }, list: { type: "array", items: { $ref: "#" } } },
  }));

describe("the small checker and the full validator", () => {
  it("agree on every schema whose words the small one knows", async () => {
    let valid = 0;
    let invalid = 0;
    await fc.assert(
      fc.asyncProperty(schemas, fc.array(values, { minLength: 20, maxLength: 40 }), async (schema, candidates) => {
        expect(reportKeywords(schema).type).toBe("known");
        for (const candidate of candidates) {
          const own = checkJson(schema, candidate, false);
          const full = await validateWithAjv(schema, candidate);
          if (own.length === 0) valid++;
          else invalid++;
          expect({ schema, candidate, valid: own.length === 0 }).toStrictEqual({ schema, candidate, valid: full.length === 0 });
        }
      }),
      { numRuns: 60 },
    );
    // The law would hold for two validators that refuse everything.
    expect(valid).toBeGreaterThan(100);
    expect(invalid).toBeGreaterThan(100);
  });

  it.each<[JsonObject, readonly JsonValue[], readonly JsonValue[]]>([
    [{ minLength: 2 }, ["ab", "🙂🙂", 5], ["a", "🙂", ""]],
    [{ maxLength: 1 }, ["a", "🙂", ""], ["ab", "🙂🙂"]],
    [{ pattern: "^.$" }, ["a", "🙂", 7], ["ab", ""]],
    [{ minimum: 1 }, [1, "0"], [0.5]],
    [{ maximum: 1 }, [1], [1.5]],
    [{ exclusiveMinimum: 1 }, [1.5], [1]],
    [{ exclusiveMaximum: 1 }, [0.5], [1]],
    [{ multipleOf: 0.5 }, [0, 1.5, -2], [0.25]],
    [{ type: "integer" }, [1, 1e20], [1.5, "1", null]],
    [{ type: ["string", "null"] }, ["", null], [0, {}]],
    [{ type: "object" }, [{}], [[], null]],
    [{ type: "array" }, [[]], [{}]],
    [{ enum: [{ a: 1, b: [2] }, "x"] }, [{ b: [2], a: 1 }, "x"], [{ a: 1 }, { a: 1, b: [3] }, { a: 1, c: [2] }]],
    [{ const: null }, [null], [0, ""]],
    [{ minItems: 1 }, [[1], {}], [[]]],
    [{ maxItems: 1 }, [[1]], [[1, 2]]],
    [{ uniqueItems: true }, [[1, "1", [1], [2]]], [[{ a: 1 }, 0, { a: 1 }]]],
    [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, [["a", 1], ["a"], []], [["a", "b"], [1]]],
    [{ minProperties: 1 }, [{ a: 1 }], [{}]],
    [{ maxProperties: 1 }, [{ a: 1 }], [{ a: 1, b: 2 }]],
    [{ required: ["a"] }, [{ a: null }, []], [{}]],
    [{ properties: { a: false } }, [{ b: 1 }], [{ a: 1 }]],
    [
      { properties: { a: {} }, patternProperties: { "^b": { type: "number" } }, additionalProperties: false },
      [{ a: "x", b1: 1 }],
      [{ c: 1 }, { b1: "x" }],
    ],
    [{ additionalProperties: { type: "number" } }, [{ a: 1 }], [{ a: "1" }]],
    [{ propertyNames: { maxLength: 1 } }, [{ a: 1 }], [{ ab: 1 }]],
    [{ anyOf: [{ type: "string" }, { minimum: 5 }] }, ["a", 5], [4]],
    [{ oneOf: [{ type: "number" }, { minimum: 5 }] }, [4, "a"], [5]],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    [{ not: { type: "string" } }, [1], ["a"]],
    [{ $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "string" } }, maxLength: 1 }, ["a"], ["ab", 1]],
  ])("draw the same line for %j", async (schema, good, bad) => {
    expect(reportKeywords(schema).type).toBe("known");
    for (const value of good)
      expect([value, checkJson(schema, value, false), await validateWithAjv(schema, value)]).toStrictEqual([value, [], []]);
    for (const value of bad)
      expect([value, checkJson(schema, value, false).length > 0, (await validateWithAjv(schema, value)).length > 0]).toStrictEqual([
        value,
        true,
        true,
      ]);
  });
});

const TOO_LONG = "could not be checked: its schema takes too long for this value";

describe("a plain JSON Schema", () => {
  const issues = async (schema: JsonObject, value: unknown): Promise<readonly string[]> =>
    (await createJsonSchemaValidator(schema)(value)).map(formatIssue);
  const file: JsonObject = {
    type: "object",
    properties: { path: { type: "string" }, lines: { type: "integer", minimum: 1 } },
    required: ["path"],
    additionalProperties: false,
  };

  it("explains to a model what to send instead", async () => {
    expect(await issues(file, { file: "a.ts", lines: "ten" })).toStrictEqual([
      'path: is required (a string) but missing; provided: "file", "lines"',
      'file: is not a known property; there are: "path", "lines"',
      'lines: expected an integer, got "ten"',
    ]);
    expect(await issues(file, { path: "a", lines: 0 })).toStrictEqual(["lines: must be at least 1, got 0"]);
    expect(await issues({ type: "array", items: file }, [{ path: "a" }, { path: ["x"] }])).toStrictEqual([
      "[1].path: expected a string, got an array of 1",
    ]);
  });

  it("explains a choice of forms by the form that was probably meant", async () => {
    const forms: JsonObject = {
      anyOf: [
        { type: "object", properties: { kind: { const: "move" }, to: { type: "string" } }, required: ["kind", "to"] },
        {
          type: "object",
          properties: { kind: { const: "copy" }, from: { type: "string" }, to: { type: "string" } },
          required: ["kind", "from", "to"],
        },
      ],
    };
    expect(await issues(forms, { kind: "move" })).toStrictEqual(['to: is required (a string) but missing; provided: "kind"']);
    expect(await issues({ anyOf: [{ type: "string" }, { type: "number" }] }, true)).toStrictEqual([
      "matches none of the 2 forms: expected a string, got true; or expected a number, got true",
    ]);
  });

  it("is checked by the full validator when it has a word that the small checker does not know", async () => {
    const schema: JsonObject = {
      type: "object",
      properties: { a: { type: "string" }, b: {} },
      dependentRequired: { a: ["b"] },
      required: ["a"],
      additionalProperties: false,
    };
    expect(reportKeywords(schema)).toStrictEqual({ type: "unknown", keyword: "dependentRequired" });
    expect(await issues(schema, { a: "x", b: 1 })).toStrictEqual([]);
    expect((await issues(schema, { a: "x" }))[0]).toMatch(/must have property b/);
    expect(await issues(schema, { c: 1 })).toStrictEqual([
      'a: is required (a string) but missing; provided: "c"',
      'c: is not a known property; there are: "a", "b"',
    ]);
    expect(await issues({ if: { type: "string" }, then: { enum: ["x", "y"] } }, "z")).toContainEqual(
      'must be equal to one of the allowed values: "x", "y"',
    );
  });

  it("may carry unknown words, ids and the tuples of draft 7", async () => {
    expect(await issues({ "x-order": 1, "type": "string" }, "a")).toStrictEqual([]);
    expect(await issues({ $id: "https://example.com/a", type: "string" }, 1)).toHaveLength(1);
    expect(await issues({ $id: "https://example.com/a", type: "number" }, 1)).toHaveLength(0);
    const tree: JsonObject = {
      $ref: "#tree",
      $defs: { tree: { $anchor: "tree", type: "object", properties: { children: { type: "array", items: { $ref: "#tree" } } } } },
    };
    expect(await issues(tree, { children: [{ children: [{}] }] })).toStrictEqual([]);
    expect(await issues(tree, { children: [{ children: [1] }] })).toStrictEqual(["children[0].children[0]: must be object"]);
    const tuple: JsonObject = { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false };
    expect(await issues(tuple, ["a", 1])).toStrictEqual([]);
    expect(await issues(tuple, ["a", "b", "c"])).toStrictEqual(['[1]: expected a number, got "b"', "[2]: is not allowed here"]);
  });

  it("with a reference that leads to itself is refused for a value, not followed for ever", async () => {
    expect(await issues({ $ref: "#" }, 1)).toStrictEqual(['the schema\'s reference "#" leads to itself']);
  });

  it("that doubles its work with every definition is given up, not worked at for ever", async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        `d${index}`,
        index === 59 ? {} : { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
      ]),
    );
    expect(await issues({ $ref: "#/$defs/d0", $defs }, 1)).toStrictEqual([TOO_LONG]);
  });

  it.each<[string, JsonObject, JsonObject | string | number[]]>([
    ["a pattern", { type: "string", pattern: "^(a+)+$" }, `${"a".repeat(50)}!`],
    ["a pattern of names", { type: "object", patternProperties: { "^(a+)+$": {} } }, { [`${"a".repeat(50)}!`]: 1 }],
    ["items that must differ", { type: "array", uniqueItems: true }, Array.from({ length: 300_000 }, (_, index) => index)],
    [
      "many values to choose from",
      { items: { enum: Array.from({ length: 1000 }, (_, index) => index + 2) } },
      Array.from({ length: 20_000 }, () => 2),
    ],
    ["a pattern beside words for the full validator", { "x-order": 1, "$id": "a", "pattern": "^(a+)+$" }, `${"a".repeat(50)}!`],
  ])("that takes for ever with %s is given up, and the process goes on", async (_, schema, value) => {
    expect(await issues(schema, value)).toStrictEqual([TOO_LONG]);
    expect(await issues({ type: "string", pattern: "^a$" }, "a")).toStrictEqual([]);
  });

  it("does not take inherited names for properties", async () => {
    expect(await issues({ type: "object", required: ["toString"] }, {})).toHaveLength(1);
    expect(await issues({ type: "object", properties: { a: {} }, additionalProperties: false }, { constructor: 1 })).toHaveLength(1);
  });

  it("reports a bounded number of issues", async () => {
    expect(
      await issues(
        { type: "array", items: { type: "string" } },
        Array.from({ length: 10_000 }, () => 1),
      ),
    ).toHaveLength(20);
  });

  it.each([
    [{ type: "text" }, "/type must be"],
    [{ properties: { a: { minLength: -1 } } }, "/properties/a/minLength must be"],
    [{ properties: [] }, "/properties must be an object"],
    [{ items: 5 }, "/items must be a schema"],
    [{ anyOf: {} }, "/anyOf must be a list"],
    [{ $ref: "#/$defs/x" }, "where there is no schema"],
    [{ $ref: "#/%E0%A4%A" }, "where there is no schema"],
    [{ patternProperties: { "(": {} } }, "no regular expression"],
  ])("that is malformed is refused at once, with the place: %j", (schema, message) => {
    expect(() => compileSchema(schema as JsonSchema)).toThrow(message);
  });
});

describe("a schema library's schema", () => {
  it("is described without library extras, and validated by the library", async () => {
    const compiled = compileSchema<{ a: number }>(z.object({ a: z.coerce.number().refine((n) => n !== 3, "three is taken") }));
    expect(compiled.jsonSchema).not.toHaveProperty("$schema");
    expect(await compiled.validate({ a: "2" })).toStrictEqual({ value: { a: 2 } });
    expect(await compiled.validate({ a: 3 })).toStrictEqual({ issues: [{ path: ["a"], message: "three is taken" }] });
  });

  it("may be asynchronous", async () => {
    const compiled = compileSchema(z.object({ a: z.string().refine(async (text) => text !== "taken") }));
    expect(await compiled.validate({ a: "taken" })).toHaveProperty("issues");
    expect(await compiled.validate({ a: "free" })).toStrictEqual({ value: { a: "free" } });
  });

  it.each([[undefined], [null], ["text"], [[]]])("is not %j", (schema) => {
    expect(() => compileSchema(schema as never)).toThrow(TypeError);
  });
});
