import { type InferRequest, type Provider, textMessage } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createAnthropicProvider } from "../providers/anthropic.ts";
import { createGeminiProvider } from "../providers/gemini.ts";
import { infer, textOf } from "../providers/infer.ts";
import { createOllamaProvider } from "../providers/ollama.ts";
import { createOpenAiChatProvider } from "../providers/openai-chat.ts";
import { createOpenAiResponsesProvider } from "../providers/openai-responses.ts";
import { type ModelServer, type ServerTurn, startModelServer } from "./model-server.ts";
import type { ValidatedWire } from "./request-validation/validate-request.ts";

const key = { apiKey: "k", proxyEnvironment: false } as const;
const providers: { readonly [wire in ValidatedWire]: (server: ModelServer) => Provider } = {
  "anthropic-messages": ({ url }) => createAnthropicProvider({ ...key, baseUrl: url }),
  "openai-chat": ({ openAiUrl }) => createOpenAiChatProvider({ ...key, baseUrl: openAiUrl }),
  "openai-responses": ({ openAiUrl }) => createOpenAiResponsesProvider({ ...key, baseUrl: openAiUrl }),
  "gemini": ({ url }) => createGeminiProvider({ ...key, baseUrl: url }),
  "ollama-chat": ({ url }) => createOllamaProvider({ ...key, baseUrl: url }),
};
const wires = Object.keys(providers) as ValidatedWire[];
/** The vendors' words for a response that was cut at its limit. */
const CUT: { readonly [wire in ValidatedWire]: string } = {
  "anthropic-messages": "max_tokens",
  "openai-chat": "length",
  "openai-responses": "max_output_tokens",
  "gemini": "MAX_TOKENS",
  "ollama-chat": "length",
};
/** Their calls are objects, so that broken arguments cannot be told. */
const OBJECT_CALLS: readonly ValidatedWire[] = ["gemini", "ollama-chat"];

const request: InferRequest = { model: "gemini-3-test", messages: [textMessage("user", "hi")] };

describe.each(wires)("the model server, asked over %s", (wire) => {
  // Which of Gemini's responses is streamed is told by the path, which our client does not choose.
  const ways = wire === "gemini" ? [true] : [true, false];
  it.each(ways)("says text, thinking, calls and usage of its script (stream: %s)", async (stream) => {
    const mayBreak = stream && !OBJECT_CALLS.includes(wire);
    await using server = await startModelServer([
      {
        thinking: "hm",
        text: ["a ", "b"],
        toolCalls: [
          { name: "f", input: { x: 1 } },
          { name: "g", inputText: mayBreak ? "{broken" : "{}", id: "my_id" },
        ],
        usage: { inputTokens: 9, outputTokens: 4, ...(wire !== "ollama-chat" && { cacheReadTokens: 3 }) },
      },
      { text: "cut", stopReason: CUT[wire] },
    ]);
    const provider = providers[wire](server);
    const response = await infer(provider, { ...request, extra: wire === "gemini" ? {} : { stream } });
    expect(textOf(response)).toBe("a b");
    expect(response.content[0]).toMatchObject({ type: "thinking", text: "hm" });
    expect(response.toolCalls).toMatchObject([
      { name: "f", input: { x: 1 } },
      { id: "my_id", name: "g", inputText: mayBreak ? "{broken" : "{}" },
    ]);
    expect(response).toMatchObject({
      stopReason: "tool-use",
      usage: { inputTokens: 9, outputTokens: 4, cacheReadTokens: wire === "ollama-chat" ? null : 3 },
    });
    expect((await infer(provider, request)).stopReason).toBe("max-tokens");
    expect(server.requests.map(({ index, streamed, model }) => [index, streamed, model])).toEqual([
      [0, stream, "gemini-3-test"],
      [1, true, "gemini-3-test"],
    ]);
  });

  it("responds from a function of the request, and records what it was asked", async () => {
    await using server = await startModelServer(async ({ index, model }) => ({ text: `${index}: ${model}` }));
    const provider = providers[wire](server);
    await infer(provider, request);
    expect(textOf(await infer(provider, request))).toBe("1: gemini-3-test");
    expect(server.requests[0]).toMatchObject({ wire, headers: { "content-type": "application/json" } });
    expect(server.requests[0]?.wire).toBe(provider.wire);
  });

  it("names the request that its script does not know, and the failure of a script that throws", async () => {
    await using server = await startModelServer([
      { text: "ok" },
      () => {
        throw new Error("in the script");
      },
    ]);
    const provider = providers[wire](server);
    await infer(provider, request);
    await expect(infer(provider, request)).rejects.toThrow("in the script");
    await expect(infer(provider, request)).rejects.toThrow("has 2 turns, and this is request 3");
  });

  it("tells refusals and errors as the vendor does", async () => {
    await using server = await startModelServer([
      { refusal: "I will not." },
      { status: 429, error: { message: "slow down" } },
      { text: "never", misbehave: { errorInStream: { message: "too busy" } } },
    ]);
    const provider = providers[wire](server);
    const refused = await infer(provider, request);
    if (wire === "gemini") expect(refused).toMatchObject({ stopReason: "content-filter", rawStopReason: "SAFETY" });
    else expect(JSON.stringify(refused.content)).toContain("I will not.");
    await expect(infer(provider, request)).rejects.toMatchObject({
      failure: { kind: "rate-limit", message: expect.stringContaining("slow down") },
    });
    await expect(infer(provider, request)).rejects.toMatchObject({
      failure: { kind: "server-error", message: expect.stringContaining("too busy") },
    });
  });

  it("refuses what the vendor would refuse, says why, and lets it pass only when told to", async () => {
    const response: ServerTurn = { text: "taken" };
    await using strict = await startModelServer([response]);
    await using lenient = await startModelServer([response], { validate: false });
    const wrong = wire === "gemini" ? { generationConfig: { temperature: 3 } } : { [wire === "ollama-chat" ? "format" : "temperature"]: 7 };
    await expect(infer(providers[wire](strict), { ...request, extra: wrong })).rejects.toMatchObject({
      failure: { kind: "invalid-request", status: 400, message: expect.stringMatching(/temperature|format/) },
    });
    expect(strict.refused).toEqual([expect.stringContaining(`request 1 (${wire}): `)]);
    expect(textOf(await infer(providers[wire](lenient), { ...request, extra: wrong }))).toBe("taken");
  });

  it("offers models", async () => {
    await using server = await startModelServer([], { models: ["one", "two"] });
    expect((await providers[wire](server).listModels?.())?.map(({ id }) => id)).toEqual(["one", "two"]);
  });
});

describe("the model server", () => {
  it("refuses the signatures that it gave on another wire", async () => {
    await using server = await startModelServer(() => ({ thinking: "hm", text: "ok" }));
    const { content } = await infer(providers["anthropic-messages"](server), request);
    const signed = content.find((part) => part.type === "thinking")?.providerData?.["signature"];
    expect(signed).toEqual(expect.any(String));
    const smuggled = { ...request, messages: [...request.messages, { role: "assistant", content } as const, textMessage("user", "go on")] };
    expect(textOf(await infer(providers["anthropic-messages"](server), smuggled))).toBe("ok");
    await expect(
      infer(providers["openai-responses"](server), { ...request, extra: { metadata: { smuggled: signed as string } } }),
    ).rejects.toThrow("a signature of anthropic-messages is not valid here");
  });

  it("responds to generateContent at once, and streamGenerateContent as an array unless events are asked for", async () => {
    await using server = await startModelServer(() => ({ text: "one two", toolCalls: [{ name: "f", input: { x: 1 } }] }));
    const ask = async (method: string): Promise<string> => {
      const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hi" }] }] });
      return (await fetch(`${server.url}/v1beta/models/gemini-3-test:${method}`, { method: "POST", body })).text();
    };
    const partsOf = (response: { candidates: { content: { parts?: unknown[] } }[] }): unknown[] =>
      response.candidates[0]?.content.parts ?? [];
    const whole = partsOf(JSON.parse(await ask("generateContent")));
    expect(whole).toMatchObject([
      { text: "one two" },
      { functionCall: { name: "f", args: { x: 1 } }, thoughtSignature: expect.any(String) },
    ]);
    const chunks = JSON.parse(await ask("streamGenerateContent")) as Parameters<typeof partsOf>[0][];
    expect(chunks.flatMap(partsOf)).toMatchObject([{ text: "one" }, { text: " two" }, { functionCall: { name: "f" } }]);
    expect(await ask("streamGenerateContent?alt=sse")).toMatch(/^data: \{/);
  });

  it.each(OBJECT_CALLS)("tells broken arguments as a vendor does whose calls are objects: %s", async (wire) => {
    await using server = await startModelServer([{ toolCalls: [{ name: "f", inputText: "{broken" }] }]);
    const asked = infer(providers[wire](server), request);
    if (wire === "gemini") expect(await asked).toMatchObject({ rawStopReason: "MALFORMED_FUNCTION_CALL", toolCalls: [] });
    else await expect(asked).rejects.toThrow("error parsing tool call: raw='{broken'");
  });
});
