import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPostgres } from "@keelson/postgres";
import { createRestateOrchestrator } from "@keelson/restate";
import * as agents from "keelson/agent";
import { createAgent, createRunner, defineTool } from "keelson";
import { Context } from "keelson/context";
import * as environment from "keelson/environment";
import * as mcp from "keelson/mcp";
import { defineMemory } from "keelson/memory";
import * as middleware from "keelson/middleware";
import * as orchestration from "keelson/orchestration";
import * as providers from "keelson/providers";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import * as embeddings from "keelson/providers/embeddings";
import { createGeminiProvider } from "keelson/providers/gemini";
import { createOllamaProvider } from "keelson/providers/ollama";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createOpenAiCompatibleProvider } from "keelson/providers/openai-compatible";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import * as secrets from "keelson/secrets";
import * as security from "keelson/security";
import { createSessions, Execution, systemClock } from "keelson/session";
import * as state from "keelson/state";
import * as testing from "keelson/testing";

const folder = mkdtempSync(join(tmpdir(), "keelson-receivers-"));
const file = (name: string): string => join(folder, name);
const model = testing.scriptedModel(["done"]);
const agent = createAgent({ name: "a", model });
const services = { apiKey: "sk-test" };
const postgres = createPostgres({ connectionString: "postgres://u:p@127.0.0.1:1/d" });
const files = environment.createMemoryVfs();
const exec = environment.createProcessExecutor({ cwd: folder });
const keys = secrets.createKeyRing({ current: secrets.newKey() });

function stores(): readonly object[] {
  return [
    state.createMemoryStore(),
    state.createSqliteStore(file("store.db")),
    state.createFsStore(file("store")),
    testing.mockStateStore(),
    middleware.withStoreMiddleware(state.createMemoryStore(), middleware.createStoreStack().build()),
    postgres.state,
  ];
}

function allFiles(): readonly object[] {
  return [
    files,
    environment.createDiskVfs({ root: folder }),
    environment.createStoreVfs({ store: state.createMemoryStore(), namespace: "n" }),
    environment.createTransferVfs({ files, machine: files }),
    environment.createCompositeVfs({ mounts: [] }),
    environment.createSandboxVfs({ files }),
  ];
}

/** The request that a tool was called for, by a client in this process. */
async function openRequest(): Promise<readonly object[]> {
  const requests: object[] = [];
  const tool = defineTool({
    name: "t",
    description: "t",
    input: { type: "object" },
    execute(_input, call) {
      requests.push(mcp.mcpRequest(call) as object);
      return "done";
    },
  });
  const server = await mcp.serveMcpHttp(mcp.createMcpServer({ name: "s", version: "1", tools: [tool] }), { authenticate: false });
  const manager = mcp.createMcpManager({ servers: { s: { type: "http", url: server.url } } });
  await manager.startAll();
  await manager.callTool("s", "t");
  return requests;
}

/** Objects of this library by the type under which the walk over its exports finds their methods: of an interface, each implementation. */
export const RECEIVERS: { readonly [type: string]: () => readonly object[] | Promise<readonly object[]> } = {
  "EventLog": () => [
    state.createMemoryEventLog(),
    state.createSqliteEventLog(file("log.db")),
    security.encryptEventLog(state.createMemoryEventLog(), { keys }),
    security.chainEventLog(state.createMemoryEventLog()),
    postgres.log,
  ],
  "SqliteEventLog": () => [state.createSqliteEventLog(file("log.db"))],
  "PostgresEventLog": () => [postgres.log],
  "LogIndex": () => [state.createSqliteEventLog(file("log.db")).index ?? {}, postgres.log.index ?? {}],
  "BlobStore": () => [
    state.createMemoryBlobStore(),
    state.createSqliteBlobStore(file("log.db")),
    security.encryptBlobStore(state.createMemoryBlobStore(), { keys }),
    postgres.blobs,
  ],
  "StateStore": stores,
  "StateReader": stores,
  "MockStateStore": () => [testing.mockStateStore()],
  "BudgetLedger": () => [state.createMemoryBudgetLedger(), state.createSqliteBudgetLedger(file("log.db")), postgres.ledger],
  "SqliteBudgetLedger": () => [state.createSqliteBudgetLedger(file("log.db"))],
  "createBudgetLedger()": () => [state.createMemoryBudgetLedger()],
  "Vfs": allFiles,
  "DiskVfs": () => [environment.createDiskVfs({ root: folder })],
  "CompositeVfs": () => [environment.createCompositeVfs({ mounts: [] })],
  "SandboxVfs": () => [environment.createSandboxVfs({ files, executor: exec })],
  "ArchiveVfs": async () => [await environment.createArchiveVfs(new Uint8Array(1024))],
  "Executor": () => [
    exec,
    environment.createSandboxExecutor({}, { workspace: folder }),
    environment.createSandboxVfs({ files, executor: exec }),
    secrets.withSecrets(exec, { secrets: secrets.createSecretResolver(), credentials: [] }),
  ],
  "CommandExecutor": () => [exec, environment.createSandboxExecutor({}, { workspace: folder })],
  "Jobs": () => [exec.jobs, environment.createSandboxVfs({ files, executor: exec }).jobs as object],
  "Overlay": async () => [await environment.createOverlay({ base: folder, store: mkdtempSync(join(tmpdir(), "keelson-overlays-")) })],
  "Provider": () => [
    model,
    createAnthropicProvider(services),
    createOpenAiChatProvider(services),
    createOpenAiResponsesProvider(services),
    createGeminiProvider(services),
    createOllamaProvider(),
    createOpenAiCompatibleProvider({ ...services, vendor: "groq" }),
    providers.withCircuitBreaker(model),
  ],
  "ScriptedModel": () => [model],
  "Embedder": () => {
    const embedder = embeddings.createOpenAiEmbedder(services);
    return [
      embedder,
      embeddings.createGeminiEmbedder(services),
      embeddings.createOllamaEmbedder(),
      embeddings.createOpenAiCompatibleEmbedder({ ...services, vendor: "mistral" } as never),
      embeddings.cacheEmbeddings(embedder, { store: state.createMemoryStore() }),
    ];
  },
  "RateLimiter": () => [providers.createRateLimiter()],
  "ModelRegistry": () => [providers.createModelRegistry({ providers: {} })],
  "Orchestrator": () => [
    orchestration.createLocalOrchestrator(),
    testing.mockOrchestrator({}),
    orchestration.createDurableOrchestrator({ runner: () => createRunner({ agent }), wake: async () => {} }),
    middleware.withDispatchMiddleware(orchestration.createLocalOrchestrator(), middleware.createDispatchStack().build()),
    createRestateOrchestrator({ ingress: "http://127.0.0.1:1" }),
  ],
  "LocalOrchestrator": () => [
    orchestration.createLocalOrchestrator(),
    orchestration.createLocalOrchestrator({ middleware: middleware.createDispatchStack().build() }),
  ],
  "MockOrchestrator": () => [testing.mockOrchestrator({})],
  "DurableOrchestrator": () => [orchestration.createDurableOrchestrator({ runner: () => createRunner({ agent }), wake: async () => {} })],
  "RestateOrchestrator": () => [createRestateOrchestrator({ ingress: "http://127.0.0.1:1" })],
  "Scheduler": () => [orchestration.createScheduler({ runner: createRunner({ agent }) })],
  "SingleRunner": () => [createRunner({ agent })],
  "Runner": () => [createRunner({ agents: { a: agent } })],
  "Sessions": () => [
    createRunner({ agent }).sessions,
    createSessions({
      log: state.createMemoryEventLog(),
      blobs: state.createMemoryBlobStore(),
      clock: systemClock,
      owner: "o",
      leaseTtlMs: 1000,
      newId: () => "s" as never,
    }),
  ],
  "Run": () => [createRunner({ agent }).run("hi")],
  "Agent": () => [agent],
  "HookRegistry": () => [agents.createHookRegistry()],
  "ApprovalTokens": () => [agents.createApprovalTokens({ keys: agents.createEphemeralApprovalKeys(), now: () => 0 })],
  "FsmStrategyBuilder": () => [agents.fsmStrategy()],
  "Context": () => [new Context()],
  "McpLifecycleManager": () => [mcp.createMcpManager()],
  "McpTransport": () => [mcp.createMcpManager({ servers: { s: { type: "stdio", command: "none" } } }).transport("s")],
  "Memory": () => [defineMemory({ name: "m", about: "facts", store: state.createMemoryStore(), scope: { type: "global" } })],
  "SecretResolver": () => [secrets.createSecretResolver()],
  "SourcedSecretResolver": () => [secrets.createSecretResolver()],
  "PlaceholderSecrets": () => [secrets.createPlaceholderSecrets({ secrets: secrets.createSecretResolver(), allow: [] } as never)],
  "CredentialProvider": () => [
    secrets.createStaticCredentials("token"),
    secrets.createClientCredentials({ tokenUrl: "https://auth.example.com/token", clientId: "c", clientSecret: "s" } as never),
  ],
  "ExfiltrationGuard": () => [security.createExfiltrationGuard({ redactor: security.createRedactor(), tools: [] })],
  "McpHttpServer": async () => [await mcp.serveMcpHttp(mcp.createMcpServer({ name: "s", version: "1" }), { authenticate: false })],
  "McpRequest": openRequest,
  "ExecutionContext": () => [testing.mockExecutionContext().context],
  "MockExecutionContext.context": () => [testing.mockExecutionContext().context],
  "OperatorContext": () => [testing.mockExecutionContext().context],
  "Execution": () => [Object.create(Execution.prototype) as object],
  "createProcessExecutor()": () => [exec],
  "MockEnvironment": () => [testing.mockEnvironment(testing.mockOperator([]))],
};
