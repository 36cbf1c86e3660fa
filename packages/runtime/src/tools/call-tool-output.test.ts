import type { JsonObject, JsonValue } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { toolOutput } from "./call-tool-output.ts";

const text = (said: string): JsonObject => ({ type: "text", text: said });
const output = (content: readonly JsonObject[], structuredContent?: JsonValue, isError = false): unknown =>
  toolOutput({ content, isError, ...(structuredContent !== undefined && { structuredContent }) });

describe("what a tool of a server gave", () => {
  it("is its text, also where that is wrapped to be structured", () => {
    expect(output([text("Hi")])).toBe("Hi");
    expect(output([text("Hi")], { content: "Hi" })).toBe("Hi");
    expect(output([text("Hi")], "Hi")).toBe("Hi");
  });

  it("is structured, where its text says the same", () => {
    expect(output([text('{ "n": 1 }')], { n: 1 })).toEqual({ n: 1 });
    expect(output([text("[1, 2]")], { list: [1, 2] })).toEqual({ list: [1, 2] });
    expect(output([], { n: 1 })).toEqual({ n: 1 });
    // What would be taken for parts.
    expect(output([], { type: "content", content: [] })).toBe('{"type":"content","content":[]}');
  });

  it("is both, where they differ", () => {
    const both = (first: string, second: JsonValue): object => ({ type: "content", content: [text(first), text(JSON.stringify(second))] });
    expect(output([text("Hi")], { content: "Ho" })).toEqual(both("Hi", { content: "Ho" }));
    expect(output([text("Hi")], { content: "Hi", more: 1 })).toEqual(both("Hi", { content: "Hi", more: 1 }));
    expect(output([text("[1]")], { one: [1], two: [2] })).toEqual(both("[1]", { one: [1], two: [2] }));
  });

  it("keeps its parts in their order, and says nothing twice among them", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    expect(output([text("Look:"), image], { content: "Look:" })).toEqual({
      type: "content",
      content: [text("Look:"), { type: "image", mediaType: "image/png", data: "AAAA" }],
    });
    expect(output([text("No.")], { content: "No." }, true)).toEqual({ type: "content", content: [text("No.")], isError: true });
    expect(output([])).toEqual({ type: "content", content: [] });
  });
});
