import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAgent, createRunner } from "keelson";
import { createMemoryEventLog } from "keelson/state";
import { ModelError, type Provider, type SessionId, sessionLog } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAnthropicProvider } from "./anthropic.ts";
import { createGeminiEmbedder } from "./embeddings/gemini-embedder.ts";
import { createOpenAiEmbedder } from "./embeddings/openai-embedder.ts";
import { createGeminiProvider } from "./gemini.ts";
import { infer } from "./infer.ts";
import { createOllamaProvider } from "./ollama.ts";
import { createOpenAiChatProvider } from "./openai-chat.ts";
import { createOpenAiCompatibleProvider } from "./openai-compatible.ts";
import { createOpenAiResponsesProvider } from "./openai-responses.ts";
import type { ProviderOptions } from "./provider-options.ts";
import { WithheldKeys } from "./withheld-keys.ts";

/** Of no known shape, so that only who sends it knows that it is a key. */
const KEY = "5f2e9c1ab7d84e60a3c2d1f0e9b8a7c6";

const PROVIDERS: { readonly [name: string]: (options: ProviderOptions) => Provider } = {
  "anthropic": createAnthropicProvider,
  "openai-chat": createOpenAiChatProvider,
  "openai-responses": createOpenAiResponsesProvider,
  "gemini": createGeminiProvider,
  "ollama": createOllamaProvider,
  "openai-compatible": (options) => createOpenAiCompatibleProvider({ ...options, vendor: "groq" }),
};

type Echo = (headers: string) => { readonly status: number; readonly type: string; readonly body: string };

/** Servers that repeat what they were sent. */
const ECHOES: { readonly [name: string]: Echo } = {
  "refusal": (sent) => ({ status: 401, type: "application/json", body: JSON.stringify({ error: { message: `bad key in ${sent}` } }) }),
  "code": () => ({ status: 400, type: "application/json", body: JSON.stringify({ error: { message: "no", code: KEY, type: KEY } }) }),
  "page": (sent) => ({ status: 502, type: "text/html", body: `<h1>Bad gateway</h1><pre>${sent}</pre>` }),
  "event": (sent) => ({
    status: 200,
    type: "text/event-stream",
    body: `event: error\ndata: ${JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: `bad key in ${sent}` } })}\n\n`,
  }),
  "nonsense": (sent) => ({ status: 200, type: "application/json", body: sent }),
  "nonsense that is quoted up to the middle of the key": () => ({
    status: 200,
    type: "application/json",
    body: `${"-".repeat(95)}${KEY}`,
  }),
};

async function serving<T>(echo: Echo, use: (baseUrl: string) => Promise<T>): Promise<T> {
  const server = createServer((request, response) => {
    const { status, type, body } = echo(Object.entries(request.headers).join(" "));
    request.resume();
    response.writeHead(status, { "content-type": type, "x-request-id": KEY }).end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function failureOf(work: Promise<unknown>): Promise<ModelError> {
  const error: unknown = await work.then(
    (value) => expect.fail(`it did not fail: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!ModelError.is(error)) throw error;
  return error;
}

/** Everything that people or logs may see of an error. */
function shown(error: ModelError): string {
  const cause = error.cause instanceof Error ? `${error.cause.stack}` : String(error.cause);
  return `${error.stack} ${JSON.stringify(error.failure)} ${JSON.stringify(error)} ${cause}`;
}

describe.each(Object.keys(PROVIDERS))("a failure of %s", (name) => {
  const create = (options: ProviderOptions): Provider => PROVIDERS[name]?.(options) as Provider;

  it.each(Object.entries(ECHOES))("does not tell the key that the server repeats in a %s", async (_what, echo) => {
    const told = await serving(echo, async (baseUrl) =>
      shown(
        await failureOf(
          infer(create({ apiKey: KEY, baseUrl }), { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] }),
        ),
      ),
    );
    expect(told).not.toContain(KEY.slice(0, 12));
  });

  it("does not tell it where models are listed either", async () => {
    for (const echo of [ECHOES["refusal"], ECHOES["nonsense"]] as Echo[]) {
      const told = await serving(echo, async (baseUrl) =>
        shown(await failureOf(create({ apiKey: KEY, baseUrl }).listModels?.() as Promise<unknown>)),
      );
      expect(told).not.toContain(KEY.slice(0, 12));
    }
  });

  it("does not tell one that stands in a header of the user's own", async () => {
    const told = await serving(ECHOES["refusal"] as Echo, async (baseUrl) =>
      shown(
        await failureOf(
          create({ apiKey: "another-key-1", headers: { "X-Gateway-Token": KEY }, baseUrl }).listModels?.() as Promise<unknown>,
        ),
      ),
    );
    expect(told).not.toContain(KEY);
    expect(told).toContain("[redacted]");
  });
});

it.each([createOpenAiEmbedder, createGeminiEmbedder])(
  "the failure of an embedder does not tell the key that the server repeats",
  async (create) => {
    const told = await serving(ECHOES["refusal"] as Echo, async (baseUrl) =>
      shown(await failureOf(create({ apiKey: KEY, baseUrl }).embed(["a"]))),
    );
    expect(told).not.toContain(KEY);
  },
);

it("a key that a server repeats is neither shown nor kept by a run", async () => {
  const log = createMemoryEventLog();
  const seen = await serving(ECHOES["refusal"] as Echo, async (baseUrl) => {
    const agent = createAgent({ name: "a", model: createOpenAiChatProvider({ apiKey: () => KEY, baseUrl, defaultModel: "m" }) });
    const run = createRunner({ agent, log }).run("go", { session: "s" });
    const events: unknown[] = [];
    for await (const event of run) events.push(event);
    const { reason, error } = await run.outcome;
    expect(reason).toBe("error");
    return `${JSON.stringify(events)} ${error?.stack} ${JSON.stringify(error)}`;
  });
  expect(seen).not.toContain(KEY);
  expect(seen).toContain("[redacted]");
  for await (const record of log.read(sessionLog("s" as SessionId))) expect(JSON.stringify(record)).not.toContain(KEY);
});

describe("what is withheld", () => {
  it("is every key that was added, wherever it stands, and nothing of a failure without one", () => {
    const key = fc.stringMatching(/^[A-Za-z0-9_-]{8,60}$/);
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 4 }), fc.string(), fc.string(), (added, before, after) => {
        const keys = new WithheldKeys();
        for (const one of added) keys.add(one);
        for (const one of added) {
          const error = keys.redacted(new ModelError({ kind: "authentication", message: `${before} ${one} ${after}` })) as ModelError;
          expect(error.message).not.toContain(one);
        }
        const clean = new ModelError({ kind: "authentication", message: "~" });
        expect(keys.redacted(clean)).toBe(clean);
      }),
    );
  });

  it("are shapes of keys that nobody added, and the newest of many that were", () => {
    const keys = new WithheldKeys();
    for (let n = 0; n < 20; n++) keys.add(`rotating-key-${n}`);
    const told = keys.redacted(new ModelError({ kind: "other", message: "sk-abcdefghijklmnop1234 and rotating-key-19" })) as ModelError;
    expect(told.message).toBe("[redacted] and [redacted]");
  });
});
