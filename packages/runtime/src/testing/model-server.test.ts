import { type InferRequest, textMessage } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createAnthropicProvider } from "../providers/anthropic.ts";
import { infer, textOf } from "../providers/infer.ts";
import { createOpenAiChatProvider } from "../providers/openai-chat.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";

const request: InferRequest = { model: "m", messages: [textMessage("user", "hi")] };
const providers = {
  anthropic: (server: ModelServer) => createAnthropicProvider({ apiKey: "k", baseUrl: server.url, proxyEnvironment: false }),
  openai: (server: ModelServer) => createOpenAiChatProvider({ apiKey: "k", baseUrl: server.openAiUrl, proxyEnvironment: false }),
};

describe.each(Object.keys(providers) as (keyof typeof providers)[])("the model server, asked by %s", (name) => {
  it.each([true, false])("says text, thinking, calls and usage of its script (stream: %s)", async (stream) => {
    await using server = await startModelServer([
      {
        thinking: "hm",
        text: ["a ", "b"],
        toolCalls: [
          { name: "f", input: { x: 1 } },
          { name: "g", inputText: stream ? "{broken" : "{}", id: "my_id" },
        ],
        usage: { inputTokens: 9, outputTokens: 4, cacheReadTokens: 3 },
      },
      { text: "cut", stopReason: name === "anthropic" ? "max_tokens" : "length" },
    ]);
    const answer = await infer(providers[name](server), { ...request, extra: { stream } });
    expect(textOf(answer)).toBe("a b");
    expect(answer.content[0]).toMatchObject({ type: "thinking", text: "hm" });
    expect(answer.toolCalls).toMatchObject([
      { name: "f", input: { x: 1 } },
      { id: "my_id", name: "g", inputText: stream ? "{broken" : "{}" },
    ]);
    expect(answer).toMatchObject({ stopReason: "tool-use", usage: { inputTokens: 9, outputTokens: 4, cacheReadTokens: 3 } });
    expect((await infer(providers[name](server), request)).stopReason).toBe("max-tokens");
    expect(server.requests.map(({ index, streamed }) => [index, streamed])).toEqual([
      [0, stream],
      [1, true],
    ]);
  });

  it("answers from a function of the request, and records what it was asked", async () => {
    await using server = await startModelServer(async ({ index, body }) => ({ text: `${index}: ${String(body["model"])}` }));
    const provider = providers[name](server);
    await infer(provider, request);
    expect(textOf(await infer(provider, request))).toBe("1: m");
    expect(server.requests[0]).toMatchObject({
      wire: provider.wire,
      body: { model: "m" },
      headers: { "content-type": "application/json" },
    });
  });

  it("names the request that its script does not know, and the failure of a script that throws", async () => {
    await using server = await startModelServer([
      { text: "x" },
      () => {
        throw new Error("in the script");
      },
    ]);
    const provider = providers[name](server);
    await infer(provider, request);
    await expect(infer(provider, request)).rejects.toThrow("in the script");
    await expect(infer(provider, request)).rejects.toThrow("has 2 turns, and this is request 3");
  });

  it("offers models", async () => {
    await using server = await startModelServer([], { models: ["one", "two"] });
    expect((await providers[name](server).listModels?.())?.map(({ id }) => id)).toEqual(["one", "two"]);
  });
});
