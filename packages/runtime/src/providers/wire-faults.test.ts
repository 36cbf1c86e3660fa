import { type InferEvent, type InferRequest, ModelError, type Provider, textMessage } from "@keelson/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { type ModelServer, type ServerScript, type ServerTurn, startModelServer } from "../testing/model-server.ts";
import { createTransport, type Transport } from "../transport/index.ts";
import { createAnthropicProvider } from "./anthropic.ts";
import { createGeminiProvider } from "./gemini.ts";
import { foldInferEvents } from "./infer-fold.ts";
import { infer, textOf } from "./infer.ts";
import { createOllamaProvider } from "./ollama.ts";
import { createOpenAiChatProvider } from "./openai-chat.ts";
import { createOpenAiResponsesProvider } from "./openai-responses.ts";
import type { ProviderOptions } from "./provider-options.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const wires = ["anthropic-messages", "openai-chat", "openai-responses", "gemini", "ollama-chat"] as const;
type Wire = (typeof wires)[number];

const PROVIDERS: { readonly [W in Wire]: (options: ProviderOptions) => Provider } = {
  "anthropic-messages": createAnthropicProvider,
  "openai-chat": createOpenAiChatProvider,
  "openai-responses": createOpenAiResponsesProvider,
  "gemini": createGeminiProvider,
  "ollama-chat": createOllamaProvider,
};

async function setUp(wire: Wire, script: ServerScript): Promise<{ server: ModelServer; provider: Provider; transport: Transport }> {
  const server = await startModelServer(script);
  const transport = createTransport({ proxyEnvironment: {} });
  cleanups.push(
    () => server.close(),
    () => transport.close(),
  );
  const baseUrl = wire.startsWith("openai") ? server.openAiUrl : server.url;
  const provider = PROVIDERS[wire]({ apiKey: "k", baseUrl, transport });
  return { server, provider, transport };
}

const request: InferRequest = { model: "a-model", messages: [textMessage("user", "hi")] };
const turn: ServerTurn = {
  thinking: "hm €",
  text: 'Grüße, 世界 😀! "q"\n',
  toolCalls: [
    { name: "look", input: { path: "ä.txt" } },
    { name: "go", input: {} },
  ],
};

interface Received {
  readonly events: InferEvent[];
  readonly error: unknown;
}

async function receive(provider: Provider): Promise<Received> {
  const events: InferEvent[] = [];
  try {
    for await (const event of provider.stream(request)) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

async function receiveAll(provider: Provider, asked: InferRequest): Promise<void> {
  for await (const _ of provider.stream(asked));
}

function failure(received: { readonly error: unknown }): ModelError["failure"] {
  if (!ModelError.is(received.error)) throw new Error("expected a ModelError", { cause: received.error });
  return received.error.failure;
}

/** Told by OpenAI's own codes. */
const NO_QUOTA = [
  { status: 429, error: { message: "no money", code: "insufficient_quota", type: "insufficient_quota" } },
  { kind: "billing" },
  false,
] as const;
const TOO_LONG = [
  { status: 400, error: { message: "much", code: "context_length_exceeded", type: "context_length_exceeded" } },
  { kind: "context-overflow" },
  false,
] as const;

/** Where values follow each other, one that never ends takes the rest with it; and errors are words alone. */
const ON_OLLAMA: { readonly [name: string]: object } = {
  "an error in mid-stream": { kind: "server-error", message: expect.stringContaining("too busy") },
  "a rate limit in mid-stream": { kind: "server-error" },
  "an event that is no JSON": { kind: "server-error", code: "stream-cut" },
  "JSON that is cut": { kind: "server-error", code: "stream-cut" },
};

/** Segments do not overlap, calls begin before they go on, and nothing follows `end`. */
function expectOrdered(events: readonly InferEvent[], whole: boolean): void {
  let open: string | undefined;
  const calls = new Map<number, boolean>();
  for (const [at, event] of events.entries()) {
    if (event.type === "text-start" || event.type === "thinking-start") {
      expect(open).toBeUndefined();
      open = event.type.slice(0, -6);
    } else if (event.type === "text-delta" || event.type === "thinking-delta") expect(open).toBe(event.type.slice(0, -6));
    else if (event.type === "text-end" || event.type === "thinking-end") {
      expect(open).toBe(event.type.slice(0, -4));
      open = undefined;
    } else if (event.type === "tool-call-start") {
      expect(event.index).toBe(calls.size);
      calls.set(event.index, true);
    } else if (event.type === "tool-call-delta" || event.type === "tool-call-end") {
      expect(calls.get(event.index)).toBe(true);
      calls.set(event.index, event.type === "tool-call-delta");
    } else if (event.type === "end") expect(at).toBe(events.length - 1);
  }
  if (whole) expect([events.at(-1)?.type, open, [...calls.values()].includes(true)]).toEqual(["end", undefined, false]);
}

describe.each(wires)("%s", (wire) => {
  it("refuses a request without messages before anything is sent", async () => {
    const { server, provider } = await setUp(wire, [turn]);
    for (const asked of [infer(provider, { ...request, messages: [] }), receiveAll(provider, { ...request, messages: [] })]) {
      const failure = await asked.catch((error: unknown) => error);
      expect(ModelError.is(failure, "invalid-request") && failure.failure).toMatchObject({
        progress: "unsent",
        message: "the request to a-model has no messages: give at least one message of the user",
      });
    }
    expect(server.requests).toHaveLength(0);
  });

  const harmless: readonly (readonly [string, NonNullable<ServerTurn["misbehave"]>])[] = [
    ["chunk borders inside characters", { chunkBytes: 1 }],
    ["chunk borders anywhere", { chunkBytes: 7 }],
    ["CRLF", { lineEnd: "\r\n" }],
    ["CRLF cut in two", { lineEnd: "\r\n", chunkBytes: 1 }],
    ["CR", { lineEnd: "\r", chunkBytes: 3 }],
    ["comments and pings", { comments: true, pings: true }],
    ["no event names and no blanks", { bare: true }],
    ["the wrong content type", { contentType: "application/octet-stream" }],
    ["one JSON object instead of a stream", { wholeJson: true }],
    ["one JSON object as an event stream, by its type", { wholeJson: true, contentType: "text/event-stream" }],
  ];
  it.each(harmless)("decodes the same through %s [PV-01, EV-01, EV-02, EV-03, EV-04]", async (_name, misbehave) => {
    const { provider } = await setUp(wire, [turn, { ...turn, misbehave }]);
    const [plain, odd] = [await receive(provider), await receive(provider)];
    for (const { events, error } of [plain, odd]) {
      expect(error).toBeUndefined();
      expectOrdered(events, true);
    }
    const content = (events: readonly InferEvent[]): unknown => {
      const fold = foldInferEvents();
      for (const event of events) fold.push(event);
      // Ids and signatures count the requests, and made-up ids are like no other.
      return JSON.parse(JSON.stringify(fold.content).replace(/(_)[01](_|")|c2lnbmF0dXJl[^"]+|call_[0-9a-f]{32}/g, "$1n$2"));
    };
    expect(content(odd.events)).toEqual(content(plain.events));
  });

  it("is a typed, retryable failure wherever the connection is reset, and what came before is delivered", async () => {
    const { server, provider, transport } = await setUp(wire, (asked) => ({ ...turn, misbehave: { resetAfterBytes: asked.index * 23 } }));
    let whole = 0;
    for (let cut = 0; whole === 0; cut += 1) {
      const { events, error } = await receive(provider);
      expectOrdered(events, error === undefined);
      if (error === undefined) whole += 1;
      else expect(failure({ error })).toMatchObject({ kind: "server-error", provider: provider.name, model: "a-model" });
      expect(cut).toBeLessThan(400);
    }
    transport.close();
    await server.idle();
  });

  it.each([
    ["without its end", { omitEnd: true, omitFinish: true }],
    ["after a ping", { omitEnd: true, omitFinish: true, pings: true, comments: true }],
  ] as const)("is a retryable failure when the stream ends %s", async (_name, misbehave) => {
    const { provider } = await setUp(wire, [{ ...turn, misbehave }]);
    const received = await receive(provider);
    expect(failure(received)).toMatchObject({ kind: "server-error", code: "stream-cut" });
    expect(received.events.at(-1)?.type).not.toBe("end");
    expectOrdered(received.events, false);
  });

  it("needs [DONE] or a finish reason on the chat wire, and message_stop on Anthropic's", async () => {
    const { provider } = await setUp(wire, [{ text: "ok", misbehave: { omitEnd: true } }]);
    const { events, error } = await receive(provider);
    if (wire === "openai-chat") expect([error, events.at(-1)]).toMatchObject([undefined, { type: "end", stopReason: "end-turn" }]);
    else expect(failure({ error })).toMatchObject({ kind: "server-error", code: "stream-cut" });
  });

  it.each([
    [
      "an error in mid-stream",
      { errorInStream: { message: "too busy", type: "overloaded_error" } },
      { kind: "server-error", code: "overloaded_error", message: expect.stringContaining("too busy") },
    ],
    ["a rate limit in mid-stream", { errorInStream: { message: "slow", type: "rate_limit_error" } }, { kind: "rate-limit" }],
    ["an event that is no JSON", { garbage: "{oops" }, { kind: "invalid-response", message: expect.stringContaining("{oops") }],
    ["an event that is no object", { garbage: "[1]" }, { kind: "invalid-response" }],
    ["an empty body", { body: "" }, { kind: "invalid-response", message: expect.stringContaining("empty") }],
    [
      "a page of HTML",
      { body: "<html><body>sorry</body></html>" },
      { kind: "invalid-response", message: expect.stringContaining("neither JSON nor") },
    ],
    ["JSON that is cut", { body: '{"id": "x", "cont' }, { kind: "invalid-response", message: expect.stringContaining("no JSON") }],
    ["JSON that is no response", { body: '{"hello": "world"}' }, { kind: "invalid-response", message: expect.stringContaining("without") }],
    [
      "an error under status 200",
      { body: '{"type":"error","error":{"type":"api_error","message":"inside"}}' },
      { kind: "server-error", message: expect.stringContaining("inside") },
    ],
    [
      "a stream cut within an event",
      { body: 'data: {"type":"message_start","choices":[{"delta":{"content":"a' },
      { kind: "server-error", code: "stream-cut" },
    ],
  ] as const)("is a typed failure for %s", async (name, misbehave, expected) => {
    const { provider } = await setUp(wire, [{ ...turn, misbehave }]);
    const received = await receive(provider);
    expect(failure(received)).toMatchObject({
      ...((wire === "ollama-chat" ? ON_OLLAMA[name] : undefined) ?? expected),
      provider: provider.name,
      model: "a-model",
    });
    expectOrdered(received.events, false);
  });

  it("types HTTP errors, with what the vendor said and how long to wait [PV-09]", async () => {
    const responses: readonly (readonly [ServerTurn, object, boolean])[] = [
      [
        { status: 401, error: { message: "bad key" } },
        { kind: "authentication", status: 401, message: expect.stringContaining("bad key") },
        false,
      ],
      [{ status: 403, error: { message: "no" } }, { kind: "authentication", status: 403 }, false],
      [{ status: 403, error: { message: "against our usage guidelines" } }, { kind: "content-blocked" }, false],
      [{ status: 402, error: { message: "pay" } }, { kind: "billing" }, false],
      [{ status: 400, error: { message: "Your credit balance is too low" } }, { kind: "billing" }, false],
      [{ status: 429, error: { message: "slow down" }, headers: { "retry-after": "3" } }, { kind: "rate-limit", retryAfterMs: 3000 }, true],
      ...(wire.startsWith("openai") ? [NO_QUOTA] : []),
      [
        {
          status: 529,
          error: { message: "busy" },
          headers: { "retry-after": "Sat, 21 Nov 2026 10:00:05 GMT", "date": "Sat, 21 Nov 2026 10:00:00 GMT" },
        },
        { kind: "server-error", retryAfterMs: 5000 },
        true,
      ],
      [
        { status: 503, error: { message: "busy" }, headers: { "retry-after": "1", "retry-after-ms": "0" } },
        { kind: "server-error", retryAfterMs: 1000 },
        true,
      ],
      [{ status: 500, error: { message: "oh" }, headers: { "retry-after-ms": "250" } }, { kind: "server-error", retryAfterMs: 250 }, true],
      [{ status: 408, error: { message: "late" } }, { kind: "server-error" }, true],
      [{ status: 404, error: { message: "no such model" } }, { kind: "invalid-request" }, false],
      [{ status: 422, error: { message: "wrong" } }, { kind: "invalid-request" }, false],
      [{ status: 400, error: { message: "prompt is too long: 250000 tokens > 200000 maximum" } }, { kind: "context-overflow" }, false],
      ...(wire.startsWith("openai") ? [TOO_LONG] : []),
      [
        { status: 502, misbehave: { body: "<html><h1>Bad gateway</h1></html>", contentType: "text/html" } },
        { kind: "server-error", message: expect.stringContaining("Bad gateway") },
        true,
      ],
      [{ status: 500, misbehave: { body: "" } }, { kind: "server-error", message: expect.stringContaining("no reason") }, true],
      [
        { status: 307, misbehave: { body: "" }, headers: { location: "https://elsewhere" } },
        { kind: "invalid-request", message: expect.stringContaining("https://elsewhere") },
        false,
      ],
    ];
    const { provider } = await setUp(
      wire,
      responses.map(([response]) => response),
    );
    for (const [, expected, retryable] of responses) {
      const received = await receive(provider);
      expect(failure(received)).toMatchObject(expected);
      expect((received.error as ModelError).retryable).toBe(retryable);
      expect(received.events).toEqual([]);
    }
  });

  it.each(["before-headers", "before-body", "in-body"] as const)(
    "closes its socket when cancelled while the server stalls %s",
    async (stall) => {
      const { server, provider } = await setUp(wire, [{ ...turn, misbehave: { stall } }]);
      const controller = new AbortController();
      const events: InferEvent[] = [];
      const ended = (async () => {
        for await (const event of provider.stream(request, { signal: controller.signal })) events.push(event);
      })().catch((error: unknown) => error);
      while (server.requests.length === 0 || (stall === "in-body" && events.length === 0))
        await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      expect(failure({ error: await ended })).toMatchObject({ kind: "cancelled" });
      await server.idle();
      expect(server.abandoned).toBe(1);
    },
  );

  it("gives a stalled stream up after idleMs", async () => {
    const server = await startModelServer([{ ...turn, misbehave: { stall: "in-body" } }]);
    cleanups.push(() => server.close());
    const options = { apiKey: "k", proxyEnvironment: {}, timeouts: { idleMs: 400 } };
    const provider = PROVIDERS[wire]({ ...options, baseUrl: wire.startsWith("openai") ? server.openAiUrl : server.url });
    const received = await receive(provider);
    expect(failure(received)).toMatchObject({ kind: "server-error", code: "timeout" });
    expect(received.events.length).toBeGreaterThan(0);
    await server.idle();
  });

  it("releases its connection when the consumer leaves the loop", async () => {
    const { server, provider } = await setUp(wire, [{ ...turn, misbehave: { hugeTextBytes: 50_000_000 } }]);
    for await (const event of provider.stream(request)) if (event.type === "text-delta") break;
    await server.idle();
    expect(server.abandoned).toBe(1);
  });

  it("keeps one connection over many calls, and connects on the first next only", async () => {
    const { server, provider } = await setUp(wire, () => ({ text: "ok" }));
    const unused = provider.stream(request)[Symbol.asyncIterator]();
    for (let call = 0; call < 5; call += 1) expect(textOf(await infer(provider, request))).toBe("ok");
    expect(server.requests).toHaveLength(5);
    expect(server.connections).toBe(1);
    await unused.return?.();
    expect(await unused.next()).toEqual({ done: true, value: undefined });
    expect(server.requests).toHaveLength(5);
  });

  it("answers calls of next that do not wait for each other in order", async () => {
    const { provider } = await setUp(wire, [{ text: ["a", "b", "c"] }]);
    const stream = provider.stream(request)[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 12 }, () => stream.next()));
    const deltas = results.flatMap((result) => (result.done !== true && result.value.type === "text-delta" ? [result.value.text] : []));
    expect(deltas.join("")).toBe("abc");
    expect(results.at(-1)?.done).toBe(true);
  });

  it("ends a response over maxAnswerBytes as max-output-tokens and closes the connection", async () => {
    const { server, provider } = await setUp(wire, [{ text: "some words to repeat", misbehave: { hugeTextBytes: 50_000_000 } }]);
    const error: unknown = await infer(provider, request, { maxAnswerBytes: 10_000 }).catch((cause: unknown) => cause);
    expect(failure({ error })).toMatchObject({ kind: "max-output-tokens", message: expect.stringContaining("10000") });
    await server.idle();
  });
});
