import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Embedder, ModelError } from "@keelson/protocol";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { batchesOf } from "./embed-batches.ts";
import { createGeminiEmbedder } from "./gemini-embedder.ts";
import { createOllamaEmbedder } from "./ollama-embedder.ts";
import { createOpenAiCompatibleEmbedder } from "./openai-compatible-embedder.ts";
import { createOpenAiEmbedder } from "./openai-embedder.ts";

interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}
type EmbedderResponse = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown } | "never";

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A server on the loopback interface that responds as `respond` says. */
async function serve(
  respond: (asked: Asked, index: number) => EmbedderResponse,
): Promise<{ url: string; asked: Asked[]; abandoned: () => number }> {
  const asked: Asked[] = [];
  let abandoned = 0;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("close", () => (abandoned += response.writableFinished ? 0 : 1));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      asked.push({ path: request.url ?? "", headers: request.headers, body });
      const given = respond(asked.at(-1) as Asked, asked.length - 1);
      if (given === "never") return;
      response.writeHead(given.status ?? 200, { "content-type": "application/json", ...given.headers });
      response.end(typeof given.body === "string" ? given.body : JSON.stringify(given.body));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, abandoned: () => abandoned };
}

/** A vector that tells its text. */
const vector = (text: string): number[] => [text.length, text.charCodeAt(0)];
const openAiResponse = ({ body }: Asked): EmbedderResponse => {
  const input = body["input"] as string[];
  // Not in order, as some servers respond that work in parallel.
  const data = input.map((text, index) => ({ object: "embedding", index, embedding: vector(text) })).reverse();
  return { body: { object: "list", data, model: "m-1", usage: { prompt_tokens: input.length * 2, total_tokens: input.length * 2 } } };
};
const texts = ["alpha", "be", "gamma ray", "delta", "e", "zeta function", "eta"];

describe("createOpenAiEmbedder", () => {
  it("asks an OpenAI or compatible server, and brings its vectors into the order of the texts", async () => {
    const { url, asked } = await serve(openAiResponse);
    const embedder = createOpenAiEmbedder({ apiKey: "k", baseUrl: `${url}/v1`, model: "m-1", headers: { "X-Team": "a" } });
    const result = await embedder.embed(texts);
    expect(result).toEqual({ vectors: texts.map(vector), usage: { inputTokens: 14 }, model: "m-1" });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      path: "/v1/embeddings",
      headers: { "authorization": "Bearer k", "x-team": "a", "content-type": "application/json" },
      body: { model: "m-1", input: texts },
    });
    expect(asked[0]?.body).not.toHaveProperty("dimensions");
  });

  it("reads base64 floats", async () => {
    const floats = Buffer.from(new Float32Array([0.5, -1.25]).buffer).toString("base64");
    const { url } = await serve(() => ({ body: { data: [{ embedding: floats }] } }));
    expect(await createOpenAiEmbedder({ baseUrl: url, model: "m" }).embed(["a"])).toEqual({
      vectors: [[0.5, -1.25]],
      usage: { inputTokens: null },
      model: "m",
    });
  });
});

describe("createOpenAiCompatibleEmbedder", () => {
  it("asks the servers of other vendors in the same words, with their keys, and says of whom no address is known", async () => {
    const { url, asked } = await serve(openAiResponse);
    const embedder = createOpenAiCompatibleEmbedder({ vendor: "mistral", apiKey: "k", baseUrl: `${url}/v1`, model: "mistral-embed" });
    expect(await embedder.embed(["a", "bc"])).toMatchObject({ vectors: [vector("a"), vector("bc")], usage: { inputTokens: 4 } });
    expect(asked[0]).toMatchObject({ path: "/v1/embeddings", headers: { authorization: "Bearer k" }, body: { model: "mistral-embed" } });
    expect(embedder).toMatchObject({ name: "mistral", model: "mistral-embed" });
    const nowhere = createOpenAiCompatibleEmbedder({ vendor: "nobody", apiKey: "k", model: "m" });
    await expect(nowhere.embed(["a"])).rejects.toThrow(/no address is known for the vendor "nobody": pass baseUrl/);
  });
});

describe("createGeminiEmbedder", () => {
  it("asks in Google's words, and gives shortened vectors their length of 1 back", async () => {
    const { url, asked } = await serve(({ body }) => ({
      body: { embeddings: (body["requests"] as unknown[]).map(() => ({ values: [3, 4] })), usageMetadata: { promptTokenCount: 6 } },
    }));
    const embedder = createGeminiEmbedder({ apiKey: "k", baseUrl: url });
    expect(await embedder.embed(["a", "b"], { dimensions: 2, purpose: "query" })).toEqual({
      vectors: [
        [0.6, 0.8],
        [0.6, 0.8],
      ],
      usage: { inputTokens: 6 },
      model: "gemini-embedding-001",
    });
    expect((await embedder.embed(["a"])).vectors).toEqual([[3, 4]]);
    expect(asked[0]).toMatchObject({ path: "/v1beta/models/gemini-embedding-001:batchEmbedContents", headers: { "x-goog-api-key": "k" } });
    const request = { model: "models/gemini-embedding-001", taskType: "RETRIEVAL_QUERY", outputDimensionality: 2 };
    expect(asked[0]?.body).toEqual({
      requests: ["a", "b"].map((text) => ({ ...request, content: { parts: [{ text }] } })),
    });
  });
});

describe("createOllamaEmbedder", () => {
  it("asks a server without a key, for vectors of whole texts [PV-08]", async () => {
    const { url, asked } = await serve(({ body }) => ({
      body: { model: "em", embeddings: (body["input"] as string[]).map(vector), prompt_eval_count: 5 },
    }));
    const result = await createOllamaEmbedder({ baseUrl: url, model: "em" }).embed(["ab", "c"], { dimensions: 2 });
    expect(result).toEqual({ vectors: [vector("ab"), vector("c")], usage: { inputTokens: 5 }, model: "em" });
    expect(asked[0]).toMatchObject({ path: "/api/embed", body: { model: "em", input: ["ab", "c"], truncate: false, dimensions: 2 } });
    expect(asked[0]?.headers).not.toHaveProperty("authorization");
  });

  it("says how to get a model that is not there", async () => {
    const { url } = await serve(() => ({ status: 404, body: { error: `model "em" not found, try pulling it first` } }));
    await expect(createOllamaEmbedder({ baseUrl: url, model: "em" }).embed(["a"])).rejects.toThrow(/ollama pull em/);
  });
});

describe("embedders", () => {
  it("send any number of texts in requests of limited size, a few at a time, and keep the order", async () => {
    const { url, asked } = await serve(openAiResponse);
    const embedder = createOpenAiEmbedder({ baseUrl: url, maxBatchTexts: 3, maxBatchTokens: 14, concurrency: 2 });
    const result = await embedder.embed(texts);
    expect(result).toEqual({ vectors: texts.map(vector), usage: { inputTokens: 14 }, model: "m-1" });
    const inputs = asked.map(({ body }) => body["input"] as string[]).sort((a, b) => texts.indexOf(a[0] ?? "") - texts.indexOf(b[0] ?? ""));
    expect(inputs).toEqual([["alpha", "be"], ["gamma ray", "delta"], ["e", "zeta function"], ["eta"]]);
  });

  it("keep every text in exactly one batch, no batch over its limits but for a text that is too long alone", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", maxLength: 30 })),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 60 }),
        (all, maxTexts, maxTokens) => {
          const batches = batchesOf(all, { maxTexts, maxTokens, concurrency: 1 }).map(([start, end]) => all.slice(start, end));
          expect(batches.flat()).toEqual(all);
          for (const batch of batches) {
            expect(batch.length).toBeGreaterThan(0);
            expect(batch.length).toBeLessThanOrEqual(maxTexts);
            if (batch.length > 1) expect(Buffer.byteLength(batch.join(""))).toBeLessThanOrEqual(maxTokens);
          }
        },
      ),
    );
  });

  it("send nothing for no texts", async () => {
    const { url, asked } = await serve(openAiResponse);
    expect(await createOpenAiEmbedder({ baseUrl: url, model: "m" }).embed([])).toEqual({
      vectors: [],
      usage: { inputTokens: 0 },
      model: "m",
    });
    expect(asked).toEqual([]);
  });

  const failing = (response: EmbedderResponse, make: (url: string) => Embedder = (url) => createOpenAiEmbedder({ baseUrl: url })) =>
    serve(() => response).then(({ url }) =>
      make(url)
        .embed(["a", "b"], { dimensions: 2 })
        .then(
          () => undefined,
          (error: unknown) => error,
        ),
    );

  it.each([
    [
      { status: 401, body: { error: { message: "no" } } },
      { kind: "authentication", status: 401 },
    ],
    [
      { status: 429, headers: { "retry-after": "3" }, body: { error: { message: "slow" } } },
      { kind: "rate-limit", retryAfterMs: 3000 },
    ],
    [{ status: 500, body: "<html>oops</html>" }, { kind: "server-error" }],
    [{ body: { error: { message: "busy", code: 503 } } }, { kind: "server-error" }],
    [{ body: "not json" }, { kind: "invalid-response" }],
    [{ body: { data: [{ index: 0, embedding: [1, 2] }] } }, { kind: "invalid-response" }],
    [{ body: { data: [{ embedding: [1, 2] }, { embedding: [] }] } }, { kind: "invalid-response" }],
    [{ body: { data: [{ embedding: [1, 2] }, { embedding: ["1", "2"] }] } }, { kind: "invalid-response" }],
    [{ body: { data: [{ embedding: [1, 2, 3] }, { embedding: [1, 2, 3] }] } }, { kind: "invalid-response" }],
  ] as const)("respond to %j with a ModelError %j [PV-09]", async (response, failure) => {
    const error = await failing(response as EmbedderResponse);
    expect(ModelError.is(error) && error.failure).toMatchObject({ provider: "openai", ...failure });
  });

  it("tell Google's waits", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s" }];
    const body = { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "slow", details } };
    const error = await failing({ status: 429, body }, (url) => createGeminiEmbedder({ baseUrl: url, apiKey: "k" }));
    expect(ModelError.is(error) && error.failure).toMatchObject({ kind: "rate-limit", code: "RESOURCE_EXHAUSTED", retryAfterMs: 2000 });
  });

  it("refuse empty texts, by place, and impossible lengths, before anything is sent", async () => {
    const { url, asked } = await serve(openAiResponse);
    const embedder = createOpenAiEmbedder({ baseUrl: url });
    await expect(embedder.embed(["a", " "])).rejects.toThrow(/texts\[1\] is empty/);
    await expect(embedder.embed(["a"], { dimensions: 0 })).rejects.toThrow(/positive whole number/);
    expect(() => createOpenAiEmbedder({ maxBatchTexts: 0 })).toThrow(RangeError);
    expect(asked).toEqual([]);
  });

  it("end with the first failure, and leave the requests beside it", async () => {
    const { url, asked, abandoned } = await serve((_, index) =>
      index < 2 ? "never" : { status: 400, body: { error: { message: "bad text" } } },
    );
    const embedder = createOpenAiEmbedder({ baseUrl: url, maxBatchTexts: 1, concurrency: 3 });
    await expect(embedder.embed(texts)).rejects.toMatchObject({ failure: { kind: "invalid-request" } });
    expect(asked).toHaveLength(3);
    await expect.poll(abandoned).toBe(2);
  });

  it("are cancelled by the signal", async () => {
    const controller = new AbortController();
    const { url, abandoned } = await serve(() => {
      controller.abort();
      return "never";
    });
    const embedder = createOpenAiEmbedder({ baseUrl: url });
    await expect(embedder.embed(["a"], { signal: controller.signal })).rejects.toMatchObject({ failure: { kind: "cancelled" } });
    await expect.poll(abandoned).toBe(1);
    await expect(embedder.embed(["a"], { signal: controller.signal })).rejects.toMatchObject({ failure: { kind: "cancelled" } });
  });
});
