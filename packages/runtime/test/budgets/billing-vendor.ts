import { addUsd, type JsonObject, type Usage, type Usd, ZERO_USD } from "@keelson/protocol";
import { costOf } from "../../src/providers/prices.ts";
import type { ModelPrice } from "../../src/providers/model-price.ts";
import { createAnthropicProvider } from "../../src/providers/anthropic.ts";
import { createGeminiProvider } from "../../src/providers/gemini.ts";
import { createOllamaProvider } from "../../src/providers/ollama.ts";
import { createOpenAiChatProvider } from "../../src/providers/openai-chat.ts";
import { createOpenAiResponsesProvider } from "../../src/providers/openai-responses.ts";
import type { Provider } from "@keelson/protocol";
import { type ModelServer, type ServerRequest, type ServerTurn, startModelServer } from "../../src/testing/model-server.ts";

/** What the vendor charges. Writing its cache is dearer than input. */
export const VENDOR_PRICE: ModelPrice = { input: "2", output: "10", cacheRead: "0.2", cacheWrite: "2.5", asOf: "2026-01-01" };
export const VENDOR_MODEL = "gemini-3-billed";
/** Of one response, thinking included. */
export const MOST_TOKENS = 2048;
/** Without a byte for so long, the client gives a response up. */
export const PATIENCE_MS = 120;

/** A server of one wire, as a client reaches it. */
export const WIRES: { readonly [wire: string]: (urls: Pick<ModelServer, "url" | "openAiUrl">, apiKey: string) => Provider } = {
  "anthropic-messages": ({ url }, apiKey) => createAnthropicProvider({ baseUrl: url, apiKey, timeouts: { idleMs: PATIENCE_MS } }),
  "openai-chat": ({ openAiUrl }, apiKey) => createOpenAiChatProvider({ baseUrl: openAiUrl, apiKey, timeouts: { idleMs: PATIENCE_MS } }),
  "openai-responses": ({ openAiUrl }, apiKey) =>
    createOpenAiResponsesProvider({ baseUrl: openAiUrl, apiKey, timeouts: { idleMs: PATIENCE_MS } }),
  "gemini": ({ url }, apiKey) => createGeminiProvider({ baseUrl: url, apiKey, timeouts: { idleMs: PATIENCE_MS } }),
  "ollama-chat": ({ url }, apiKey) => createOllamaProvider({ baseUrl: url, apiKey, timeouts: { idleMs: PATIENCE_MS } }),
};

/** How a request may end for the client. The vendor bills all but those that it refuses. */
export const ENDINGS = [
  "told",
  "not told",
  "hidden",
  "hidden and not told",
  "cut",
  "cut behind its usage",
  "lost with its connection",
  "silent",
  "silent in the answer",
  "an error in the stream",
  "garbage in the stream",
  "no answer at all",
  "too many requests",
  "overloaded",
] as const;
export type Ending = (typeof ENDINGS)[number];

export interface BillingVendor extends ModelServer {
  readonly bill: Usd;
  /** What it did, for who has to find out why a limit was passed. */
  readonly told: readonly string[];
}

/**
 * A vendor that keeps a bill of its own: what it read and what it generated, whether or not the client ever hears of it. What it
 * generates is at most what it was asked for, and often more than it shows.
 */
export async function startBillingVendor(
  random: () => number,
  endings: readonly Ending[] = ENDINGS,
  onRequest: (request: ServerRequest) => void = () => {},
): Promise<BillingVendor> {
  let bill = ZERO_USD;
  const told: string[] = [];
  const server = await startModelServer(
    (request) => {
      const ending = endings[Math.floor(random() * endings.length)] as Ending;
      const hides = ending.startsWith("hidden");
      const share = hides ? 0.9 + 0.1 * random() : random();
      const outputTokens = Math.ceil(limitOf(request) * share);
      const inputTokens = Math.ceil(Buffer.byteLength(JSON.stringify(request.body)) / 2);
      const writes = request.wire === "anthropic-messages" ? Math.floor(inputTokens * random()) : 0;
      const usage = { inputTokens, outputTokens, cacheReadTokens: 0, cacheCreationTokens: writes };
      const refuses = ending === "too many requests" || ending === "overloaded";
      if (!refuses) {
        const cost = costOf({ ...usage, reasoningTokens: null } satisfies Usage, VENDOR_PRICE) as Usd;
        bill = addUsd(bill, cost);
        told.push(`${ending}: $${cost} for ${inputTokens} and ${outputTokens} tokens`);
      }
      onRequest(request);
      return turnOf(ending, usage, request);
    },
    { validate: false },
  );
  return Object.defineProperties(server, { bill: { get: () => bill }, told: { value: told } }) as BillingVendor;
}

function turnOf(ending: Ending, usage: NonNullable<ServerTurn["usage"]>, { index }: ServerRequest): ServerTurn {
  // The client is kept busy: it is to look again, and again.
  const looking: ServerTurn = { text: "I look.", toolCalls: [{ name: "look", input: { at: index } }], usage };
  const untold: ServerTurn = { ...looking, usage: null };
  switch (ending) {
    case "told":
    case "hidden":
      return looking;
    case "not told":
    case "hidden and not told":
      return untold;
    case "cut":
      return { ...looking, misbehave: { omitFinish: true } };
    case "cut behind its usage":
      return { ...looking, misbehave: { omitEnd: true } };
    case "lost with its connection":
      return { ...looking, misbehave: { resetBeforeHeaders: true } };
    case "silent":
      return { ...looking, misbehave: { stall: "before-headers" } };
    case "silent in the answer":
      return { ...looking, misbehave: { stall: "in-body" } };
    case "an error in the stream":
      return { ...looking, misbehave: { errorInStream: { message: "we broke", type: "server_error" } } };
    case "garbage in the stream":
      return { ...looking, misbehave: { garbage: '{"half' } };
    case "no answer at all":
      return { ...looking, misbehave: { body: "<html>Welcome to the proxy</html>", contentType: "text/html" } };
    case "too many requests":
      return { status: 429, headers: { "retry-after": "1" } };
    case "overloaded":
      return { status: 503, error: { message: "overloaded" } };
  }
}

/** As many tokens as the request lets the vendor generate, wherever its wire says so. */
function limitOf({ body }: ServerRequest): number {
  const config = body["generationConfig"] as JsonObject | undefined;
  const options = body["options"] as JsonObject | undefined;
  const limit =
    body["max_tokens"] ??
    body["max_completion_tokens"] ??
    body["max_output_tokens"] ??
    config?.["maxOutputTokens"] ??
    options?.["num_predict"];
  if (typeof limit !== "number") throw new Error("the request does not bound its output");
  return limit;
}
