import { z } from "zod";
import { describe, expect, it } from "vitest";
import { createToolCall, defineTool, executeLeaf } from "./index.ts";

const run = async (value: unknown, output?: object) => {
  const tool = defineTool({
    name: "shot",
    description: "",
    input: {},
    ...(output && { output: output as never }),
    execute: () => value as never,
  });
  const { output: given, isError } = await executeLeaf(tool, {}, createToolCall());
  return { given, isError };
};
const text = (said: string) => ({ type: "text", text: said });
const image = { type: "image", data: "aGk=", mimeType: "image/png" };

describe("what a tool returns in the form of the Model Context Protocol", () => {
  it("is content: text, images, audio, resources and links", async () => {
    const content = [
      text("Look:"),
      { ...image, annotations: { audience: ["user"] } },
      { type: "audio", data: "aGk=", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "notes://one", text: "One." } },
      { type: "resource_link", uri: "notes://two", name: "Two" },
    ];
    expect(await run({ content, _meta: { trace: 1 } })).toEqual({
      isError: false,
      given: {
        type: "content",
        content: [
          text("Look:"),
          { type: "image", mediaType: "image/png", data: "aGk=" },
          { type: "file", mediaType: "audio/wav", data: "aGk=" },
          text("Resource notes://one:\nOne."),
          text("Resource notes://two: Two"),
        ],
      },
    });
    expect((await run({ content: [text("only this")] })).given).toBe("only this");
    expect((await run({ content: [text('{"n":1}')], structuredContent: { n: 1 } })).given).toEqual({ n: 1 });
    expect((await run({ content: [], structuredContent: { n: 1 } })).given).toEqual({ n: 1 });
  });

  it("is an error of the tool if it says so", async () => {
    expect(await run({ content: [text("broken")], isError: true })).toEqual({
      isError: true,
      given: { type: "content", content: [text("broken")] },
    });
  });

  it("is plain JSON if a member, a type of a part or a member of a part is unknown, or one is missing", async () => {
    for (const value of [
      { content: [image], title: "A picture" },
      { content: [image, { type: "paragraph", content: [] }] },
      { content: [{ type: "text", text: "bold", marks: ["strong"] }] },
      { content: [{ type: "image", data: "aGk=" }] },
      { content: [{ type: "text", text: 5 }] },
      { content: ["text"] },
      { content: [] },
      { content: "text" },
      { content: [image], isError: "no" },
      { content: [image], structuredContent: [1] },
      { structuredContent: { n: 1 } },
      [image],
    ])
      expect(await run(value), JSON.stringify(value)).toEqual({ given: value, isError: false });
  });

  it("is data if the output schema of the tool describes its content", async () => {
    const page = { content: [text("one")] };
    expect((await run(page, z.object({ content: z.array(z.object({ type: z.string(), text: z.string() })) }))).given).toEqual(page);
    expect((await run({ ...page, structuredContent: { n: 1 } }, z.object({ n: z.number() }))).isError).toBe(false);
  });
});

describe("a schema in an object", () => {
  it("is refused as output or input of a tool, with what to write instead", () => {
    const define = (fields: object) => () => defineTool({ name: "t", description: "", input: {}, execute: () => 1, ...fields } as never);
    const inner = z.object({ n: z.number() });
    for (const output of [
      { schema: inner },
      { schema: inner, name: "answer" },
      { schema: { type: "object" } },
      { type: "object", schema: { type: "object" } },
    ])
      expect(define({ output })).toThrow(/`output` cannot be used: `\{ schema \}` is no schema: write the schema itself/);
    expect(define({ input: { schema: inner } })).toThrow(/`input` cannot be used: `\{ schema \}` is no schema/);
    expect(define({ output: { schema: inner, jsonSchema: { type: "object" } } })).not.toThrow();
    expect(define({ output: { type: "object", properties: {}, schema: {} } })).not.toThrow();
  });
});
