import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type InferRequest, ModelError, type Provider, textMessage } from "@keelson/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { createAgent, createModelRegistry, createRunner } from "../index.ts";
import { createAnthropicProvider } from "../providers/anthropic.ts";
import { infer } from "../providers/infer.ts";
import { createOpenAiChatProvider } from "../providers/openai-chat.ts";
import type { FetchLike } from "../transport/index.ts";
import { type Cassette, loadCassette, recordCassette, replayCassette } from "./cassette.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";

const KEY = 'top-secret-key "42"';
const request: InferRequest = { model: "m", messages: [textMessage("user", "hi")], maxTokens: 10 };
const platformFetch = globalThis.fetch as FetchLike;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serverOf(...script: Parameters<typeof startModelServer>): Promise<ModelServer> {
  const server = await startModelServer(...script);
  cleanups.push(() => server.close());
  return server;
}

const anthropic = (server: Pick<ModelServer, "url">, fetch: FetchLike): Provider =>
  createAnthropicProvider({ apiKey: KEY, baseUrl: server.url, fetch });

describe("a cassette", () => {
  it("gives back raw bytes, chunk by chunk, on both wires, and is done when all was asked for", async () => {
    const server = await serverOf([
      { text: "grüße 😀", misbehave: { chunkBytes: 9 } },
      { toolCalls: [{ name: "f", input: { a: 1 } }] },
      { status: 429, error: { message: "slow" }, headers: { "retry-after": "7" } },
    ]);
    const chat = (fetch: FetchLike): Provider => createOpenAiChatProvider({ apiKey: KEY, baseUrl: server.openAiUrl, fetch });
    const play = async (fetch: FetchLike): Promise<unknown[]> => [
      await infer(anthropic(server, fetch), request),
      await infer(chat(fetch), request),
      await infer(anthropic(server, fetch), request).catch((error: unknown) => (error as ModelError).failure),
    ];

    const recorder = recordCassette({ fetch: platformFetch });
    const live = await play(recorder.fetch);
    const cassette = await recorder.cassette();
    expect(cassette.interactions[0]?.response.chunkSizes.length).toBeGreaterThan(3);
    await server.close();
    const player = replayCassette(cassette);
    expect(player.remaining).toBe(3);
    expect(await play(player.fetch)).toEqual(live);
    player.assertDone();
  });

  it("does not hold the key of a request that the server repeats, and that nobody named to it", async () => {
    const key = "cnry/odd+key-1234";
    const server = await serverOf([{ status: 401, error: { message: `invalid x-api-key: ${key}` } }]);
    const recorder = recordCassette({ fetch: platformFetch });
    const provider = createAnthropicProvider({ apiKey: key, baseUrl: server.url, fetch: recorder.fetch });
    await expect(infer(provider, request)).rejects.toThrow(ModelError);
    expect(JSON.stringify(await recorder.cassette())).not.toContain(key);
  });

  it("holds no secret, by value or by shape, in requests and responses, and still replays", async () => {
    const token = "sk-abcdefghijklmnopqrstuvwx";
    const server = await serverOf(() => ({
      text: [`your key is ${KEY} and ${token}, ${"filler ".repeat(20)}`],
      headers: { "x-note": "note of sk-headerheaderheader", "set-cookie": "session=1" },
      misbehave: { chunkBytes: 20 },
    }));
    const secretRequest = { ...request, messages: [textMessage("user", `use ${KEY} and ${token} and my-own-form-77`)] };
    const options = { secrets: [KEY], patterns: [/my-own-form-\d+/] };
    const recorder = recordCassette({ fetch: platformFetch, ...options });
    await infer(anthropic({ url: `${server.url}/a?key=plain-query-secret` }, recorder.fetch), secretRequest).catch(
      (error: unknown) => error,
    );
    await infer(anthropic(server, recorder.fetch), secretRequest);

    const folder = await mkdtemp(join(tmpdir(), "keelson-cassette-"));
    cleanups.push(() => rm(folder, { recursive: true }));
    const path = join(folder, "tape.json");
    await recorder.save(path);
    const text = await readFile(path, "utf8");
    for (const secret of [KEY, "top-secret", token, "session=1", "sk-header", "my-own-form-77", "plain-query-secret"])
      expect(text).not.toContain(secret);
    expect(text).toContain("[redacted]");

    const player = replayCassette(
      { ...(await loadCassette(path)), interactions: (await loadCassette(path)).interactions.slice(1) },
      options,
    );
    const response = await infer(anthropic(server, player.fetch), secretRequest);
    expect(response.content).toMatchObject([{ text: expect.stringContaining("your key is [redacted] and [redacted],") }]);
  });

  it("holds no known value however it is spelt, and nothing that vendors issue", async () => {
    const vendor = "glpat-abcdefghij0123456789";
    const inBase64 = btoa(`user:${KEY}`);
    const server = await serverOf(() => ({ text: [`pushed with ${vendor}, as ${inBase64}`] }));
    const recorder = recordCassette({ fetch: platformFetch, secrets: [KEY] });
    await infer(anthropic(server, recorder.fetch), { ...request, messages: [textMessage("user", `use ${encodeURIComponent(KEY)}`)] });
    const text = JSON.stringify(await recorder.cassette());
    for (const secret of [vendor, inBase64, encodeURIComponent(KEY)]) expect(text).not.toContain(secret);
  });

  it("is asked once for what it does not hold: no server failed, so nothing is retried [ET-07]", async () => {
    const server = await serverOf(() => ({ text: "ok" }));
    const recorder = recordCassette({ fetch: platformFetch });
    await infer(anthropic(server, recorder.fetch), request);
    const cassette = await recorder.cassette();
    for (const [left, complaint] of [
      [cassette, "request 1 is not the recorded one"],
      [{ ...cassette, interactions: [] }, "the cassette has 0 interactions"],
    ] as const) {
      let requests = 0;
      const { fetch: replay } = replayCassette(left);
      const counted: FetchLike = (url, init) => (requests++, replay(url, init));
      const providers = { anthropic: anthropic(server, counted) };
      const agent = createAgent({ name: "a", model: "anthropic/m" });
      const runner = createRunner({ agent, models: createModelRegistry({ providers }) });
      const { reason, error } = await runner.run("other words").outcome;
      expect([reason, error?.message, requests]).toEqual(["error", expect.stringContaining(complaint), 1]);
    }
  });

  it("names the first difference of a request that is not the recorded one", async () => {
    const server = await serverOf(() => ({ text: "ok" }));
    const recorder = recordCassette({ fetch: platformFetch });
    await infer(anthropic(server, recorder.fetch), request);
    await infer(anthropic(server, recorder.fetch), request);
    const cassette = await recorder.cassette();
    const complaint = async (changed: Partial<InferRequest>, url = server.url): Promise<string> => {
      const error: unknown = await infer(anthropic({ url }, replayCassette(cassette).fetch), { ...request, ...changed }).catch(
        (cause: unknown) => cause,
      );
      return ModelError.is(error) ? error.message : String(error);
    };
    expect(await complaint({ messages: [textMessage("user", "ho")] })).toContain(
      'request 1 is not the recorded one: body.messages[0].content[0].text: recorded "hi", now "ho"',
    );
    expect(await complaint({ temperature: 1 })).toContain("body.temperature: recorded nothing, now 1");
    expect(await complaint({}, "http://elsewhere")).toContain("url: recorded");

    const player = replayCassette(cassette);
    await infer(anthropic(server, player.fetch), request);
    expect(() => player.assertDone()).toThrow("1 recorded requests were not made");
    await infer(anthropic(server, player.fetch), request);
    await expect(infer(anthropic(server, player.fetch), request)).rejects.toThrow("request 3");
  });

  it("keeps a response that broke off as one", async () => {
    const server = await serverOf([{ text: "some words", misbehave: { resetAfterBytes: 400 } }]);
    const recorder = recordCassette({ fetch: platformFetch });
    await expect(infer(anthropic(server, recorder.fetch), request)).rejects.toMatchObject({ failure: { kind: "server-error" } });
    const cassette: Cassette = await recorder.cassette();
    expect(cassette.interactions[0]?.response.broke).toBeDefined();
    await expect(infer(anthropic(server, replayCassette(cassette).fetch), request)).rejects.toMatchObject({
      failure: { kind: "server-error" },
    });
  });

  it("keeps bytes that are no text", async () => {
    const bytes = new Uint8Array([0, 255, 128, 10]);
    const recorder = recordCassette({ fetch: async () => new Response(bytes) });
    const init = { method: "GET", headers: {}, signal: new AbortController().signal, redirect: "manual" } as const;
    expect(new Uint8Array(await (await recorder.fetch("http://x/", init)).arrayBuffer())).toEqual(bytes);
    const replayed = await replayCassette(await recorder.cassette()).fetch("http://x/", init);
    expect(new Uint8Array(await replayed.arrayBuffer())).toEqual(bytes);
  });

  it("of another version is refused", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keelson-cassette-"));
    cleanups.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "old.json"), '{"v":0}');
    await expect(loadCassette(join(folder, "old.json"))).rejects.toThrow("no cassette of version 1");
  });
});
