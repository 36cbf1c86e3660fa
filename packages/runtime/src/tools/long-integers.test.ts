import type { JsonValue, Tool } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonSchema } from "../schema/index.ts";
import { defineTool, prepareCall } from "./index.ts";

const DIGITS = "1917043659912705296";

function toolOf(input: object): Tool {
  return defineTool({ name: "delete_note", description: "", input: input as JsonSchema, execute: () => "" }) as Tool;
}
const idOf = (schema: JsonValue): Tool => toolOf({ type: "object", properties: { id: schema } });
const prepared = async (tool: Tool, text: string): Promise<unknown> => {
  const result = await prepareCall(tool, { inputText: text });
  return result.ok ? result.value : result.message;
};

describe("an integer of more digits than a double keeps, in the arguments of a call", () => {
  it.each<[string, JsonValue]>([
    ["a text", { type: "string" }],
    ["a text of digits", { type: "string", pattern: "^-?\\d+$" }],
    ["an integer or a text", { type: ["integer", "string"] }],
    ["an alternative that is a text", { anyOf: [{ type: "integer" }, { type: "string" }] }],
    ["anything", {}],
    ["anything, in words", true],
  ])("is passed as text to a schema that takes %s", async (_, schema) => {
    expect(await prepared(idOf(schema), `{"id":${DIGITS}}`)).toEqual({ id: DIGITS });
    expect(await prepared(idOf(schema), `{"id":-${DIGITS}}`)).toEqual({ id: `-${DIGITS}` });
  });

  it.each<[string, JsonValue]>([
    ["integers", { type: "integer" }],
    ["integers of a format", { type: "integer", format: "int64" }],
    ["numbers", { type: "number" }],
    ["short texts", { anyOf: [{ type: "integer" }, { type: "string", maxLength: 5 }] }],
    ["one integer", { const: 1917043659912705300 }],
    ["some integers", { enum: [1917043659912705300, 1] }],
  ])("is refused by a schema that takes %s, and the model is told to send it as text", async (_, schema) => {
    expect(await prepared(idOf(schema), `{"id":${DIGITS}}`)).toContain(
      `- id: ${DIGITS} has more digits than a number keeps, so it was not passed on. Send it as text, "${DIGITS}"`,
    );
  });

  it("is told at its place in lists, in maps and below alternatives", async () => {
    const ids = toolOf({ type: "object", properties: { ids: { type: "array", items: { type: "integer" } } } });
    expect(await prepared(ids, `{"ids":[1,${DIGITS}]}`)).toContain(`- ids[1]: ${DIGITS} has more digits`);
    const map = toolOf({ type: "object", additionalProperties: { type: "integer" } });
    expect(await prepared(map, `{"a b":${DIGITS}}`)).toContain(`- ["a b"]: ${DIGITS} has more digits`);
    const forms = toolOf({
      type: "object",
      properties: { at: { anyOf: [{ type: "object", properties: { id: { type: "integer" } }, required: ["id"] }, { type: "null" }] } },
    });
    expect(await prepared(forms, `{"at":{"id":${DIGITS}}}`)).toContain(`at.id: ${DIGITS} has more digits`);
  });

  it("is kept in arguments and lists that were encoded twice, and in notation that is repaired", async () => {
    const list = toolOf({ type: "object", properties: { ids: { type: "array" } } });
    expect(await prepared(list, `{"ids":"[${DIGITS}]"}`)).toEqual({ ids: [DIGITS] });
    expect(await prepared(idOf({}), JSON.stringify(`{"id":${DIGITS}}`))).toEqual({ id: DIGITS });
    expect(await prepared(idOf({}), `{'id': ${DIGITS},}`)).toEqual({ id: DIGITS });
    expect(await prepared(idOf({ type: "integer" }), `{id: ${DIGITS}}`)).toContain("Send it as text");
  });

  it.each(["9007199254740991", "-9007199254740992", "1e3", "1E+2", "-0", "1.0", "18014398509481984", "0.1234567890123456789"])(
    "leaves the number %s as it is",
    async (source) => {
      expect(await prepared(idOf({ type: "number" }), `{"id":${source}}`)).toEqual({ id: JSON.parse(source) });
    },
  );

  it("is text where its exponent leads past the largest double, never null or infinity", async () => {
    expect(await prepared(idOf({}), '{"id":1e400}')).toEqual({ id: "1e400" });
    expect(await prepared(idOf({ type: "number" }), '{"id":-1e400}')).toContain("Send it as text");
  });

  it("reaches schemas of libraries as text", async () => {
    expect(await prepared(toolOf(z.object({ id: z.string() })), `{"id":${DIGITS}}`)).toEqual({ id: DIGITS });
    expect(await prepared(toolOf(z.object({ id: z.coerce.string() })), `{"id":${DIGITS}}`)).toEqual({ id: DIGITS });
    expect(await prepared(toolOf(z.object({ id: z.union([z.number(), z.string()]) })), `{"id":${DIGITS}}`)).toEqual({ id: DIGITS });
    const big = { schema: z.object({ id: z.coerce.bigint() }), jsonSchema: { type: "object" } };
    expect(await prepared(toolOf(big), `{"id":${DIGITS}}`)).toEqual({ id: BigInt(DIGITS) });
    expect(await prepared(toolOf(big), '{"id":5}')).toEqual({ id: 5n });
    for (const schema of [z.number(), z.int(), z.union([z.int(), z.boolean()])])
      expect(await prepared(toolOf(z.object({ id: schema })), `{"id":${DIGITS}}`)).toContain("Send it as text");
  });

  it.each([
    ["z.coerce.number()", z.coerce.number()],
    ["a transformation to a number", z.string().transform(Number)],
    ["a transformation that hides it", z.string().transform((text) => new Map([[{ at: [Number(text)] }, "x"]]))],
    ["a bigint of a rounded number", z.coerce.number().transform((id) => BigInt(id))],
    ["a text of a rounded number", z.coerce.number().transform(String)],
  ])("is refused if the schema rounds it: %s", async (_, schema) => {
    const tool = toolOf({ schema: z.object({ id: schema, other: z.string().optional() }), jsonSchema: { type: "object" } } as never);
    for (const text of [`{"id":${DIGITS}}`, `{"id":"${DIGITS}"}`])
      expect(await prepared(tool, text)).toMatch(/The schema of the tool makes .* of 1917043659912705296/);
  });

  it("counts as its text wherever a call is read from: the arguments that earlier versions logged were rounded", async () => {
    const inputText = `{"id":${DIGITS}}`;
    const rounded = JSON.parse(inputText) as JsonValue;
    expect(await prepareCall(idOf({}), { input: rounded, inputText })).toMatchObject({ ok: true, input: { id: DIGITS }, repaired: false });
    expect(await prepareCall(idOf({}), { input: { id: DIGITS }, inputText })).toMatchObject({ ok: true, input: { id: DIGITS } });
    // These were changed since.
    expect(await prepareCall(idOf({}), { input: { id: 7 }, inputText })).toMatchObject({ ok: true, input: { id: 7 } });
  });
});
