import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as keelson from "keelson";
import { AgentError } from "@keelson/protocol";
import * as agents from "keelson/agent";
import * as context from "keelson/context";
import * as environment from "keelson/environment";
import * as mcp from "keelson/mcp";
import * as memory from "keelson/memory";
import * as middleware from "keelson/middleware";
import * as orchestration from "keelson/orchestration";
import * as providers from "keelson/providers";
import { createAiSdkProvider } from "keelson/providers/ai-sdk";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import * as embeddings from "keelson/providers/embeddings";
import { createGeminiEmbedder, createOllamaEmbedder, createOpenAiEmbedder } from "keelson/providers/embeddings";
import { createGeminiProvider } from "keelson/providers/gemini";
import { createOllamaProvider } from "keelson/providers/ollama";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createOpenAiCompatibleProvider } from "keelson/providers/openai-compatible";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import * as secrets from "keelson/secrets";
import * as security from "keelson/security";
import * as session from "keelson/session";
import * as state from "keelson/state";
import * as kit from "keelson/state/kit";
import * as testing from "keelson/testing";
import * as tools from "keelson/tools";
import { describe, expect, it } from "vitest";
import { readPublicSurface } from "./public-surface.ts";

const model = testing.scriptedModel([]);
const agent = keelson.createAgent({ name: "a", model });
const tool = keelson.defineTool({ name: "t", description: "t", input: { type: "object" }, execute: () => "done" });
const mcpServer = mcp.createMcpServer({ name: "s", version: "1" });
const orchestrator = orchestration.createLocalOrchestrator();
const path = join(mkdtempSync(join(tmpdir(), "keelson-options-")), "log.db");

/** As somebody writes it who has no types. */
type Call = (options: never) => unknown;

/** Each function that takes options, the option that was meant, and how it is called with the one that was written. */
const FUNCTIONS: { readonly [name: string]: readonly [meant: string, call: Call] } = {
  createAgent: ["limits", (given) => keelson.createAgent(Object.assign(given, { name: "a", model }))],
  createRunner: ["log", (given) => keelson.createRunner(Object.assign(given, { agent }))],
  agentTool: ["description", (given) => keelson.agentTool(agent, given)],
  handoffTool: ["description", (given) => agents.handoffTool(agent, given)],
  createApprovalTokens: ["keys", (given) => agents.createApprovalTokens(given)],
  waitForSignalTool: ["timeoutMs", (given) => agents.waitForSignalTool(given)],
  fsmStrategy: ["scope", (given) => agents.fsmStrategy(given)],
  hooksFromJson: ["guard", (given) => agents.hooksFromJson({}, given)],
  createShellHook: ["command", (given) => agents.createShellHook(given)],
  rulesFromClaude: ["home", (given) => agents.rulesFromClaude({}, given)],
  rulesFrom: ["beforeToolCall", (given) => context.rulesFrom(given)],
  budgetGuard: ["maxCost", (given) => context.budgetGuard(given)],
  compactionRule: ["when", (given) => context.compactionRule(Object.assign({ strategy: context.slidingWindow({ keep: 1 }) }, given))],
  injectReminder: ["priority", (given) => context.injectReminder("t", given)],
  slidingWindow: ["keep", (given) => context.slidingWindow(given)],
  policyTrim: ["target", (given) => context.policyTrim(given)],
  stubResults: ["keep", (given) => context.stubResults(given)],
  summarise: ["maxTokens", (given) => context.summarise(given)],
  extractState: ["maxTokens", (given) => context.extractState(given)],
  xrayRequest: [
    "usage",
    (given) => context.xrayRequest({ model: "m", messages: [] }, Object.assign(given, { target: { wire: "w", model: "m" } })),
  ],
  createSingleShotOperator: ["systemPrompt", (given) => context.createSingleShotOperator(given)],
  createSessions: ["log", (given) => session.createSessions(given)],
  createMcpManager: ["servers", (given) => mcp.createMcpManager(given)],
  register: ["reconnectDelayMs", (given) => mcp.createMcpManager().register("a", { type: "stdio", command: "a" }, given)],
  loopbackAuthorization: ["timeoutMs", (given) => mcp.loopbackAuthorization(given)],
  openMcpTokenStore: ["folder", (given) => mcp.openMcpTokenStore(given)],
  toolSource: ["resources", (given) => mcp.createMcpManager().toolSource(given)],
  createDiskVfs: ["readOnly", (given) => environment.createDiskVfs(given)],
  createArchiveVfs: ["maxBytes", (given) => environment.createArchiveVfs(new Uint8Array(1024), given)],
  createCompositeVfs: ["mounts", (given) => environment.createCompositeVfs(given)],
  createSandboxVfs: ["files", (given) => environment.createSandboxVfs(given)],
  createStoreVfs: ["scope", (given) => environment.createStoreVfs(given)],
  createTransferVfs: ["machine", (given) => environment.createTransferVfs(given)],
  createMemoryVfs: ["maxBytes", (given) => environment.createMemoryVfs(given)],
  createProcessExecutor: ["shell", (given) => environment.createProcessExecutor(given)],
  createProcessEnvironment: ["module", (given) => environment.createProcessEnvironment(given)],
  createContainerEnvironment: [
    "image",
    (given) => environment.createContainerEnvironment(Object.assign({ module: "m", workspace: "." }, given) as never),
  ],
  createSandboxExecutor: ["workspace", (given) => environment.createSandboxExecutor({} as never, given)],
  startJob: ["isTold", (given) => environment.startJob({}, {} as never, {}, given)],
  encryptEventLog: ["mayBePlain", (given) => security.encryptEventLog(state.createMemoryEventLog(), given)],
  encryptBlobStore: ["keys", (given) => security.encryptBlobStore(state.createMemoryBlobStore(), given)],
  checkLog: ["maxProblems", (given) => security.checkLog(state.createMemoryEventLog(), "l" as never, given)],
  repairLog: ["head", (given) => security.repairLog(state.createMemoryEventLog(), "l" as never, given)],
  exportSession: ["blobs", (given) => session.exportSession(given, "s").next()],
  importSession: ["leaseTtlMs", (given) => session.importSession(given, async function* () {})],
  explainCall: ["policies", (given) => security.explainCall(given)],
  createSeatbeltProfile: ["proxyPort", (given) => environment.createSeatbeltProfile({}, given)],
  createSandboxEnvironment: ["workspace", (given) => environment.createSandboxEnvironment(given)],
  createOverlay: ["store", (given) => environment.createOverlay(given)],
  createSecretResolver: ["sources", (given) => secrets.createSecretResolver(given)],
  createEnvSecrets: ["env", (given) => secrets.createEnvSecrets(given)],
  createFileSecrets: ["folder", (given) => secrets.createFileSecrets(given)],
  createExecSecrets: ["programs", (given) => secrets.createExecSecrets(given)],
  createKeyringSecrets: ["fallback", (given) => secrets.createKeyringSecrets(given)],
  createVaultSecrets: ["address", (given) => secrets.createVaultSecrets(given)],
  withSecrets: ["credentials", (given) => secrets.withSecrets({} as never, given)],
  createClientCredentials: ["tokenUrl", (given) => secrets.createClientCredentials(given)],
  createDeviceCodeCredentials: ["prompt", (given) => secrets.createDeviceCodeCredentials(given)],
  createAuthorizationCodeCredentials: ["issuer", (given) => secrets.createAuthorizationCodeCredentials(given)],
  keyFromPassphrase: ["cost", (given) => secrets.keyFromPassphrase("phrase", given)],
  createGuardedFetch: ["hosts", (given) => security.createGuardedFetch(given)],
  guardedLookup: ["mayUse", (given) => security.guardedLookup(given)],
  createExfiltrationGuard: ["redactor", (given) => security.createExfiltrationGuard(given)],
  createRedactor: ["replacement", (given) => security.createRedactor(given)],
  resolvePublic: ["mayUse", (given) => security.resolvePublic("example.org", given)],
  createDispatchStack: ["report", (given) => middleware.createDispatchStack(given)],
  createExecStack: ["report", (given) => middleware.createExecStack(given)],
  createStoreStack: ["report", (given) => middleware.createStoreStack(given)],
  createStack: ["report", (given) => middleware.createStack(given, { misuse: Error, failed: (_, error) => error })],
  withDispatchMiddleware: [
    "maxFinished",
    (given) => middleware.withDispatchMiddleware(orchestrator, middleware.createDispatchStack().build(), given),
  ],
  createEffectExecutor: ["directives", (given) => orchestration.createEffectExecutor(given)],
  createLocalEffectExecutor: ["instructions", (given) => orchestration.createLocalEffectExecutor(given)],
  createLocalOrchestrator: ["operators", (given) => orchestration.createLocalOrchestrator(given)],
  createDurableOrchestrator: ["runner", (given) => orchestration.createDurableOrchestrator(given)],
  createScheduler: ["log", (given) => orchestration.createScheduler(given)],
  chain: ["deadline", (given) => orchestration.chain(orchestrator, [], "t", given)],
  delegate: ["allowedOperators", (given) => orchestration.delegate(orchestrator, "o", "t", given)],
  fanIn: ["least", (given) => orchestration.fanIn(orchestrator, "o", [], given)],
  fanOut: ["maxParallel", (given) => orchestration.fanOut(orchestrator, [], given)],
  handoff: ["maxHandoffs", (given) => orchestration.handoff(orchestrator, "o", "t", given)],
  observe: ["everyMs", (given) => orchestration.observe(orchestrator, "r", given).next()],
  intervene: ["everyMs", (given) => orchestration.intervene(orchestrator, "r", () => undefined, given)],
  createMemoryBlobStore: ["maxBlobBytes", (given) => state.createMemoryBlobStore(given)],
  createMemoryBudgetLedger: ["presumeSpentAfterMs", (given) => state.createMemoryBudgetLedger(given)],
  createMemoryEventLog: ["maxRecordBytes", (given) => state.createMemoryEventLog(given)],
  createSqliteBlobStore: ["maxBlobBytes", (given) => state.createSqliteBlobStore(Object.assign(given, { path }))],
  createSqliteBudgetLedger: ["durability", (given) => state.createSqliteBudgetLedger(Object.assign(given, { path }))],
  createOpenAiCompatibleEmbedder: ["vendor", (given) => embeddings.createOpenAiCompatibleEmbedder(given)],
  createAiSdkEmbedder: ["headers", (given) => embeddings.createAiSdkEmbedder({} as never, given)],
  cacheEmbeddings: ["store", (given) => embeddings.cacheEmbeddings({} as never, given)],
  budgetEmbeddings: ["ledger", (given) => embeddings.budgetEmbeddings({} as never, given)],
  defineMemory: ["about", (given) => memory.defineMemory(given)],
  userFacts: ["user", (given) => memory.userFacts(given)],
  projectNotes: ["project", (given) => memory.projectNotes(given)],
  pastEpisodes: ["summarise", (given) => memory.pastEpisodes(given)],
  recallRelevant: ["minScore", (given) => memory.recallRelevant(given)],
  recallNewest: ["limit", (given) => memory.recallNewest(given)],
  encodeWrite: ["ttlMs", (given) => kit.encodeWrite({ type: "global" }, "k", 1, given)],
  searchTerms: ["minScore", (given) => kit.searchTerms("query", given)],
  encryptStore: ["keys", (given) => security.encryptStore(given)],
  resealStore: ["mayBePlain", (given) => security.resealStore(state.createMemoryStore(), { type: "global" }, given)],
  traverseLinks: ["maxDepth", (given) => state.traverseLinks(state.createMemoryStore(), { type: "global" }, "k", given)],
  auditStore: ["operations", (given) => state.auditStore(given)],
  cacheStore: ["maxEntries", (given) => state.cacheStore(given)],
  createMemoryStore: ["now", (given) => state.createMemoryStore(given)],
  createFsStore: ["root", (given) => state.createFsStore(given)],
  createSqliteStore: ["path", (given) => state.createSqliteStore(given)],
  createSqliteEventLog: ["maxRecordBytes", (given) => state.createSqliteEventLog(Object.assign(given, { path }))],
  createModelRegistry: ["aliases", (given) => keelson.createModelRegistry(Object.assign(given, { providers: {} }))],
  createRateLimiter: ["requestsPerMinute", (given) => providers.createRateLimiter(given)],
  withCircuitBreaker: ["failures", (given) => providers.withCircuitBreaker(model, given)],
  calibrateTokens: ["maxReports", (given) => providers.calibrateTokens(given)],
  createTokenCounter: ["calibration", (given) => providers.createTokenCounter(given)],
  infer: ["maxAnswerBytes", (given) => providers.infer(model, { model: "m", messages: [] }, given)],
  costOf: [
    "batch",
    (given) =>
      providers.costOf({ inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 }, null, given),
  ],
  createAiSdkProvider: ["name", (given) => createAiSdkProvider(() => expect.fail(), given)],
  createAnthropicProvider: ["baseUrl", (given) => createAnthropicProvider(given)],
  createGeminiProvider: ["baseUrl", (given) => createGeminiProvider(given)],
  createOllamaProvider: ["contextLength", (given) => createOllamaProvider(given)],
  createOpenAiChatProvider: ["maxTokensField", (given) => createOpenAiChatProvider(given)],
  createOpenAiCompatibleProvider: ["apiKey", (given) => createOpenAiCompatibleProvider(Object.assign(given, { vendor: "groq" }))],
  createOpenAiResponsesProvider: ["apiKey", (given) => createOpenAiResponsesProvider(given)],
  createGeminiEmbedder: ["maxBatchTexts", (given) => createGeminiEmbedder(given)],
  createOllamaEmbedder: ["truncate", (given) => createOllamaEmbedder(given)],
  createOpenAiEmbedder: ["concurrency", (given) => createOpenAiEmbedder(given)],
  createMcpServer: ["pageSize", (given) => mcp.createMcpServer(Object.assign(given, { name: "s", version: "1" }))],
  serveMcpHttp: ["rateLimit", (given) => mcp.serveMcpHttp(mcpServer, given)],
  serveMcpStdio: ["input", (given) => mcp.serveMcpStdio(mcpServer, given)],
  operatorToTool: ["operator", (given) => tools.operatorToTool(given)],
  toolToOperator: ["graceMs", (given) => tools.toolToOperator(tool, given)],
  mockExecutionContext: ["deadline", (given) => testing.mockExecutionContext(given)],
  mockStateStore: ["entries", (given) => testing.mockStateStore(given)],
  scriptedModel: ["wire", (given) => testing.scriptedModel([], given)],
  chaos: ["maxRuns", (given) => testing.chaos({ agent, input: "Go." }, given)],
  createDisturbance: ["plan", (given) => testing.createDisturbance(given)],
  recordCassette: ["patterns", (given) => testing.recordCassette(given)],
  replayCassette: ["secrets", (given) => testing.replayCassette({ interactions: [] } as never, given)],
  startModelServer: ["port", (given) => testing.startModelServer([] as never, given)],
};

/** Take what looks like options, and use no name that others could misspell unseen. */
const WITHOUT_A_CHECK: { readonly [name: string]: string } = {
  defineTool: "is called on its definition, which may have members of its author's own",
  defineEffectTool: "is called on its definition, which may have members of its author's own",
  definePlugin: "is called on its definition, which may have members of its author's own",
  checkOptionNames: "is the check",
  mockTool: "takes the fields of a tool",
  executeLeaf: "is a step of the loop: its options go on with more than it reads",
  planBatches: "is a step of the loop, asked for every response",
  compileRequest: "is a step of the loop, asked for every request",
  foldInferEvents: "is a step of the loop, made for every response",
  readRecords: "is given what `EventLog.read` was given, by a store",
  describeEngine: "is a suite of tests, which is written once and shows what it runs",
  describeEnvironment: "is a suite of tests, which is written once and shows what it runs",
  describeExecutor: "is a suite of tests, which is written once and shows what it runs",
  describeVfs: "is a suite of tests, which is written once and shows what it runs",
  reactLoop: "takes the parts of a loop, which do not work where one is missing",
};

describe("an option that is misspelt", () => {
  it.each(Object.entries(FUNCTIONS))("is refused by %s, which names the one that was meant", async (_name, [meant, call]) => {
    const misspelt = `${meant}z`;
    const error: unknown = await Promise.resolve()
      .then(() => call({ [misspelt]: 1 } as never))
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    if (!AgentError.is(error, "invalid-option")) throw new Error("it was not refused", { cause: error });
    expect(error.failure.option).toBe(misspelt);
    expect(error.message).toMatch(new RegExp(`[Dd]id you mean "${meant}"`));
  });

  it("is refused by each function of the library that takes options, or it is told here why not; and no such option is exact", () => {
    const surface = readPublicSurface();
    const taking = surface.functions.filter(({ parameters }) => parameters.some((type) => /(Options|Definition|Methods)\b/.test(type)));
    expect(taking.length).toBeGreaterThan(50);
    const known = [...Object.keys(FUNCTIONS), ...Object.keys(WITHOUT_A_CHECK)];
    expect(taking.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
    // An option that may be left out may be `undefined`.
    expect(surface.exactMembers).toEqual([]);
  }, 60_000);
});
