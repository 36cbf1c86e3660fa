import type { CallId, Content, InferRequest, JsonObject, JsonValue, Message, ToolCallPart, ToolSchema } from "@keelson/protocol";
import fc from "fast-check";

/** Half of an emoji, as a program leaves it that cuts text at a number of UTF-16 units. */
const HALVES = ["\uD83D", "\uDE00", "a\uD83D", "\uDE00b", "\uD83D\uD83D", "ok 😀 \uDBFF"];

/** Text that models, servers and people really send, and worse. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constantFrom(...HALVES, "", " ", "\0", "\u2028", String.raw`\ud83d`, String.raw`\\ud83d`, '"', "</tool_call>"),
);

/** Names of tools as models have written them. */
export const hostileName: fc.Arbitrary<string> = fc.oneof(
  hostileText,
  fc.constantFrom(
    "$READFILE",
    "multi_tool_use.parallel",
    "functions.look",
    "default_api:look",
    "look<|channel|>commentary",
    " look",
    "look ",
    "1look",
    "-look",
    "look\uD83D",
    "look\uDE00",
    "ls -la /tmp && cat x | grep y",
    "näme",
    "__proto__",
    "constructor",
    "x".repeat(200),
    "look",
  ),
);

export const hostileKey: fc.Arbitrary<string> = fc.oneof(
  hostileText,
  fc.constantFrom("filter[status]", "$top", "@odata.type", "a b", "x".repeat(80), "__proto__", "properties", "$ref", "type", "city"),
);

export const hostileJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    hostileText,
    fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(hostileKey, tie("value")), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value as fc.Arbitrary<JsonValue>;

const hostileObject: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(hostileKey, hostileJson), { maxLength: 4 })
  .map((entries) => Object.fromEntries(entries));

/** Arguments that nest deeper than formats of vendors do. */
const deepObject: fc.Arbitrary<JsonObject> = fc.integer({ min: 20, max: 120 }).map((depth) => {
  let value: JsonValue = "deep";
  for (let at = 0; at < depth; at += 1) value = at % 2 === 0 ? { deeper: value } : [value];
  return { value };
});

/** Schemas of drafts 4 to 2020-12 and of generators that know neither. */
export const hostileSchema: fc.Arbitrary<JsonValue> = fc.letrec<{ schema: JsonValue }>((tie) => {
  const schema = tie("schema");
  const map = fc.array(fc.tuple(hostileKey, schema), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
  return {
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom<JsonValue>({}, true, false, { type: "string" }, { type: "array" }, { type: "object" }, { type: ["array", "null"] }),
      fc
        .array(
          fc.oneof(
            ...Object.entries({
              "type": fc.constantFrom<JsonValue>(
                "object",
                "array",
                "string",
                "number",
                "any",
                "STRING",
                null,
                [],
                ["string", "null"],
                ["object", "array"],
              ),
              "description": fc.oneof<fc.Arbitrary<JsonValue>[]>(hostileText, fc.constant(7)),
              "properties": fc.oneof<fc.Arbitrary<JsonValue>[]>(map, fc.constant([]), fc.constant(null)),
              "required": fc.constantFrom<JsonValue>(true, ["city"], ["city", "city", 7], {}, ["filter[status]"]),
              "items": fc.oneof<fc.Arbitrary<JsonValue>[]>(schema, fc.array(schema, { maxLength: 2 })),
              "prefixItems": fc.array(schema, { maxLength: 2 }),
              "additionalItems": schema,
              "additionalProperties": schema,
              "patternProperties": map,
              "anyOf": fc.array(schema, { maxLength: 3 }),
              "oneOf": fc.array(schema, { maxLength: 3 }),
              "allOf": fc.array(schema, { maxLength: 3 }),
              "not": schema,
              "if": schema,
              "then": schema,
              "else": schema,
              "enum": fc.array(hostileJson, { maxLength: 3 }),
              "const": hostileJson,
              "default": hostileJson,
              "format": fc.constantFrom<JsonValue>("uri", "date-time", "int32", "enum", 7),
              "pattern": fc.constantFrom<JsonValue>("^a$", "^(?=.*x)y", String.raw`\p{L}`, "(", String.raw`(?<a>b)\k<a>`),
              "minimum": fc.constantFrom<JsonValue>(1, "1", null),
              "exclusiveMinimum": fc.constantFrom<JsonValue>(true, 1),
              "minLength": fc.constantFrom<JsonValue>(1, -1, 1.5),
              "nullable": fc.boolean(),
              "$ref": fc.constantFrom("#", "#/$defs/A", "#/definitions/B", "#/properties/city"),
              "dependentRequired": fc.constant({ city: ["filter[status]"] }),
              "dependencies": fc.constant({ city: ["street"] }),
              "x-vendor": hostileJson,
              "$schema": fc.constant("http://json-schema.org/draft-04/schema#"),
              "$id": fc.constant("https://example.com/schema"),
            }).map(([keyword, value]) => fc.tuple(fc.constant(keyword), value as fc.Arbitrary<JsonValue>)),
          ),
          { maxLength: 5 },
        )
        .map((entries): JsonValue => Object.fromEntries(entries)),
    ),
  };
}).schema;

const rootSchema: fc.Arbitrary<JsonObject> = fc
  .tuple(hostileSchema, hostileSchema, hostileSchema, hostileSchema)
  .map(([top, a, b, city]) => ({
    ...(typeof top === "object" && top !== null && !Array.isArray(top) ? (top as JsonObject) : { type: "object" }),
    $defs: { A: a },
    definitions: { B: b },
    properties: { city },
  }));

export const hostileTools: fc.Arbitrary<readonly ToolSchema[]> = fc.uniqueArray(
  fc.record({ name: hostileName, description: hostileText, inputSchema: rootSchema }),
  { maxLength: 4, selector: ({ name }) => name },
);

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const hostileImage: fc.Arbitrary<Content> = fc
  .constantFrom("image/png", "image/jpg", "image/jpeg", "IMAGE/PNG", "image/png; charset=binary", "image/webp", "image/x-png", "image/tiff")
  .chain((mediaType) => fc.constantFrom(PNG, "QQ==").map((data) => ({ type: "image", mediaType, data })));

interface HostileCall {
  readonly call: ToolCallPart;
  readonly output: JsonValue;
  readonly isError: boolean;
}

const hostileCall = (wire: string): fc.Arbitrary<HostileCall> =>
  fc.record({
    call: fc
      .record({
        id: fc.oneof(hostileText, fc.constantFrom("call_1", "functions.look:0", "x".repeat(90))),
        vendorId: fc.option(fc.oneof(hostileText, fc.constantFrom("call_1", "functions.look:0", "x".repeat(90))), { nil: undefined }),
        name: hostileName,
        input: fc.oneof(
          { weight: 6, arbitrary: hostileObject },
          { weight: 1, arbitrary: hostileJson },
          { weight: 1, arbitrary: deepObject },
          { weight: 1, arbitrary: fc.constant(undefined) },
        ),
        brokenText: hostileText,
      })
      .map(({ id, vendorId, name, input, brokenText }): ToolCallPart => ({
        type: "tool-call",
        id: id as CallId,
        name,
        ...(input !== undefined && { input }),
        inputText: input === undefined ? brokenText : JSON.stringify(input),
        ...(vendorId !== undefined && { providerData: { wire, id: vendorId } }),
      })),
    output: fc.oneof(
      hostileJson,
      hostileImage.map((image) => ({ type: "content", content: [{ type: "text", text: "see" }, image] }) as unknown as JsonValue),
    ),
    isError: fc.boolean(),
  });

const hostileTurn = (wire: string): fc.Arbitrary<readonly Message[]> =>
  fc
    .record({ said: hostileText, calls: fc.array(hostileCall(wire), { maxLength: 3 }), asked: hostileText, image: hostileImage })
    .map(({ said, calls, asked, image }): readonly Message[] => [
      { role: "assistant", content: [{ type: "text", text: said }, ...calls.map(({ call }) => call)] },
      ...calls.map(({ call, output, isError }): Message => ({
        role: "tool",
        content: [{ type: "tool-result", id: call.id, name: call.name, output, ...(isError && { isError }) }],
      })),
      { role: "user", content: [{ type: "text", text: `asked: ${asked}` }, image] },
    ]);

/** A conversation in which the model wrote what it liked. */
export const hostileMessages = (wire: string): fc.Arbitrary<readonly Message[]> =>
  fc
    .tuple(hostileText, fc.array(hostileTurn(wire), { maxLength: 3 }))
    .map(([task, turns]) => [{ role: "user", content: [{ type: "text", text: `task: ${task}` }] }, ...turns.flat()]);

export const hostileRequest = (wire: string): fc.Arbitrary<Omit<InferRequest, "model">> =>
  fc.record(
    {
      system: hostileText.map((text) => `system: ${text}`),
      messages: hostileMessages(wire),
      tools: hostileTools,
      output: fc.record({ name: hostileName, schema: rootSchema }),
    },
    { requiredKeys: ["messages"] },
  );
