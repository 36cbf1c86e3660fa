import type { ModelInfo, Provider } from "@keelson/protocol";
import { createModelRegistry } from "keelson/providers";
import { describe, expect, it } from "vitest";
import { modelsOfTable, modelsOfVendors } from "./known-models.ts";

function provider(name: string, listModels?: Provider["listModels"]): Provider {
  return {
    name,
    wire: "none",
    // oxlint-disable-next-line require-yield -- it never responds
    async *stream() {
      throw new Error("nobody asks it");
    },
    ...(listModels && { listModels }),
  };
}

function info(id: string, more: Partial<ModelInfo> = {}): ModelInfo {
  return {
    id,
    displayName: id,
    description: "",
    capabilities: { vision: true, toolCalling: true, structuredOutput: true, effortLevels: true },
    contextWindow: null,
    maxOutputTokens: null,
    supportedEffortLevels: [],
    ...more,
  } as ModelInfo;
}

const signal = new AbortController().signal;

describe("modelsOfTable", () => {
  it("has the models of the providers that there are, with price and window, and none of others", () => {
    const models = createModelRegistry({ providers: { anthropic: provider("anthropic") } });
    const found = modelsOfTable(models);
    expect(found.find(({ reference }) => reference === "anthropic/claude-sonnet-5")).toMatchObject({
      contextWindow: 1_000_000,
      price: { input: "2", output: "10" },
    });
    expect(found.every(({ reference }) => reference.startsWith("anthropic/"))).toBe(true);
  });

  it("lists a vendor with two wires once, and no model that cannot call tools", () => {
    const models = createModelRegistry({
      providers: { "openai": provider("openai"), "openai-responses": provider("openai-responses") },
      onlyNamed: ["openai-responses"],
    });
    const references = modelsOfTable(models).map(({ reference }) => reference);
    expect(references).toContain("openai/gpt-4.1");
    expect(references.filter((reference) => reference.startsWith("openai-responses/"))).toEqual([]);
    expect(references.filter((reference) => /instruct|embed|ft:/.test(reference))).toEqual([]);
  });
});

describe("modelsOfVendors", () => {
  it("joins the lists of all vendors that respond, and names those that do not", async () => {
    const models = createModelRegistry({
      providers: {
        anthropic: provider("anthropic", async () => [info("claude-sonnet-5"), info("text-embed-1")]),
        local: provider("local", async () => [info("mine", { contextWindow: 8_000 })]),
        silent: provider("silent", () => Promise.reject(new Error("no route"))),
        listless: provider("listless"),
      },
    });
    const silent: string[] = [];
    const found = await modelsOfVendors(models, { signal, onProblem: (name) => void silent.push(name) });
    expect(found.map(({ reference, contextWindow }) => [reference, contextWindow])).toEqual([
      ["anthropic/claude-sonnet-5", 1_000_000],
      ["local/mine", 8_000],
    ]);
    expect(silent).toEqual(["silent"]);
  });
});
