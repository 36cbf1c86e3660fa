import { ModelError, type ModelInfo, type Provider } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createModelRegistry } from "./model-registry.ts";
import { modelFacts } from "./model-facts.ts";
import { priceOf } from "./prices.ts";

function provider(name: string, models?: readonly string[]): Provider {
  const info = (id: string): ModelInfo => ({
    id,
    displayName: id,
    description: "",
    capabilities: { toolCalling: true, vision: true, streaming: true, structuredOutput: true, effortLevels: true },
    contextWindow: null,
    maxOutputTokens: null,
    supportedEffortLevels: [],
  });
  return { name, wire: "w", async *stream() {}, ...(models && { listModels: async () => models.map(info) }) };
}

const anthropic = provider("anthropic", ["claude-haiku-4-5"]);
const openai = provider("openai");

describe("a model registry", () => {
  const registry = createModelRegistry({
    providers: { anthropic, openai },
    aliases: { fast: "anthropic/claude-haiku-4-5", quick: "fast", a: "b", b: "a" },
    default: "quick",
    prices: { special: { vendor: "openai", asOf: "2026-01-01", input: "1", output: "1" } },
  });

  it("resolves provider/model, bare ids by their vendor, aliases and the default", () => {
    expect(registry.resolve("openai/gpt-4o")).toEqual({
      reference: "openai/gpt-4o",
      provider: openai,
      providerName: "openai",
      model: "gpt-4o",
      price: priceOf("gpt-4o"),
      facts: modelFacts("gpt-4o"),
    });
    expect(registry.resolve("claude-future-9")).toMatchObject({ reference: "anthropic/claude-future-9", price: null });
    expect(registry.resolve("o3").providerName).toBe("openai");
    expect(registry.resolve("special")).toMatchObject({ providerName: "openai", price: { input: "1" } });
    expect([registry.resolve("fast").reference, registry.resolve().reference]).toEqual([
      "anthropic/claude-haiku-4-5",
      "anthropic/claude-haiku-4-5",
    ]);
  });

  it("keeps slashes of an aggregator's ids", () => {
    const router = createModelRegistry({ providers: { router: provider("router") } });
    expect(router.resolve("router/meta-llama/llama-3.3").model).toBe("meta-llama/llama-3.3");
    expect(router.resolve("meta-llama/llama-3.3")).toMatchObject({ providerName: "router", model: "meta-llama/llama-3.3" });
  });

  it("never takes another vendor's model for one of the only provider's", () => {
    const router = createModelRegistry({ providers: { router: provider("router") } });
    for (const reference of ["groq/llama-3.3-70b", "together/meta/llama", "azure/gpt-5"])
      expect(() => router.resolve(reference)).toThrow(/no provider "\w+".*there are the providers router/);
    const plain = createModelRegistry({ providers: { openai }, plainIds: ["openai"] });
    for (const reference of ["groq/x", "gorq/x", "mistral/large", "meta-llama/llama-3.3"])
      expect(() => plain.resolve(reference)).toThrow(/no provider "[\w-]+".*there are the providers openai/);
    expect(plain.resolve("gpt-5").providerName).toBe("openai");
    expect(plain.resolve("openai/ft:gpt-5/x").model).toBe("ft:gpt-5/x");
  });

  it("never means a second wire by a bare id, only by its name", () => {
    const second = provider("openai-responses");
    const two = createModelRegistry({ providers: { openai, "openai-responses": second }, onlyNamed: ["openai-responses"] });
    expect(two.resolve("gpt-5").providerName).toBe("openai");
    expect(two.resolve("meta-llama/llama-3.3")).toMatchObject({ providerName: "openai", model: "meta-llama/llama-3.3" });
    expect(two.resolve("openai-responses/gpt-5")).toMatchObject({ provider: second, price: priceOf("gpt-5") });
    const none = createModelRegistry({ providers: { second }, onlyNamed: ["second"] });
    expect(() => none.resolve("gpt-5")).toThrow(/which provider serves.*there are the providers second/);
    expect(() => createModelRegistry({ providers: { openai } }).resolve("openai-responses/gpt-5")).toThrow(
      'no provider "openai-responses"',
    );
  });

  it.each(["mistral/large", "llama-4", "anthropic/", "", "a", "toString/x"])(
    "refuses %j by an error that names what there is",
    (reference) => {
      const refuse = (): unknown => registry.resolve(reference);
      expect(refuse).toThrow(expect.toSatisfy((error) => ModelError.is(error, "invalid-request")));
      expect(refuse).toThrow(/providers anthropic, openai, and the aliases fast, quick/);
    },
  );

  it("says so when it is empty or has no default", () => {
    expect(() => createModelRegistry({ providers: {} }).resolve("x")).toThrow("no provider is configured");
    expect(() => createModelRegistry({ providers: { openai } }).resolve()).toThrow("no default");
    expect(() => createModelRegistry({ providers: { openai } }).resolve("anthropic/claude-haiku-4-5")).toThrow('no provider "anthropic"');
  });

  it("lists the models of the providers that can, with prices [MC-14]", async () => {
    expect(await registry.list()).toMatchObject([
      { reference: "anthropic/claude-haiku-4-5", id: "claude-haiku-4-5", price: { input: "1" } },
    ]);
  });
});
