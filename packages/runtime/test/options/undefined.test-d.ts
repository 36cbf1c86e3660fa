import type {
  DispatchOptions,
  EmbedOptions,
  InferOptions,
  PermissionPolicy,
  ReserveOptions,
  SearchOptions,
  SensitivePaths,
  StoreOptions,
} from "@keelson/protocol";
import type { AgentChanges, AgentLimits, AgentOptions, AgentToolOptions, ModelRegistryOptions, RunnerOptions, RunOptions } from "keelson";
import type {
  FsmStrategyOptions,
  HandoffOptions,
  HookOptions,
  HooksFromJsonOptions,
  ReactLoopOptions,
  ShellHookOptions,
  WaitForSignalOptions,
} from "keelson/agent";
import type { BudgetGuardOptions, SingleShotOptions } from "keelson/context";
import type { DiskVfsOptions, ProcessExecutorOptions } from "keelson/environment";
import type { StackOptions, WithDispatchMiddlewareOptions } from "keelson/middleware";
import type {
  DelegateOptions,
  EffectExecutorOptions,
  FanInOptions,
  FanOutOptions,
  HandoffPatternOptions,
  LocalEffectExecutorOptions,
  LocalOrchestratorOptions,
  ObserveOptions,
  PatternOptions,
  SchedulerOptions,
} from "keelson/orchestration";
import type { CalibrationOptions, CircuitBreakerOptions, CostOptions, InferCallOptions, RateLimiterOptions } from "keelson/providers";
import type { ExecutionOptions, JournalOptions } from "keelson/session";
import type { AiSdkOptions } from "keelson/providers/ai-sdk";
import type { AnthropicOptions } from "keelson/providers/anthropic";
import type { EmbedderOptions, OllamaEmbedderOptions } from "keelson/providers/embeddings";
import type { ProviderOptions } from "keelson/providers/gemini";
import type { OllamaOptions } from "keelson/providers/ollama";
import type { OpenAiChatOptions } from "keelson/providers/openai-chat";
import type { OpenAiCompatibleOptions } from "keelson/providers/openai-compatible";
import type {
  MemoryBlobStoreOptions,
  MemoryBudgetLedgerOptions,
  MemoryEventLogOptions,
  SqliteBlobStoreOptions,
  SqliteBudgetLedgerOptions,
  SqliteEventLogOptions,
} from "keelson/state";
import type {
  MockExecutionContextOptions,
  MockStateStoreOptions,
  ModelServerOptions,
  RecordOptions,
  ScriptedModelOptions,
} from "keelson/testing";
import { describe, expectTypeOf, it } from "vitest";

/** The options that may be left out, and still can't be given as `undefined`. */
type Exact<Options> = {
  [Name in keyof Options]-?: {} extends Pick<Options, Name> ? (undefined extends Required<Options>[Name] ? never : Name) : never;
}[keyof Options];

/** All that users write for the functions of the library. */
interface Inputs {
  createAgent: AgentOptions;
  limits: AgentLimits;
  settings: NonNullable<AgentOptions["settings"]>;
  permissions: NonNullable<AgentOptions["permissions"]>;
  sensitivePaths: Exclude<SensitivePaths, false>;
  with: AgentChanges;
  createRunner: RunnerOptions;
  run: RunOptions;
  runLimits: NonNullable<RunOptions["limits"]>;
  budgets: NonNullable<RunOptions["budgets"]>[number];
}
type Others =
  | [DispatchOptions, EmbedOptions, InferOptions, InferCallOptions, PermissionPolicy, ReserveOptions]
  | [SearchOptions, StoreOptions, ReactLoopOptions, ExecutionOptions, JournalOptions]
  | [AgentToolOptions, FsmStrategyOptions, HandoffOptions, HookOptions, HooksFromJsonOptions, ShellHookOptions, WaitForSignalOptions]
  | [BudgetGuardOptions, SingleShotOptions, DiskVfsOptions, ProcessExecutorOptions, StackOptions, WithDispatchMiddlewareOptions]
  | [DelegateOptions, EffectExecutorOptions, FanInOptions, FanOutOptions, HandoffPatternOptions, LocalEffectExecutorOptions]
  | [LocalOrchestratorOptions, ObserveOptions, PatternOptions, SchedulerOptions, ModelRegistryOptions]
  | [CalibrationOptions, CircuitBreakerOptions, CostOptions, RateLimiterOptions, AiSdkOptions, AnthropicOptions, EmbedderOptions]
  | [OllamaEmbedderOptions, ProviderOptions, OllamaOptions, OpenAiChatOptions, OpenAiCompatibleOptions]
  | [MemoryBlobStoreOptions, MemoryBudgetLedgerOptions, MemoryEventLogOptions]
  | [SqliteBlobStoreOptions, SqliteBudgetLedgerOptions, SqliteEventLogOptions]
  | [MockExecutionContextOptions, MockStateStoreOptions, ModelServerOptions, RecordOptions, ScriptedModelOptions];
type EachExact<List> = List extends readonly (infer Options)[] ? (Options extends unknown ? Exact<Options> : never) : never;

describe("an option that may be left out", () => {
  it("may be `undefined`, also under exactOptionalPropertyTypes", () => {
    expectTypeOf<{ [Input in keyof Inputs]: Exact<Inputs[Input]> }[keyof Inputs]>().toBeNever();
    expectTypeOf<EachExact<Others>>().toBeNever();
  });

  it("is found where it may not", () => {
    expectTypeOf<Exact<{ readonly a?: 1; readonly b?: 2 | undefined; readonly c: 3 }>>().toEqualTypeOf<"a">();
  });
});
