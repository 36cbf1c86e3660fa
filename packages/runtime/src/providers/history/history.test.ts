import type { CallId, Content, Message, ToolCallPart } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { belongsTo, isFreeText, objectInput, readableText, withBytes } from "../history.ts";
import { DistinctCalls } from "./distinct-calls.ts";
import { modelFamily } from "./model-family.ts";
import { wireCallId } from "./wire-call-id.ts";

function call(id: string, data?: { wire: string; id?: string }): ToolCallPart {
  return { type: "tool-call", id: id as CallId, name: "look", input: {}, inputText: "{}", ...(data && { providerData: data }) };
}

function result(id: string, output: string): Message {
  return { role: "tool", content: [{ type: "tool-result", id: id as CallId, name: "look", output }] };
}

describe("what a vendor wants back", () => {
  it.each([
    ["claude-sonnet-5", "claude-sonnet-5-20260301"],
    ["claude-sonnet-5", "anthropic/claude-sonnet-5-latest"],
    ["claude-sonnet-4-5-20250929", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
    ["claude-sonnet-4-5", "claude-sonnet-4-5@20250929"],
    ["gpt-5-2025-08-07", "gpt-5"],
  ])("goes to one model under each of its names: %s and %s", (one, other) => {
    expect(modelFamily(one)).toBe(modelFamily(other));
    expect(belongsTo({ wire: "w", model: one }, "w", other)).toBe(true);
    expect(belongsTo({ wire: "w", model: one }, "v", other)).toBe(false);
  });

  it.each([
    ["claude-sonnet-5", "claude-opus-5"],
    ["gpt-5", "gpt-5-mini"],
    ["qwen3:8b", "qwen3:32b"],
    ["gemini-2.5-flash", "gemini-2.5-pro"],
  ])("goes to no other model: %s and %s", (one, other) => {
    expect(belongsTo({ wire: "w", model: one }, "w", other)).toBe(false);
  });
});

describe("the id of a call on a wire", () => {
  it("is the vendor's own where he gave one, ours elsewhere", () => {
    expect(wireCallId(call("c_1", { wire: "openai-chat", id: "functions.look:0" }), "openai-chat")).toBe("functions.look:0");
    expect(wireCallId(call("c_1", { wire: "openai-chat", id: "functions.look:0" }), "anthropic-messages")).toBe("c_1");
    expect(wireCallId(call("c_1", { wire: "openai-chat", id: "" }), "openai-chat")).toBe("c_1");
  });

  it("is made of one that the wire refuses, the same each time, another for each", () => {
    const odd = (id: string, wire: string): string => wireCallId(call(id), wire);
    for (const wire of ["anthropic-messages", "openai-chat", "openai-responses", "gemini", "ollama-chat"]) {
      for (const id of ["call:1", "ä", "", "x".repeat(65), "a b"]) expect(odd(id, wire)).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
      expect(odd("call:1", wire)).toBe(odd("call:1", wire));
      expect(odd("call:1", wire)).not.toBe(odd("call:2", wire));
    }
    expect(wireCallId(call("c_1", { wire: "anthropic-messages", id: "toolu:1" }), "anthropic-messages")).toMatch(/^c_[a-z2-7]{24}$/);
    expect(wireCallId(call("c_1", { wire: "openai-chat", id: "x".repeat(41) }), "openai-chat")).toMatch(/^c_[a-z2-7]{24}$/);
  });
});

describe("ids of the calls of a conversation", () => {
  const ids = (group: readonly Message[]): string[] =>
    group.flatMap(({ content }) => content.filter((part) => part.type === "tool-call" || part.type === "tool-result").map(({ id }) => id));
  const said = (...content: Content[]): Message[] => [{ role: "assistant", content }];

  it("stay as they are, groups and all, where none is repeated", () => {
    const calls = new DistinctCalls((each) => each.id);
    const groups = [said(call("a"), call("b")), [result("a", "1"), result("b", "2")], said(call("c"))];
    for (const group of groups) expect(calls.next(group)).toBe(group);
  });

  it("are told apart where one turn repeats one, and results find the call that stands where they stand", () => {
    const calls = new DistinctCalls((each) => each.id);
    const [first, second, third] = ids(calls.next(said(call("a"), call("a"), call("b"))));
    expect([first, third]).toEqual(["a", "b"]);
    expect(second).not.toBe("a");
    expect(ids(calls.next([result("a", "1"), result("b", "2"), result("a", "3"), result("a", "4")]))).toEqual(["a", "b", second, "a"]);
    expect(ids(calls.next(said(call("c"))))).toEqual(["c"]);
  });

  it("are told apart where turns repeat them, the vendor's too", () => {
    const wire = "openai-chat";
    const calls = new DistinctCalls((each) => wireCallId(each, wire));
    const turn = (id: string): Message[] => said(call(id, { wire, id: "call_0" }));
    expect(wireCallId(calls.next(turn("a"))[0]?.content[0] as ToolCallPart, wire)).toBe("call_0");
    calls.next([result("a", "1")]);
    const again = calls.next(turn("b"))[0]?.content[0] as ToolCallPart;
    expect(wireCallId(again, wire)).not.toBe("call_0");
    expect(ids(calls.next([result("b", "2")]))).toEqual([again.id]);
    // What follows is judged by itself, and does not change what came before.
    const open = new DistinctCalls((each) => wireCallId(each, wire), calls);
    expect(wireCallId(open.next(turn("c"))[0]?.content[0] as ToolCallPart, wire)).not.toBe("call_0");
    expect(open.next(said(call("d")))).toEqual(said(call("d")));
    expect(calls.next(said(call("d")))).toEqual(said(call("d")));
  });
});

describe("what other wires are told", () => {
  it("holds a summary that only another vendor knows, and names what cannot be shown", () => {
    expect(readableText({ type: "other", raw: { type: "compaction", content: "so far" } })).toBe("so far");
    expect(readableText({ type: "other", raw: { content: [{ text: "a" }, "b", 7, { content: "c" }] } })).toBe("a\nb\nc");
    expect(readableText({ type: "other", raw: null })).toBe("");
    expect(readableText({ type: "image", mediaType: "image/png", data: "QQ==" })).toBe("[image]");
    expect(readableText({ type: "file", mediaType: "video/mp4", name: "a.mp4", url: "gs://b/a.mp4" })).toBe("[file a.mp4 at gs://b/a.mp4]");
  });

  it("is an object where calls take no free text", () => {
    expect(objectInput({ ...call("a"), input: "ls", custom: true })).toEqual({ input: "ls" });
    expect(objectInput({ ...call("a"), input: [1] })).toEqual({ input: [1] });
    expect(objectInput({ ...call("a"), input: { q: 1 } })).toEqual({ q: 1 });
    const { input: _, ...unparsed } = call("a");
    expect(objectInput(unparsed)).toEqual({});
    expect(isFreeText({ ...call("a", { wire: "w" }), custom: true }, "w")).toBe(true);
    expect(isFreeText({ ...call("a", { wire: "v" }), custom: true }, "w")).toBe(false);
  });

  it("is the bytes of a data address, and the address itself otherwise", () => {
    expect(withBytes({ type: "image", mediaType: "image/*", url: "data:image/png;base64,QQ==" })).toMatchObject({
      mediaType: "image/png",
      data: "QQ==",
    });
    const web = { type: "image", mediaType: "image/png", url: "https://example.com/a.png" } as const;
    expect(withBytes(web)).toBe(web);
  });
});
