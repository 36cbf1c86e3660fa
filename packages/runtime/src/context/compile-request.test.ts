import { textMessage, type CallId, type InferRequest, type Message } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnthropicRequestEncoder } from "../providers/anthropic/anthropic-request.ts";
import { ChatRequestEncoder } from "../providers/openai-chat/chat-request.ts";
import { compileRequest } from "./compile-request.ts";
import { Conversation } from "./conversation.ts";

const tools = [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }];

describe("compileRequest", () => {
  it("leaves out what is not there, and puts what changes least first [CE-02]", () => {
    expect(compileRequest({ model: "m", messages: [] })).toEqual({ model: "m", messages: [] });
    expect(compileRequest({ model: "m", system: "", tools: [], messages: [] })).toEqual({ model: "m", messages: [] });
    const request = compileRequest({ model: "m", system: "s", tools, messages: [], settings: { maxTokens: 9, temperature: 0 } });
    expect(request).toEqual({ model: "m", system: "s", tools, messages: [], maxTokens: 9, temperature: 0 });
    expect(Object.keys(request).slice(-3)).toEqual(["system", "tools", "messages"]);
  });
});

/** A round of a conversation: a user's message, or a response that calls tools, with their results. */
const round: fc.Arbitrary<readonly Message[]> = fc.oneof(
  fc.string({ minLength: 1 }).map((text) => [textMessage("user", `u${text}`)]),
  fc
    .record({ text: fc.string(), count: fc.integer({ min: 1, max: 3 }), output: fc.string(), tag: fc.nat() })
    .map(({ text, count, output, tag }) => {
      const calls = Array.from({ length: count }, (_, index) => `c_${tag}_${index}` as CallId);
      return [
        {
          role: "assistant" as const,
          content: [
            { type: "text" as const, text },
            ...calls.map((id) => ({ type: "tool-call" as const, id, name: "look", input: {}, inputText: "{}" })),
          ],
        },
        ...calls.map((id): Message => ({ role: "tool", content: [{ type: "tool-result", id, name: "look", output }] })),
      ];
    }),
);

const WIRES: readonly (readonly [string, () => (request: InferRequest, conversation: object) => string, number])[] = [
  [
    "anthropic-messages",
    () => {
      const encoder = new AnthropicRequestEncoder({ wire: "anthropic-messages", provider: "p", defaultModel: "d", defaultMaxTokens: 100 });
      return (request, conversation) => Buffer.concat(encoder.encode(request, { conversation })).toString();
    },
    1,
  ],
  [
    "openai-chat",
    () => {
      const encoder = new ChatRequestEncoder({ wire: "openai-chat", provider: "p", defaultModel: "d", maxTokensField: "max_tokens" });
      return (request, conversation) => Buffer.concat(encoder.encode(request, { conversation })).toString();
    },
    1,
  ],
];

describe.each(WIRES)("two consecutive requests of a conversation on %s", (_wire, makeEncoder) => {
  it("share all their bytes up to the end of the first, but for its last group of messages [CE-01]", () => {
    fc.assert(
      fc.property(fc.array(round, { minLength: 2, maxLength: 8 }), (rounds) => {
        const encode = makeEncoder();
        const conversation = new Conversation();
        conversation.append(textMessage("user", "begin"));
        const bodies: string[] = [];
        const ends: number[] = [];
        for (const messages of rounds) {
          for (const message of messages) conversation.append(message);
          conversation.append(textMessage("user", "and"));
          ends.push(conversation.length);
          bodies.push(
            encode(
              compileRequest({ model: "m", system: "Stay.", tools, messages: conversation.messages, settings: { cache: "none" } }),
              conversation,
            ),
          );
        }
        for (let index = 1; index < bodies.length; index++) {
          // A user's message joins the group before it; an assistant's closes it. What is closed never changes.
          const before = JSON.parse(bodies[index - 1] as string) as { messages: readonly unknown[] };
          const lastJson = JSON.stringify(before.messages.at(-1));
          const closed = (bodies[index - 1] as string).lastIndexOf(lastJson);
          expect((bodies[index] as string).slice(0, closed)).toBe((bodies[index - 1] as string).slice(0, closed));
          expect(closed).toBeGreaterThan(0);
        }
      }),
      { numRuns: 50 },
    );
  });
});
