import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { type InferResponse, type Message, ModelError, type Provider, UNKNOWN_USAGE, textMessage } from "@keelson/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGeminiProvider } from "./gemini.ts";
import { infer, textOf } from "./infer.ts";
import { createOllamaProvider } from "./ollama.ts";

/** Recorded traffic stands outside the repository: beside the checkout, or where KEELSON_SHARED says. */
const shared = process.env["KEELSON_SHARED"] ?? resolve(import.meta.dirname, "../../../../../shared");
const folder = resolve(shared, "fixtures/wire");
const there = existsSync(folder);

interface Recording {
  readonly id: string;
  readonly wire: "gemini" | "ollama-chat";
  readonly conversation: string;
  readonly step: number;
  readonly linked_to_previous?: boolean;
  readonly request: { readonly body: Record<string, unknown> | null };
  readonly response: {
    readonly status: number;
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly chunk_sizes?: readonly number[];
  };
  readonly expect: {
    readonly text: string;
    readonly tool_calls: readonly { readonly id: string | null; readonly name: string; readonly arguments: unknown }[];
    readonly stop_reason: string | number | null;
    readonly usage: Record<string, number | null> | null;
    readonly thinking?: string;
    readonly message_id?: string;
    readonly model?: string;
    readonly error?: { readonly status: number; readonly type: string | null; readonly message: string };
  };
}

const recordings: readonly Recording[] = there
  ? ["gemini", "ollama-chat"].flatMap((provider) =>
      readdirSync(resolve(folder, provider))
        .sort()
        .map((file) => JSON.parse(readFileSync(resolve(folder, provider, file), "utf8")) as Recording),
    )
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

function providerOf(wire: Recording["wire"], options: { fetch?: () => Promise<Response>; baseUrl?: string }): Provider {
  const settings = { baseUrl: "http://stub.invalid", ...options };
  return wire === "gemini" ? createGeminiProvider({ apiKey: "test", ...settings }) : createOllamaProvider(settings);
}

function headersOf(recording: Recording): [string, string][] {
  return Object.entries(recording.response.headers).filter(
    ([name]) => !/^(?:transfer-encoding|content-encoding|content-length)$/.test(name),
  );
}

function served(recording: Recording, chunks: readonly Buffer[]): Provider {
  return providerOf(recording.wire, {
    fetch: async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(new Uint8Array(chunk));
            controller.close();
          },
        }),
        { status: recording.response.status, headers: headersOf(recording) },
      ),
  });
}

const modelOf = (recording: Recording): string => recording.expect.model ?? "a-model";

async function check(recording: Recording, provider: Provider): Promise<void> {
  const { expect: expected } = recording;
  const actual = await infer(provider, { model: modelOf(recording), messages: [textMessage("user", "hi")] }).catch(
    (error: unknown) => error,
  );
  if (expected.error !== undefined) {
    if (!ModelError.is(actual)) throw new Error(`expected an error, got ${JSON.stringify(actual).slice(0, 300)}`, { cause: actual });
    expect(actual.failure).toMatchObject({
      kind: expected.error.status === 429 ? "rate-limit" : "invalid-request",
      status: expected.error.status,
      ...(expected.error.type !== null && { code: expected.error.type }),
    });
    expect(actual.failure.message).toContain(expected.error.message);
    return;
  }
  if (actual instanceof Error) throw actual;
  const response = actual as InferResponse;
  expect(textOf(response)).toBe(expected.text);
  expect(response.rawStopReason).toBe(expected.stop_reason === null ? null : String(expected.stop_reason));
  expect(response.content.map((part) => (part.type === "thinking" ? part.text : "")).join("")).toBe(expected.thinking ?? "");
  if (expected.model !== undefined) expect(response.model).toBe(expected.model);
  if (expected.message_id !== undefined) expect(response.providerData?.["id"]).toBe(expected.message_id);
  expect(response.toolCalls.map(({ name, input }) => ({ name, arguments: input }))).toEqual(
    expected.tool_calls.map(({ name, arguments: input }) => ({ name, arguments: input })),
  );
  for (const [at, { id }] of expected.tool_calls.entries()) {
    const part = response.content.find((content) => content.type === "tool-call" && content.id === response.toolCalls[at]?.id);
    if (id === null) expect(response.toolCalls[at]?.id).toMatch(/^[a-zA-Z0-9_-]{8,40}$/);
    else expect([response.toolCalls[at]?.id, part?.type === "tool-call" && part.providerData?.["id"]]).toEqual([id, id]);
  }
  expect(new Set(response.toolCalls.map(({ id }) => id)).size).toBe(response.toolCalls.length);
  expect(response.usage).toEqual(usageByTheRules(recording));
}

/** The conversions of the rules, done anew from the oracle's raw numbers (and, where it leaves them out, the body's). */
function usageByTheRules({ wire, expect: { usage }, response: { body } }: Recording): unknown {
  if (usage === null) return UNKNOWN_USAGE;
  const { input_tokens = null, output_tokens = null, cache_read = null, reasoning = null } = usage;
  const rest = { cacheReadTokens: cache_read, cacheCreationTokens: null, reasoningTokens: reasoning };
  if (wire === "ollama-chat") return { ...rest, inputTokens: input_tokens, outputTokens: output_tokens };
  const toolUse = [...body.matchAll(/"toolUsePromptTokenCount":\s*(\d+)/g)].at(-1)?.[1] ?? "0";
  return { ...rest, inputTokens: (input_tokens ?? 0) + Number(toolUse), outputTokens: (output_tokens ?? 0) + (reasoning ?? 0) };
}

describe.skipIf(!there)(
  `recorded responses of Gemini and Ollama${there ? "" : ` (skipped: no recordings at ${folder}; set KEELSON_SHARED)`}`,
  () => {
    let server: Server;
    let origin: string;
    beforeAll(async () => {
      server = createServer((request, response) => {
        request.resume().on("end", () => {
          const recording = recordings[Number(/^\/(\d+)\//.exec(request.url ?? "")?.[1])] as Recording;
          response.writeHead(recording.response.status, Object.fromEntries(headersOf(recording)));
          let bytes = Buffer.from(recording.response.body);
          for (const size of recording.response.chunk_sizes ?? []) {
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

    it("are all there [PV-03]", () => expect(recordings).toHaveLength(78));

    it.each(recordings.map((recording, index) => ({ id: recording.id, recording, index })))(
      "$id decodes as expected, whole, over the network and cut at random [PV-03, PV-04, PV-09]",
      async ({ recording, index }) => {
        const bytes = Buffer.from(recording.response.body);
        await check(recording, served(recording, [bytes]));
        await check(recording, providerOf(recording.wire, { baseUrl: `${origin}/${index}` }));
        for (let seed = index * 5; seed < index * 5 + 5; seed += 1) await check(recording, served(recording, cut(bytes, seed)));
      },
    );
  },
);

/** What a turn of the model holds, whatever the wire calls it. */
interface SentTurn {
  readonly words: string;
  readonly calls: readonly unknown[];
  readonly signatures: readonly string[];
}

function geminiTurn(content: Record<string, unknown>): SentTurn {
  const parts = content["parts"] as readonly Record<string, unknown>[];
  const calls = parts.flatMap((part) => part["functionCall"] ?? part["function_call"] ?? []) as unknown as readonly {
    name: string;
    args: unknown;
  }[];
  return {
    words: parts.map((part) => (typeof part["text"] === "string" && part["thought"] !== true ? part["text"] : "")).join(""),
    calls: calls.map(({ name, args }) => ({ name, args })),
    signatures: [
      ...new Set(parts.flatMap((part) => (part["thoughtSignature"] ?? part["thought_signature"] ?? []) as string)),
      // Long ones were cut out of the recorded requests; some clients write the signature in the other base64.
    ].map((signature) =>
      signature
        .replace(/^<base64 omitted.*/, "")
        .replaceAll("-", "+")
        .replaceAll("_", "/"),
    ),
  };
}

function ollamaTurn(message: Record<string, unknown>): SentTurn {
  const calls = (message["tool_calls"] ?? []) as readonly { function: { name: string; arguments: unknown } }[];
  // A client that takes think tags for thinking moves the words there.
  const words = `${(message["thinking"] as string | undefined) ?? ""}${message["content"] as string}`;
  return { words, calls: calls.map(({ function: { name, arguments: args } }) => ({ name, args })), signatures: [] };
}

const linked = recordings.flatMap((recording) => {
  const before = recordings.find((other) => other.conversation === recording.conversation && other.step === recording.step - 1);
  return recording.linked_to_previous === true && before !== undefined ? [{ id: recording.id, recording, before }] : [];
});

describe.skipIf(!there)("the next step of a recorded conversation", () => {
  it("is known of fifteen turns", () => expect(linked).toHaveLength(15));

  it.each(linked)("$id: our turn carries every block that the recorded one has [PV-03]", async ({ recording, before }) => {
    const actual = await infer(served(before, [Buffer.from(before.response.body)]), {
      model: modelOf(before),
      messages: [textMessage("user", "hi")],
    });
    const results = actual.content.flatMap((part) =>
      part.type === "tool-call" ? [{ type: "tool-result" as const, id: part.id, name: part.name, output: "done" }] : [],
    );
    const messages: Message[] = [
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", content: actual.content },
      results.length > 0 ? { role: "tool", content: results } : { role: "user", content: [{ type: "text", text: "and now?" }] },
    ];
    let sent: Record<string, unknown> = {};
    const capturing = providerOf(before.wire, {
      fetch: (async (_: string, init: { body: Uint8Array }) => {
        sent = JSON.parse(Buffer.from(init.body).toString()) as Record<string, unknown>;
        return new Response("", { status: 500 });
      }) as unknown as () => Promise<Response>,
    });
    await infer(capturing, { model: modelOf(before), messages }).catch(() => undefined);

    const gemini = recording.wire === "gemini";
    const turns = (body: Record<string, unknown>): readonly Record<string, unknown>[] =>
      (body[gemini ? "contents" : "messages"] as readonly Record<string, unknown>[]).filter(
        ({ role }) => role === (gemini ? "model" : "assistant"),
      );
    const read = gemini ? geminiTurn : ollamaTurn;
    const ours = read(turns(sent).at(-1) as Record<string, unknown>);
    const theirs = read(turns(recording.request.body as Record<string, unknown>).at(-1) as Record<string, unknown>);
    expect(bare(ours.words)).toContain(bare(theirs.words));
    expect(ours.calls).toEqual(theirs.calls);
    // The other client put the signature of the first call on all of them; where it was cut out, ours must be there all the same.
    expect(ours.signatures).toHaveLength(theirs.signatures.length);
    for (const [at, signature] of theirs.signatures.entries()) if (signature !== "") expect(ours.signatures[at]).toBe(signature);
    const response = before.response.body;
    for (const signature of ours.signatures) expect(response).toContain(signature);
  });
});

/** Without tags and blanks: one client cut the tags out, and the blanks around them. */
function bare(words: string): string {
  return words.replace(/<\/?think>/g, "").replace(/\s+/g, "");
}
