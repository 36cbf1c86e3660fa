import type { Tool } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool, prepareCall } from "./index.ts";

const readFile = defineTool({
  name: "read_file",
  description: "",
  input: {
    type: "object",
    properties: { path: { type: "string" }, lines: { type: "array", items: { type: "integer" } }, options: { type: "object" } },
    required: ["path"],
    additionalProperties: false,
  },
  execute: () => "",
});
const zodTool = defineTool({
  name: "zod_tool",
  description: "",
  input: z.object({ path: z.string(), limit: z.coerce.number().default(5) }),
  execute: () => "",
});

describe("preparing a call", () => {
  it("gives the arguments as they were sent, and the value that the schema made of them", async () => {
    expect(await prepareCall(zodTool, { inputText: '{"path": "a"}' })).toStrictEqual({
      ok: true,
      input: { path: "a" },
      value: { path: "a", limit: 5 },
      repaired: false,
    });
    expect(await prepareCall(zodTool, { input: { path: "a", limit: "7" } })).toStrictEqual({
      ok: true,
      input: { path: "a", limit: "7" },
      value: { path: "a", limit: 7 },
      repaired: false,
    });
  });

  it("takes an empty list for an empty object, and no other list", async () => {
    const tool = defineTool({ name: "now", description: "", input: { type: "object", properties: {} }, execute: () => "" });
    for (const call of [{ inputText: "[]" }, { input: [] }, { inputText: '"[]"' }])
      expect(await prepareCall(tool, call)).toEqual({ ok: true, input: {}, value: {}, repaired: true });
    expect(await prepareCall(tool, { inputText: "[1]" })).toMatchObject({ ok: false, reason: "invalid" });
    expect(await prepareCall(readFile, { inputText: "[]" })).toMatchObject({ ok: false, reason: "schema" });
  });

  it("takes no arguments for an empty object", async () => {
    const tool = defineTool({ name: "now", description: "", input: {}, execute: () => "" });
    for (const call of [{}, { inputText: "" }, { inputText: "null" }, { input: null }])
      expect(await prepareCall(tool, call)).toMatchObject({ ok: true, input: {} });
  });

  it("repairs a slip of notation, and says so [2.10]", async () => {
    expect(await prepareCall(readFile, { inputText: "{'path': 'a',}" })).toStrictEqual({
      ok: true,
      input: { path: "a" },
      value: { path: "a" },
      repaired: true,
    });
  });

  it("unpacks arguments that were encoded twice, whole or in part", async () => {
    expect(await prepareCall(readFile, { inputText: JSON.stringify('{"path":"a"}') })).toMatchObject({
      ok: true,
      input: { path: "a" },
      repaired: true,
    });
    expect(await prepareCall(readFile, { input: { path: "a", lines: "[1, 2]", options: '{"x":1}' } })).toMatchObject({
      ok: true,
      input: { path: "a", lines: [1, 2], options: { x: 1 } },
      repaired: true,
    });
    // A text where a text is wanted stays one, whatever it looks like.
    expect(await prepareCall(readFile, { input: { path: "[1, 2]" } })).toMatchObject({
      ok: true,
      input: { path: "[1, 2]" },
      repaired: false,
    });
    expect(await prepareCall(readFile, { input: { path: "a", lines: '["x"]' } })).toMatchObject({ ok: false, reason: "schema" });
  });

  it("never runs what was cut off, and tells the model so [2.10]", async () => {
    const prepared = await prepareCall(readFile, { inputText: '{"path": "a' });
    expect(prepared).toMatchObject({ ok: false, reason: "truncated", failure: { kind: "invalid-input", tool: "read_file" } });
    expect(!prepared.ok && prepared.message).toBe(
      'The arguments for the tool "read_file" were not accepted, and it did not run.\nThe arguments end before they are complete; they look cut off. Send the call again, in smaller parts if they are long.',
    );
  });

  it("names provided keys, missing keys and one example call [2.10, TL-05]", async () => {
    const prepared = await prepareCall(readFile, { input: { file: "a", lines: 3 } });
    expect(prepared).toMatchObject({
      ok: false,
      reason: "schema",
      failure: {
        kind: "invalid-input",
        issues: ['path: is required (a string) but missing; provided: "file", "lines"', expect.any(String), expect.any(String)],
      },
    });
    expect(!prepared.ok && prepared.message).toBe(
      [
        'The arguments for the tool "read_file" were not accepted, and it did not run.',
        '- path: is required (a string) but missing; provided: "file", "lines"',
        '- file: is not a known property; there are: "path", "lines", "options"',
        "- lines: expected an array, got 3",
        'A call looks like this: {"path":"<path>"}',
      ].join("\n"),
    );
  });

  it("adds the keys to a schema library's words", async () => {
    const prepared = await prepareCall(zodTool, { input: { file: "a" } });
    expect(!prepared.ok && prepared.message).toMatch(
      /- path: Invalid input.*\nMissing: "path"; provided: "file"\.\nA call looks like this: \{"path":"<path>"\}$/,
    );
  });

  it.each([["[1]"], ["5"], ['"text"'], ["true"]])("refuses arguments that are no object: %s", async (inputText) => {
    expect(await prepareCall(readFile, { inputText })).toMatchObject({
      ok: false,
      reason: "invalid",
      message: expect.stringContaining("must be a JSON object"),
    });
  });

  it("keeps its message short, whatever was sent", async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key_${index}_${"x".repeat(2_000)}`, index]));
    const prepared = await prepareCall(readFile, { input: many });
    expect(!prepared.ok && prepared.message.length).toBeLessThan(10_000);
  });

  it("blames the tool, not the model, when its schema breaks", async () => {
    const broken: Tool = {
      ...readFile,
      parse: () => {
        throw new Error("schema bug");
      },
    };
    expect(await prepareCall(broken, { input: {} })).toMatchObject({
      ok: false,
      reason: "broken-schema",
      failure: { kind: "invalid-definition" },
      message: expect.stringContaining("schema bug"),
    });
    // Found to be unusable by the full validator only when it is first needed.
    const late = defineTool({
      name: "late",
      description: "",
      input: { type: "object", properties: {}, dependentRequired: 5 },
      execute: () => "",
    });
    expect(await prepareCall(late, { input: {} })).toMatchObject({ ok: false, reason: "broken-schema" });
  });

  it("gives a result for any text and any value, never a rejection", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (inputText) => {
        expect(typeof (await prepareCall(readFile, { inputText })).ok).toBe("boolean");
      }),
    );
    let deep: unknown = 1;
    for (let depth = 0; depth < 50_000; depth++) deep = [deep];
    expect(await prepareCall(readFile, { input: { path: deep as never } })).toMatchObject({ ok: false, reason: "invalid" });
  });
});
