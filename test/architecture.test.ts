import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../tools/run-command.ts";

interface Layers {
  readonly rows: readonly (readonly string[])[];
  readonly packages: { readonly [name: string]: readonly string[] };
}

const layers = JSON.parse(readFileSync(join(root, "layers.json"), "utf8")) as Layers;
const source = join(root, "packages/runtime/src");
const folders = readdirSync(source, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/**
 * The six layers, and which folders are each of them; layer 0 is a package of its own. State and environment need nothing of the
 * operators above them, and stand where their imports put them.
 */
const SIX: { readonly [layer: string]: readonly string[] } = {
  "0 protocol": [],
  "1 operators": ["json", "transport", "schema", "platform", "middleware", "providers", "tools", "context", "session", "agent"],
  "2 orchestration": ["orchestration", "memory", "skills"],
  "3 state": ["state"],
  "4 environment": ["environment"],
  "5 cross-cutting": ["security", "telemetry", "mcp", "testing"],
};
/** Each wholly above the one before it. */
const ABOVE_EACH_OTHER = [["state", "environment"], ["session"], ["agent"], ["orchestration"], SIX["5 cross-cutting"] ?? [], ["index"]];

describe("the layers", () => {
  const rowsOf = (folder: string): readonly number[] =>
    layers.rows.flatMap((row, index) => (row.some((name) => name === folder || name.startsWith(`${folder}/`)) ? [index] : []));

  it("are six, each in rows of its own that import downwards, with a package of all of them at the top [LA-01]", () => {
    for (const folder of Object.values(SIX).flat()) expect(rowsOf(folder), folder).not.toEqual([]);
    for (const [index, lower] of ABOVE_EACH_OTHER.entries())
      for (const higher of ABOVE_EACH_OTHER[index + 1] ?? [])
        for (const folder of lower)
          expect(Math.max(...rowsOf(folder)), `${folder} below ${higher}`).toBeLessThan(Math.min(...rowsOf(higher)));
    expect(layers.rows.at(-1)).toEqual(["index"]);
    expect(layers.packages["protocol"]).toEqual([]);
    for (const [name, below] of Object.entries(layers.packages)) if (name !== "protocol") expect(below, name).toContain("protocol");
  });

  it("hold every folder of the runtime, and the root binds those that a run needs together [LA-01]", () => {
    expect(folders.filter((folder) => !Object.values(SIX).flat().includes(folder))).toEqual([]);
    const root = readFileSync(join(source, "index.ts"), "utf8");
    for (const folder of ["agent", "state", "platform", "providers", "tools"]) expect(root).toContain(`from "./${folder}/`);
  });
});

describe("implementations", () => {
  it("are named after the technology they wrap, which may offer several things; none is named after what it offers alone [LA-12]", () => {
    const factories = [...readFileSync(join(source, "state/index.ts"), "utf8").matchAll(/\bcreate([A-Z]\w+)/g)].map(
      ([, name]) => name ?? "",
    );
    const offers = new Map<string, string[]>();
    for (const name of factories) {
      const [, technology = "", capability = ""] = /^(Memory|Fs|Sqlite)(EventLog|BlobStore|BudgetLedger|Store)$/.exec(name) ?? [];
      expect(technology, `create${name} is named after a technology and an interface of the protocol`).not.toBe("");
      offers.set(technology, [...(offers.get(technology) ?? []), capability]);
    }
    expect(offers.get("Memory")?.length).toBeGreaterThan(1);
    expect(offers.get("Sqlite")?.length).toBeGreaterThan(1);
    for (const name of factories) {
      const file = join(
        source,
        "state",
        /^[A-Z][a-z]+/.exec(name)?.[0].toLowerCase() ?? "",
        `${name.replace(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()}.ts`,
      );
      expect(existsSync(file), file).toBe(true);
    }
  });

  it("are reached by subpaths named after what they wrap or the layer they are: none after a capability alone or a format [LA-12]", () => {
    const { exports } = JSON.parse(readFileSync(join(root, "packages/runtime/package.json"), "utf8")) as { readonly exports: object };
    const rooms = readdirSync(join(source, "environment"));
    const subpaths = Object.keys(exports).map((path) => path.replace(/^\.\/?/, ""));
    for (const path of subpaths.filter((each) => each !== "" && each !== "package.json")) {
      const [folder = "", technology] = path.split("/");
      // A room of the environment that users enter alone has a subpath of its own.
      expect([...folders, ...rooms], path).toContain(folder);
      if (folder !== "providers" || technology === undefined || technology === "embeddings") continue;
      // What a provider wraps gives its factory its name: `openai-chat` is `createOpenAiChatProvider`.
      const factory = `create${technology.replaceAll("-", "")}provider`;
      const text = readFileSync(join(source, `${path}.ts`), "utf8").toLowerCase();
      expect(text, path).toContain(`export function ${factory}(`);
    }
    expect(subpaths.filter((path) => /json|yaml|toml|csv|jsonl|sse|xml|markdown|vector/.test(path))).toEqual(["package.json"]);
  });

  it("take a format as an option: one factory for every vendor of an API [LA-12]", async () => {
    const { createOpenAiCompatibleProvider } = await import("keelson/providers/openai-compatible");
    const wires = ["groq", "deepseek", "mistral"].map((vendor) => createOpenAiCompatibleProvider({ vendor, apiKey: "k" }));
    expect(wires.map(({ name, wire }) => [name, wire])).toEqual([
      ["groq", "openai-chat"],
      ["deepseek", "openai-chat"],
      ["mistral", "openai-chat"],
    ]);
  });

  it("that bring a technology of their own are packages named after it [LA-12]", () => {
    const adapters = Object.keys(layers.packages).filter((name) => !["protocol", "runtime", "code", "inspector"].includes(name));
    expect(adapters.sort()).toEqual(["postgres", "restate"]);
  });
});

/** What the packages and features of the checklist's map are here: a subpath, and what of it does their work. */
const PACKAGE_MAP: { readonly [name: string]: readonly [subpath: string, ...values: string[]] } = {
  "layer0": ["@keelson/protocol", "textMessage", "addUsd"],
  "turn": ["keelson/providers", "createModelRegistry"],
  "provider-anthropic": ["keelson/providers/anthropic", "createAnthropicProvider"],
  "provider-openai": ["keelson/providers/openai-chat", "createOpenAiChatProvider"],
  "provider-ollama": ["keelson/providers/ollama", "createOllamaProvider"],
  "provider-codex": ["keelson/providers/openai-responses", "createOpenAiResponsesProvider"],
  "tool": ["keelson/tools", "createToolRegistry", "toolToOperator"],
  "tool-macro": ["keelson/tools", "defineTool"],
  "context": ["keelson/context", "Context"],
  "context-engine": ["keelson/agent", "reactLoop"],
  "mcp": ["keelson/mcp", "createMcpManager", "createMcpServer"],
  "op-single-shot": ["keelson/context", "createSingleShotOperator"],
  "turn-kit": ["keelson/tools", "planBatches", "executeLeaf"],
  "orch-local": ["keelson/orchestration", "createLocalOrchestrator"],
  "orch-kit": ["keelson/orchestration", "fanOut", "chain"],
  "effects-core": ["keelson/orchestration", "createEffectExecutor"],
  "effects-local": ["keelson/orchestration", "createLocalEffectExecutor"],
  "state-memory": ["keelson/state", "createMemoryStore"],
  "state-fs": ["keelson/state", "createFsStore"],
  "env-local": ["keelson/environment", "createProcessEnvironment"],
  "secret": ["keelson/secrets", "createSecretResolver"],
  "secret-vault": ["keelson/secrets", "createVaultSecrets"],
  "crypto": ["keelson/secrets", "createSigner", "createSealer"],
  "auth": ["keelson/secrets", "createClientCredentials", "createAuthorizationCodeCredentials"],
  "hook-security": ["keelson/security", "createRedactor", "createExfiltrationGuard"],
  "umbrella": ["keelson", "createAgent", "createRunner"],
};

describe("the package map", () => {
  it.each(Object.entries(PACKAGE_MAP))("has a subpath for %s [LA-15, LA-16]", async (_, [subpath, ...values]) => {
    const found = (await import(subpath)) as { readonly [name: string]: unknown };
    for (const value of values) expect(found[value], `${subpath} exports ${value}`).toBeTypeOf("function");
  });
});
