import type { InferRequest, JsonObject, Provider } from "@keelson/protocol";
import { createAnthropicProvider } from "../../src/providers/anthropic.ts";
import { createGeminiProvider } from "../../src/providers/gemini.ts";
import { createOllamaProvider } from "../../src/providers/ollama.ts";
import { createOpenAiChatProvider } from "../../src/providers/openai-chat.ts";
import { createOpenAiCompatibleProvider } from "../../src/providers/openai-compatible.ts";
import { createOpenAiResponsesProvider } from "../../src/providers/openai-responses.ts";
import {
  type RequestFacts,
  type RequestProblem,
  validateRequest,
  type ValidatedWire,
} from "../../src/testing/request-validation/validate-request.ts";

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Where a conversation is sent: a provider, and a model of its vendor. */
export interface Target {
  readonly name: string;
  readonly wire: ValidatedWire;
  readonly model: string;
  /** Where it isn't the wire's own. */
  readonly vendor?: string;
  create(options: { readonly apiKey: string; readonly baseUrl?: string; readonly fetch: Fetch }): Provider;
}

/** One of each wire, and those whose vendors are the strictest of their wire. */
export const TARGETS: readonly Target[] = [
  { name: "anthropic", wire: "anthropic-messages", model: "claude-sonnet-5", create: createAnthropicProvider },
  { name: "openai-chat", wire: "openai-chat", model: "gpt-5", create: createOpenAiChatProvider },
  { name: "openai-responses", wire: "openai-responses", model: "gpt-5", create: createOpenAiResponsesProvider },
  { name: "gemini", wire: "gemini", model: "gemini-2.5-flash", create: createGeminiProvider },
  { name: "gemini-3", wire: "gemini", model: "gemini-3-pro", create: createGeminiProvider },
  { name: "ollama", wire: "ollama-chat", model: "qwen3", create: createOllamaProvider },
  {
    name: "mistral",
    wire: "openai-chat",
    model: "mistral-large",
    vendor: "mistral",
    create: (options) => createOpenAiCompatibleProvider({ ...options, vendor: "mistral" }),
  },
  {
    name: "deepseek",
    wire: "openai-chat",
    model: "deepseek-chat",
    vendor: "deepseek",
    create: (options) => createOpenAiCompatibleProvider({ ...options, vendor: "deepseek" }),
  },
];

class Captured extends Error {
  readonly body: string;
  constructor(body: string) {
    super("captured");
    this.body = body;
  }
}

/** Makes the bodies of requests without sending them. Keeps its provider, so that what is encoded is kept as in a session. */
export class RequestMaker {
  readonly target: Target;
  readonly #provider: Provider;
  #body = "";

  constructor(target: Target) {
    this.target = target;
    this.#provider = target.create({
      apiKey: "test",
      fetch: async (_url, init) => {
        this.#body = await textOf(init?.body);
        throw new Captured(this.#body);
      },
    });
  }

  async body(request: Omit<InferRequest, "model">, conversation?: object): Promise<JsonObject> {
    this.#body = "";
    const events = this.#provider.stream({ ...request, model: this.target.model }, conversation === undefined ? {} : { conversation });
    let failure: unknown;
    try {
      for await (const _event of events) break;
    } catch (error) {
      failure = error;
    }
    if (this.#body === "") throw new Error(`${this.target.name} sent nothing: ${String(failure)}`, { cause: failure });
    return JSON.parse(this.#body) as JsonObject;
  }

  async problems(request: Omit<InferRequest, "model">, conversation?: object, facts?: RequestFacts): Promise<readonly RequestProblem[]> {
    const { wire, model, vendor } = this.target;
    const own: RequestFacts = { ...(wire === "gemini" && { model }), ...(vendor !== undefined && { vendor }) };
    return validateRequest(wire, await this.body(request, conversation), { ...own, ...facts });
  }
}

async function textOf(body: RequestInit["body"]): Promise<string> {
  return await new Response(body ?? null).text();
}
