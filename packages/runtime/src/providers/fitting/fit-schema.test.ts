import type { JsonObject } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { fitSchema } from "./fit-schema.ts";
import type { FittedSchema } from "./schema-fitter.ts";
import { AI_SDK_RULES } from "./rules/ai-sdk.ts";
import { ANTHROPIC_RULES } from "./rules/anthropic.ts";
import { compatibleRules } from "./rules/compatible.ts";
import { OLLAMA_RULES } from "./rules/ollama.ts";
import { OPENAI_RULES } from "./rules/openai.ts";
import type { WireRules } from "./wire-rules.ts";

function fitted(schema: JsonObject, rules: WireRules = OPENAI_RULES): FittedSchema {
  const result = fitSchema(schema, rules.schemas);
  if ("problem" in result) throw new Error(result.problem);
  return result;
}

function problem(schema: JsonObject): string | undefined {
  const result = fitSchema(schema, OPENAI_RULES.schemas);
  return "problem" in result ? result.problem : undefined;
}

const text = { type: "string" };

describe("a schema on a wire", () => {
  it("stays the same object if it fits", () => {
    const schema = {
      type: "object",
      properties: { city: { ...text, minLength: 1 }, at: { $ref: "#/$defs/Place" }, tags: { type: "array", items: text } },
      required: ["city"],
      additionalProperties: false,
      $defs: { Place: { type: "object", properties: { next: { $ref: "#/$defs/Place" } } } },
    };
    for (const rules of [OPENAI_RULES, ANTHROPIC_RULES]) expect(fitted(schema, rules).schema).toBe(schema);
  });

  it("ends a list of places that refers to itself, where references are put in their place", () => {
    const city = { prefixItems: [{ $ref: "#/properties/city" }] };
    const { schema } = fitted({ type: "object", properties: { city } }, OLLAMA_RULES);
    expect(JSON.stringify(schema)).toContain("the same structure again");
  });

  it("has its alternatives merged at the top, and told in words", () => {
    const { schema, notes } = fitted({
      anyOf: [
        { type: "object", properties: { kind: { const: "url" }, url: text }, required: ["kind", "url"] },
        { type: "object", properties: { kind: { const: "file" }, path: text, line: { type: "integer" } }, required: ["kind", "path"] },
      ],
    });
    expect(schema).toEqual({
      type: "object",
      properties: { kind: { type: "string", enum: ["url", "file"] }, url: text, path: text, line: { type: "integer" } },
      required: ["kind"],
    });
    expect(notes).toEqual([`Give the arguments in one of these forms: {kind: "url", url} | {kind: "file", path, line?}`]);
  });

  it("keeps what stands beside alternatives of required members", () => {
    const { schema, notes } = fitted({
      type: "object",
      properties: { yaml: text, dir: text },
      oneOf: [{ required: ["yaml"] }, { required: ["dir"] }],
    });
    expect(schema).toEqual({ type: "object", properties: { yaml: text, dir: text } });
    expect(notes).toEqual(["Give the arguments in exactly one of these forms: {yaml} | {dir}"]);
  });

  it("joins the parts of an `allOf` at the top, follows references there, and tells conditions in words", () => {
    const { schema, notes } = fitted({
      $ref: "#/definitions/All",
      definitions: {
        All: { allOf: [{ properties: { a: text }, required: ["a"] }, { properties: { b: text } }], not: { required: ["c"] } },
      },
    });
    expect(schema).toEqual({ type: "object", properties: { a: text, b: text }, required: ["a"] });
    expect(notes).toEqual([`The arguments must not match {"required":["c"]}.`]);
  });

  it("has property keys that Anthropic accepts, nested ones too, and tells what they stand for", () => {
    const given = {
      type: "object",
      properties: {
        "filter[status]": { ...text, description: "Status." },
        "page": { type: "object", properties: { $top: {} }, required: ["$top"] },
      },
      required: ["filter[status]"],
    };
    const { schema, originalKeys } = fitted(given, ANTHROPIC_RULES);
    const [status, top] = [...originalKeys.keys()] as [string, string];
    expect([...originalKeys.values()]).toEqual(["filter[status]", "$top"]);
    expect(schema).toEqual({
      type: "object",
      properties: {
        [status]: { ...text, description: `Status. (stands for "filter[status]")` },
        page: { type: "object", properties: { [top]: { description: `(stands for "$top")` } }, required: [top] },
      },
      required: [status],
    });
    for (const key of [status, top]) expect(key).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
    expect(fitted(given, OPENAI_RULES).schema).toBe(given);
  });

  it("has items for each list, objects for boolean schemas, and the words of the newest draft for those of older ones", () => {
    const { schema } = fitted({
      type: "object",
      properties: {
        list: { type: "array" },
        maybe: { type: ["array", "null"] },
        any: true,
        none: false,
        more: { type: "number", minimum: 1, exclusiveMinimum: true },
        odd: { type: "any", required: true, enum: [] },
        int: { type: "INTEGER", nullable: true },
      },
    });
    expect(schema["properties"]).toEqual({
      list: { type: "array", items: {} },
      maybe: { type: ["array", "null"], items: {} },
      any: {},
      none: { not: {} },
      more: { type: "number", exclusiveMinimum: 1 },
      odd: {},
      int: { type: ["integer", "null"] },
    });
  });

  it("tells patterns in words that the engine of a vendor does not compile", () => {
    const properties = { mail: { ...text, pattern: "^(?!x).+@" }, plain: { ...text, pattern: String.raw`^\d+$` } };
    expect(fitted({ type: "object", properties }).schema["properties"]).toEqual({
      mail: { ...text, description: `(matches the regular expression "^(?!x).+@")` },
      plain: { ...text, pattern: String.raw`^\d+$` },
    });
    expect(fitted({ type: "object", properties }, ANTHROPIC_RULES).schema["properties"]).toEqual(properties);
  });

  it("has definitions in the place of references for servers that follow none, a recursive one ending in an object", () => {
    const node = { type: "object", properties: { child: { $ref: "#/$defs/Node" }, name: text } };
    const { schema } = fitted({ type: "object", properties: { root: { $ref: "#/$defs/Node" } }, $defs: { Node: node } }, OLLAMA_RULES);
    expect(schema).toEqual({
      type: "object",
      properties: {
        root: { type: "object", properties: { child: { type: "object", description: "(the same structure again: Node)" }, name: text } },
      },
    });
  });

  it("ends, and stays within its limit, where references multiply", () => {
    const $defs: Record<string, JsonObject> = {};
    for (let at = 0; at < 30; at += 1)
      $defs[`D${at}`] = { anyOf: [1, 2, 3].map((n) => ({ type: "object", properties: { [`p${n}`]: { $ref: `#/$defs/D${at + 1}` } } })) };
    $defs["D30"] = text;
    for (const rules of [OLLAMA_RULES, OPENAI_RULES, AI_SDK_RULES]) {
      const schema = fitted({ $ref: "#/$defs/D0", $defs }, rules).schema;
      expect(JSON.stringify(schema).length).toBeLessThanOrEqual(rules.schemas.maxLength);
    }
  });

  it("has its type within the alternatives for Moonshot, and a type everywhere", () => {
    const properties = { a: { type: "object", anyOf: [{ properties: { b: text } }, { properties: { c: text } }] }, d: {} };
    const { schema } = fitted({ type: "object", properties }, compatibleRules("moonshot"));
    expect(schema["properties"]).toMatchObject({
      a: {
        anyOf: [
          { type: "object", properties: { b: text } },
          { type: "object", properties: { c: text } },
        ],
      },
      d: { anyOf: [text, { type: "number" }, { type: "boolean" }, { type: "object" }, { type: "array", items: text }] },
    });
    expect((schema["properties"] as JsonObject)["a"]).not.toHaveProperty("type");
  });

  it("is shortened if it is too long: first its annotations, then its inner structure", () => {
    const deep = (levels: number): JsonObject =>
      levels === 0
        ? { ...text, description: "d".repeat(400) }
        : { type: "object", properties: Object.fromEntries(["a", "b", "c"].map((name) => [name, deep(levels - 1)])) };
    const { schema } = fitted(deep(8));
    expect(JSON.stringify(schema).length).toBeLessThanOrEqual(OPENAI_RULES.schemas.maxLength);
    expect(Object.keys(schema["properties"] as JsonObject)).toEqual(["a", "b", "c"]);
  });

  it("is none if it accepts no object, refers to nothing, or is too long at its shortest", () => {
    expect(problem({ type: "string" })).toBe("accepts no object, and arguments are one");
    expect(problem({ anyOf: [{ type: "string" }, { type: "array" }] })).toBe("accepts no object, and arguments are one");
    expect(problem({ not: {} })).toBe("accepts no object, and arguments are one");
    expect(problem({ type: "object", properties: { a: { $ref: "#/$defs/A" } } })).toBe(`refers to "#/$defs/A", where there is no schema`);
    expect(problem({ type: "object", properties: { a: { $ref: "https://example.com/a.json" } } })).toMatch(/^refers to "https:/);
    const properties = Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`member_${at}`, text]));
    expect(problem({ type: "object", properties })).toMatch(/^has \d+ characters of JSON at its shortest/);
  });
});
