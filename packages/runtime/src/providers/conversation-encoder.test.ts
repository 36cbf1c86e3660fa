import { type CallId, type Content, type InferRequest, type Message, textMessage } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnthropicRequestEncoder } from "./anthropic/anthropic-request.ts";
import { ConversationEncoder } from "./conversation-encoder.ts";
import { ChatRequestEncoder } from "./openai-chat/chat-request.ts";

const makers = {
  anthropic: () =>
    new AnthropicRequestEncoder({ wire: "anthropic-messages", provider: "anthropic", defaultModel: "m", defaultMaxTokens: 100 }),
  chat: () => new ChatRequestEncoder({ wire: "openai-chat", provider: "openai", defaultModel: "m", maxTokensField: "max_tokens" }),
};

const word = fc.constantFrom("", " ", "hi", 'ä\n"', "text  ");
const callId = fc.constantFrom("c_0", "c_1", "c_2", "c_3").map((id) => id as CallId);
const part: fc.Arbitrary<Content> = fc.oneof(
  word.map((text): Content => ({ type: "text", text })),
  fc.record({ id: callId, input: fc.constantFrom({ a: 1 }, {}, "x") }).map(({ id, input }): Content => ({
    type: "tool-call",
    id,
    name: "look",
    input,
    inputText: JSON.stringify(input),
    providerData: { wire: "anthropic-messages", id: `toolu_${id}` },
  })),
  fc
    .record({
      id: callId,
      output: fc.constantFrom("out", "", { a: 1 }, { type: "content", content: [{ type: "image", mediaType: "image/png", data: "QQ==" }] }),
    })
    .map(({ id, output }): Content => ({ type: "tool-result", id, name: "look", output })),
  word.map((text): Content => ({ type: "thinking", text, providerData: { wire: "anthropic-messages", model: "m", signature: "s" } })),
);
/** Calls have ids of their own; results name any of them. */
function withOwnIds(messages: readonly Message[]): Message[] {
  let calls = 0;
  return messages.map((each) => ({
    ...each,
    content: each.content.map((content) => {
      if (content.type !== "tool-call") return content;
      const id = `c_${calls++}` as CallId;
      return { ...content, id, providerData: { wire: "anthropic-messages", id: `toolu_${id}` } };
    }),
  }));
}
const message: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom("user", "assistant", "tool", "system"),
  content: fc.array(part, { maxLength: 3 }),
});

const messagesOf = (length: { minLength?: number; maxLength: number }): fc.Arbitrary<Message[]> =>
  fc.array(message, length).map(withOwnIds);

function body(parts: readonly Uint8Array[]): {
  messages: { role: string; content: unknown; tool_calls?: { id: string }[]; tool_call_id?: string }[];
} {
  return JSON.parse(Buffer.concat(parts).toString());
}

describe.each(Object.keys(makers) as (keyof typeof makers)[])("%s requests of a growing conversation", (name) => {
  it("are the same bytes whether the conversation is kept or encoded anew", () => {
    fc.assert(
      fc.property(
        messagesOf({ minLength: 1, maxLength: 14 }),
        fc.array(fc.integer({ min: 0, max: 14 }), { maxLength: 3 }),
        fc.option(word),
        fc.constantFrom("auto", "none"),
        (history, rewinds, system, cache) => {
          const kept = makers[name]();
          const conversation = {};
          const histories = history.map((_, at) => history.slice(0, at + 1));
          // Going back, or on from elsewhere, must not leave anything behind.
          for (const at of rewinds) histories.push(history.slice(0, at), [...history.slice(0, at), textMessage("user", "other")]);
          histories.push([textMessage("user", "another beginning"), ...history.slice(1)], history, [
            textMessage("user", "a summary"),
            ...history.slice(Math.floor(history.length / 2)),
          ]);
          for (const [at, sent] of histories.entries()) {
            const request: InferRequest = { model: at % 7 === 6 ? "m2" : "m", messages: sent, cache, ...(system !== null && { system }) };
            const bytes = Buffer.concat(kept.encode(request, { conversation })).toString();
            expect(bytes).toBe(Buffer.concat(makers[name]().encode(request, {})).toString());
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it("are histories that the vendor takes: calls with results, no empty content, no neighbours that its API refuses", () => {
    fc.assert(
      fc.property(messagesOf({ maxLength: 10 }), (history) => {
        const encoded = body(makers[name]().encode({ model: "m", messages: history }, {})).messages;
        const open = new Set<string>();
        for (const [at, { role, content, tool_calls, tool_call_id }] of encoded.entries()) {
          if (role === "tool") expect(open.delete(tool_call_id ?? "")).toBe(true);
          else if (name === "chat") expect(open.size).toBe(0);
          for (const call of tool_calls ?? []) open.add(call.id);
          if (name === "chat") continue;
          const blocks = content as { type: string; id?: string; text?: string; tool_use_id?: string }[];
          expect(blocks.length).toBeGreaterThan(0);
          if (at === 0) expect(role).toBe("user");
          for (const block of blocks) {
            if (block.type === "text") expect(block.text?.trim()).not.toBe("");
            if (block.type === "tool_result") expect(open.delete(block.tool_use_id ?? "")).toBe(true);
          }
          expect(open.size).toBe(0);
          for (const block of blocks) if (block.type === "tool_use") open.add(block.id ?? "");
        }
        expect(open.size).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});

it("encodes each message of a long session a bounded number of times, not once a request", () => {
  let encoded = 0;
  const encoder = new ConversationEncoder((group) => {
    encoded += group.length;
    return group.map((each) => JSON.stringify(each)).join(",");
  }, 4);
  const conversation = {};
  const messages: Message[] = [textMessage("user", "start")];
  const buffers = new Set<unknown>();
  for (let turn = 0; turn < 1000; turn += 1) {
    messages.push(textMessage("assistant", `turn ${turn}`), textMessage("tool", "result"));
    const { prefix, tail } = encoder.encode([...messages], "m", conversation);
    buffers.add(prefix.buffer);
    if (turn === 999) {
      expect(JSON.parse(`[${Buffer.from(prefix).toString().slice(1)},${tail.map(({ json }) => json).join(",")}]`)).toEqual(messages);
      expect(tail).toHaveLength(4);
    }
  }
  // Once when it moves into the bytes, and with each request that still leaves it open.
  expect(encoded).toBeLessThanOrEqual(messages.length * 4);
  // Bytes are appended, and copied only to grow.
  expect(buffers.size).toBeLessThan(20);
});

it("leaves the bytes of a request under way as they are when the conversation grows", () => {
  const encoder = makers.chat();
  const conversation = {};
  const messages = [textMessage("user", "a"), textMessage("assistant", "b"), textMessage("user", "c")];
  const first = encoder.encode({ model: "m", messages }, { conversation });
  const before = Buffer.concat(first).toString();
  for (let more = 0; more < 50; more += 1) {
    messages.push(textMessage("assistant", "d".repeat(500)), textMessage("user", "e"));
    encoder.encode({ model: "m", messages: [...messages] }, { conversation });
  }
  expect(Buffer.concat(first).toString()).toBe(before);
});
