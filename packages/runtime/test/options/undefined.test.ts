import { type Operator, type OperatorInput, type SessionId, sessionLog, usd, ZERO_USD } from "@keelson/protocol";
import { createAgent, createRunner } from "keelson";
import { OPTION_NAMES } from "../../src/agent/definition/definition-digest.ts";
import { createLocalEffectExecutor, createLocalOrchestrator } from "keelson/orchestration";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createOllamaEmbedder } from "keelson/providers/embeddings";
import { createGeminiProvider } from "keelson/providers/gemini";
import { createOllamaProvider } from "keelson/providers/ollama";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createOpenAiCompatibleProvider } from "keelson/providers/openai-compatible";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import { createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { compileRequest } from "keelson/context";
import { describe, expect, it, vi } from "vitest";

const nothing = (...names: readonly string[]): object => Object.fromEntries(names.map((name) => [name, undefined]));

const RUNNER_PARTS = [
  ...["agents", "log", "blobs", "ledger", "clock", "approvalKeys", "models", "approvals", "approvalWaitMs", "signalWaitMs"],
  ...["approvalTtlMs", "files", "exec", "state", "secrets", "effects", "handoffs", "tasks", "openDebugFile", "owner", "leaseTtlMs"],
  ...[
    "durability",
    "stopGraceMs",
    "maxBufferBytes",
    "keepEndedSessions",
    "recordsPerSnapshot",
    "maxDepth",
    "budgets",
    "onLifecycleEvent",
    "random",
    "newId",
  ],
];
const LIMITS = ["maxTurns", "maxCost", "maxTokens", "maxDurationMs", "unknownPrice", "withoutUsage"];
const SETTINGS = ["maxTokens", "temperature", "topP", "stopSequences", "toolChoice", "cache", "extra"];

describe("an option that is `undefined` is one that was left out", () => {
  it("of createAgent, its limits and its settings: the definition is the same, and so is what the model is asked", async () => {
    const asked = [];
    const digests = [];
    for (const more of [
      { limits: {}, settings: {} },
      { ...nothing(...OPTION_NAMES), limits: nothing(...LIMITS, "maxRetries"), settings: nothing(...SETTINGS) },
    ]) {
      const model = scriptedModel(["done"]);
      const agent = createAgent({ ...more, name: "a", model });
      digests.push(agent.with(nothing("limits", "tools", "instructions", "model")).with({ description: "d" }).digest);
      expect(await createRunner({ agent }).run("hi").outcome).toMatchObject({ reason: "complete", text: "done" });
      asked.push(model.requests.map((request) => Object.keys(request)));
    }
    expect(asked[1]).toEqual(asked[0]);
    expect(Object.keys(compileRequest({ model: "m", messages: [], settings: nothing(...SETTINGS) }))).toEqual(["model", "messages"]);
    expect(digests[1]).toBe(digests[0]);
  });

  it("of the permissions of an agent: the same files are sensitive, and the log holds the same policy", async () => {
    const held = [];
    for (const permissions of [
      { sensitivePaths: { writes: ["plans/**"] } },
      { mode: undefined, rules: undefined, sensitivePaths: { reads: undefined, writes: ["plans/**"] } },
      { sensitivePaths: undefined },
      {},
    ]) {
      const log = createMemoryEventLog({ now: () => 0 });
      const agent = createAgent({ name: "a", model: scriptedModel(["done"]), permissions });
      expect(await createRunner({ agent, log }).run("hi", { session: "s" }).outcome).toMatchObject({ reason: "complete" });
      const policies: unknown[] = [];
      for await (const { type, data } of log.read(sessionLog("s" as SessionId)))
        if (type === "run-terms") policies.push((data as { readonly authority: { readonly policies: unknown } }).authority.policies);
      held.push([agent.digest, JSON.stringify(policies)]);
    }
    expect(held[1]).toEqual(held[0]);
    expect(held[2]).toEqual(held[3]);
    expect(held[0]).not.toEqual(held[2]);
  });

  it("of stores, ledgers, logs and orchestrators: they do as they do without", async () => {
    const ledger = createMemoryBudgetLedger({ now: () => 0 });
    expect(await ledger.reserve("k", [{ id: "all" }], usd("1"), { owner: undefined, inTurn: undefined })).toEqual({ type: "reserved" });
    const log = createMemoryEventLog({ now: () => 0 });
    const id = sessionLog("s" as SessionId);
    await log.append(id, 0, [{ key: "k", type: "note", data: {} }], { epoch: undefined, durability: undefined });
    expect(await log.head(id)).toBe(1);
    const echo: Operator = {
      execute: async () => ({
        message: [{ type: "text", text: "done" }],
        exitReason: { type: "complete" },
        metadata: { tokensIn: 0, tokensOut: 0, cost: ZERO_USD, turnsUsed: 0, subDispatches: [], durationMs: 0, untracked: [] },
        effects: [],
      }),
    };
    const orchestrator = createLocalOrchestrator({ operators: { echo } });
    const input: OperatorInput = { message: [{ type: "text", text: "hi" }], trigger: "task", metadata: {} };
    const none = { id: undefined, parent: undefined, deadline: undefined, authority: undefined, signal: undefined };
    expect(await orchestrator.dispatch("echo", input, none)).toEqual(await orchestrator.dispatch("echo", input));
  });

  it("of agent.with: what the agent has stays", () => {
    const agent = createAgent({ name: "a", model: scriptedModel([]), limits: { maxTurns: 3 } });
    expect(agent.with({ limits: undefined, model: undefined }).options.limits).toEqual({ maxTurns: 3 });
  });

  it("of createRunner and run: runs go as they do without, and of the log in memory the last hundred ended sessions are kept", async () => {
    const agent = createAgent({ name: "a", model: scriptedModel(Array.from({ length: 201 }, () => "done")) });
    const runner = createRunner({ ...nothing(...RUNNER_PARTS), agent });
    for (let turn = 0; turn < 201; turn += 1) {
      const run = runner.run("hi", {
        ...nothing("session", "model", "signal", "deadline", "budgets", "metadata"),
        limits: nothing(...LIMITS),
      });
      expect((await run.outcome).reason).toBe("complete");
    }
    await vi.waitFor(async () => expect((await runner.sessions.list()).length).toBeLessThan(110));
  });

  it("of a log and of an executor of effects: their defaults stay, also those that a runner gives", async () => {
    const log = createMemoryEventLog({ now: undefined, maxRecordBytes: undefined });
    const effects = createLocalEffectExecutor({ store: undefined, scheduler: undefined, runner: undefined, effects: nothing("log") });
    const agent = createAgent({ name: "a", model: scriptedModel(["done"]) });
    expect((await createRunner({ agent, log, effects }).run("hi").outcome).reason).toBe("complete");
    expect(effects.supports({ type: "log", level: "info", message: "m" } as never)).toBe(true);
  });

  it("of providers and embedders: they ask the same", async () => {
    const shared = nothing("baseUrl", "headers", "timeouts", "tls", "proxyEnvironment", "transport", "rateLimiter", "name", "defaultModel");
    const own = nothing("defaultMaxTokens", "betas");
    const makers: readonly ((options: object) => { readonly stream: (request: never) => AsyncIterable<unknown>; readonly name: string })[] =
      [
        (options) => createAnthropicProvider({ ...options, ...("baseUrl" in options ? own : {}) }),
        (options) => createOpenAiChatProvider({ ...options, ...("baseUrl" in options ? nothing("maxTokensField") : {}) }),
        (options) => createOpenAiResponsesProvider(options),
        (options) => createGeminiProvider(options),
        (options) => createOllamaProvider({ ...options, ...("baseUrl" in options ? nothing("contextLength", "keepAlive") : {}) }),
        (options) => createOpenAiCompatibleProvider({ ...options, vendor: "groq", ...("baseUrl" in options ? { quirks: undefined } : {}) }),
      ];
    for (const make of makers) {
      const sent: string[] = [];
      const fetch = (url: string, { body, headers }: { readonly body?: Uint8Array; readonly headers: object }): Promise<Response> => {
        sent.push(`${url} ${JSON.stringify(headers)} ${new TextDecoder().decode(body)}`);
        return Promise.resolve(new Response("{}", { status: 400 }));
      };
      for (const options of [{}, shared]) {
        const provider = make({ ...options, apiKey: "sk-test", fetch });
        const request = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] };
        await expect(
          provider
            .stream(request as never)
            [Symbol.asyncIterator]()
            .next(),
        ).rejects.toThrow();
      }
      expect(sent).toHaveLength(2);
      expect(sent[1]).toBe(sent[0]);
    }
  });

  it("of the embedder of one graphics card: it still sends one request at a time", async () => {
    let open = 0;
    let most = 0;
    const embedder = createOllamaEmbedder({
      concurrency: undefined,
      maxBatchTexts: 1,
      fetch: async () => {
        most = Math.max(most, (open += 1));
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return Response.json({ embeddings: [[1]] });
      },
    });
    await embedder.embed(["a", "b", "c", "d"]);
    expect(most).toBe(1);
  });
});
