import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { type InferResponse, ModelError, type Provider, textMessage } from "@keelson/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAnthropicProvider } from "./anthropic.ts";
import { infer, textOf } from "./infer.ts";
import { createOpenAiChatProvider } from "./openai-chat.ts";

/** Recorded traffic stands outside the repository: beside the checkout, or where KEELSON_SHARED says. */
const shared = process.env["KEELSON_SHARED"] ?? resolve(import.meta.dirname, "../../../../../shared");
const folder = resolve(shared, "fixtures/wire");
const there = existsSync(folder);
/** By default the two wires' own vendors; "all" takes every vendor that speaks one of them. */
const everyVendor = process.env["KEELSON_WIRE_VENDORS"] === "all";

interface ExpectedCall {
  readonly id: string | null;
  readonly name: string;
  readonly arguments: unknown;
  readonly arguments_invalid?: boolean;
  readonly arguments_raw?: string;
  readonly custom?: boolean;
}
interface Fixture {
  readonly id: string;
  readonly wire: string;
  readonly provider: string;
  readonly streamed: boolean;
  readonly response: {
    readonly status: number;
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly chunk_sizes?: readonly number[];
  };
  readonly expect: {
    readonly text: string;
    readonly tool_calls: readonly ExpectedCall[];
    readonly stop_reason: string | null;
    readonly stop_sequence?: string | null;
    readonly usage: Record<string, number | null> | null;
    readonly thinking?: string;
    readonly refusal?: string;
    readonly message_id?: string;
    readonly model?: string;
    readonly function_call?: { readonly name: string; readonly arguments: unknown };
    readonly server_tool_calls?: readonly { readonly name: string; readonly arguments: unknown }[];
    readonly redacted_thinking_blocks?: number;
    readonly citations?: number;
    readonly error?: {
      readonly status?: number;
      readonly type?: string;
      readonly code?: string | null;
      readonly message: string;
      readonly in_stream?: boolean;
    };
  };
}

const fixtures: readonly Fixture[] = there
  ? (everyVendor
      ? readdirSync(folder, { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map((entry) => entry.name)
      : ["anthropic-messages", "openai-chat"]
    )
      .flatMap((provider) =>
        readdirSync(resolve(folder, provider)).map((file) => JSON.parse(readFileSync(resolve(folder, provider, file), "utf8")) as Fixture),
      )
      .filter((fixture) => fixture.wire === "anthropic-messages" || fixture.wire === "openai-chat")
  : [];

/** A small generator with a seed, so that a failing cut can be made again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function cut(bytes: Buffer, seed: number): Buffer[] {
  const next = random(seed);
  // Long answers in chunks of one byte take seconds, and show nothing that short ones do not.
  const longest = ([1, 3, 17, 300, 5000][seed % 5] as number) + Math.floor(bytes.length / 5000);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = 1 + Math.floor(next() * longest);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

function providerFor(fixture: Fixture, options: { fetch?: () => Promise<Response>; baseUrl?: string }): Provider {
  const settings = { apiKey: "test", baseUrl: "http://stub.invalid/v1", ...options };
  return fixture.wire === "anthropic-messages" ? createAnthropicProvider(settings) : createOpenAiChatProvider(settings);
}

function served(fixture: Fixture, chunks: readonly Buffer[]): Provider {
  const headers = Object.entries(fixture.response.headers).filter(
    ([name]) => !/^(?:transfer-encoding|content-encoding|content-length)$/.test(name),
  );
  return providerFor(fixture, {
    fetch: async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(new Uint8Array(chunk));
            controller.close();
          },
        }),
        { status: fixture.response.status, headers },
      ),
  });
}

async function check(fixture: Fixture, provider: Provider): Promise<void> {
  const { expect: expected } = fixture;
  const actual = await infer(provider, { model: expected.model ?? "a-model", messages: [textMessage("user", "hi")] }).catch(
    (error: unknown) => error,
  );
  if (expected.error !== undefined) {
    if (!ModelError.is(actual)) throw new Error(`expected an error, got ${JSON.stringify(actual).slice(0, 300)}`, { cause: actual });
    expect(actual.failure.message).toContain(expected.error.message);
    if (expected.error.in_stream !== true) expect(actual.failure.status).toBe(expected.error.status);
    expect(actual.failure.code).toBe(expected.error.code ?? expected.error.type ?? undefined);
    expect(actual.failure.kind).toBe(kindOf(expected.error.status ?? 0));
    return;
  }
  if (actual instanceof Error) throw actual;
  const response = actual as InferResponse;
  expect(textOf(response)).toBe(expected.text);
  expect(response.rawStopReason).toBe(expected.stop_reason);
  expect(response.content.map((part) => (part.type === "thinking" ? part.text : "")).join("")).toBe(expected.thinking ?? "");
  expect(response.content.map((part) => (part.type === "refusal" ? part.text : "")).join("")).toBe(expected.refusal ?? "");
  if (expected.model !== undefined && expected.model !== "") expect(response.model).toBe(expected.model);
  if (expected.message_id !== undefined) expect(response.providerData?.["id"]).toBe(expected.message_id);
  if (typeof expected.stop_sequence === "string") expect(response.providerData?.["stopSequence"]).toBe(expected.stop_sequence);
  expect(response.content.filter((part) => part.type === "thinking" && part.providerData?.["redacted"] !== undefined)).toHaveLength(
    expected.redacted_thinking_blocks ?? 0,
  );
  expect(citationsIn(response)).toBe(fixture.wire === "anthropic-messages" ? (expected.citations ?? 0) : citationsIn(response));
  checkCalls(fixture, response);
  expect(response.usage).toEqual(usageByTheRules(fixture));
}

function checkCalls(fixture: Fixture, response: InferResponse): void {
  const { expect: expected } = fixture;
  // Calls of a program that the turn already answered are the server's: to run them again would repeat their effects.
  const ranOnServer =
    fixture.wire === "anthropic-messages" &&
    expected.stop_reason !== "tool_use" &&
    fixture.response.body.includes('"type": "code_execution_20250825"');
  const calls: ExpectedCall[] = ranOnServer ? [] : [...expected.tool_calls];
  if (expected.function_call !== undefined && expected.function_call.name !== "") calls.push({ id: null, ...expected.function_call });
  expect(response.toolCalls.map((call) => call.name)).toEqual(calls.map((call) => call.name));
  for (const [at, call] of calls.entries()) {
    const made = response.toolCalls[at];
    if (call.id !== null && call.id !== "") expect(made?.id).toBe(call.id);
    else expect(made?.id).toMatch(/^[a-zA-Z0-9_-]{8,40}$/);
    if (call.arguments_invalid === true) {
      expect(made?.input).toBeUndefined();
      expect(made?.inputText).toBe(call.arguments_raw);
    } else expect(made?.input).toEqual(call.arguments ?? {});
    const part = response.content.find((content) => content.type === "tool-call" && content.id === made?.id);
    expect(part?.type === "tool-call" && part.custom === true).toBe(call.custom === true);
    if (call.id !== null && call.id !== "") expect(part?.type === "tool-call" && part.providerData?.["id"]).toBe(call.id);
  }
  const serverCalls = response.content
    .filter((part) => part.type === "server-tool")
    .map((part) => part.providerData["block"] as { type: string; name: string; input?: unknown });
  const called = serverCalls.filter((block) => block.type !== "tool_use" && block.type.endsWith("tool_use"));
  expect(called.map(({ name, input }) => ({ name, input }))).toEqual(
    (expected.server_tool_calls ?? []).map((call) => ({ name: call.name, input: call.arguments })),
  );
}

function citationsIn(response: InferResponse): number {
  return response.content.reduce(
    (sum, part) =>
      sum + (part.type === "text" && Array.isArray(part.providerData?.["citations"]) ? part.providerData["citations"].length : 0),
    0,
  );
}

/** The conversions of the rules, done anew from the oracle's raw numbers (and, where it leaves them out, the body's). */
function usageByTheRules(fixture: Fixture): unknown {
  const raw = fixture.expect.usage ?? {};
  const { input_tokens = null, output_tokens = null, cache_read = null, cache_write = null, reasoning = null } = raw;
  const rest = { cacheReadTokens: cache_read, cacheCreationTokens: cache_write, reasoningTokens: reasoning };
  if (fixture.wire === "anthropic-messages") {
    const iterations = /"iterations":\s*(\[[^\]]*\])/.exec(fixture.response.body)?.[1];
    if (iterations !== undefined && fixture.id.includes("compaction")) {
      const parts = JSON.parse(iterations) as readonly { input_tokens: number; output_tokens: number }[];
      return {
        ...rest,
        inputTokens: parts.reduce((sum, part) => sum + part.input_tokens, 0),
        outputTokens: parts.reduce((sum, part) => sum + part.output_tokens, 0),
      };
    }
    return {
      ...rest,
      inputTokens: input_tokens === null ? null : input_tokens + (cache_read ?? 0) + (cache_write ?? 0),
      outputTokens: output_tokens,
    };
  }
  const totals = [...fixture.response.body.matchAll(/"total_tokens":\s*(\d+)/g)];
  const total = Number(totals.at(-1)?.[1] ?? 0);
  const larger = input_tokens !== null && total > input_tokens + (output_tokens ?? 0);
  return { ...rest, inputTokens: input_tokens, outputTokens: larger ? total - input_tokens : output_tokens };
}

function kindOf(status: number): string {
  if (status === 401 || status === 403) return "authentication";
  if (status === 429) return "rate-limit";
  return status >= 500 ? "server-error" : "invalid-request";
}

describe.skipIf(!there)(`recorded responses${there ? "" : ` (skipped: no recordings at ${folder}; set KEELSON_SHARED)`}`, () => {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume().on("end", () => {
        const fixture = fixtures[Number(/^\/(\d+)\//.exec(request.url ?? "")?.[1])] as Fixture;
        const headers = Object.fromEntries(
          Object.entries(fixture.response.headers).filter(
            ([name]) => !/^(?:transfer-encoding|content-encoding|content-length)$/.test(name),
          ),
        );
        response.writeHead(fixture.response.status, headers);
        let bytes = Buffer.from(fixture.response.body);
        for (const size of fixture.response.chunk_sizes ?? []) {
          response.write(bytes.subarray(0, size));
          bytes = bytes.subarray(size);
        }
        response.end(bytes);
      });
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server?.close());

  it("are all there [PV-03]", () => {
    if (!everyVendor) expect(fixtures).toHaveLength(245);
  });

  it.each(fixtures.map((fixture, index) => ({ id: fixture.id, fixture, index })))(
    "$id decodes as expected, whole, over the network and cut at random [PV-03, PV-04, PV-09]",
    async ({ fixture, index }) => {
      const bytes = Buffer.from(fixture.response.body);
      await check(fixture, served(fixture, [bytes]));
      await check(fixture, providerFor(fixture, { baseUrl: `${origin}/${index}` }));
      for (let seed = index * 5; seed < index * 5 + 5; seed += 1) await check(fixture, served(fixture, cut(bytes, seed)));
    },
  );
});
