import { describe, expectTypeOf, it } from "vitest";
import type {
  AgentEvent,
  AgentError,
  AgentFailure,
  Approver,
  BlobStore,
  BudgetLedger,
  CallId,
  Content,
  DurableEvent,
  Effect,
  Environment,
  EventLog,
  Executor,
  InboxMessage,
  Json,
  JsonObject,
  JsonValue,
  DirectiveFailure,
  ModelError,
  ModelFailure,
  Operator,
  OperatorConfig,
  OperatorInput,
  OperatorMetadata,
  OperatorOutput,
  Orchestrator,
  Provider,
  RecordedError,
  RecordedEvent,
  RecordedFailure,
  RunId,
  SecretResolver,
  SerializedError,
  SessionId,
  SessionMetadata,
  StateReader,
  StateStore,
  StepResult,
  ExecutionContext,
  SystemPromptConfig,
  Tool,
  TransientEvent,
  Usd,
  Vfs,
  eventCodec,
} from "./index.ts";

describe("what stands in logs and goes over wires", () => {
  it("is JSON by its type, so that nobody has to cast it", () => {
    expectTypeOf<DurableEvent>().toExtend<JsonObject>();
    expectTypeOf<TransientEvent>().toExtend<JsonObject>();
    expectTypeOf<RecordedEvent>().toExtend<JsonObject>();
    expectTypeOf<InboxMessage>().toExtend<JsonObject>();
    expectTypeOf<Effect>().toExtend<JsonObject>();
    expectTypeOf<OperatorInput>().toExtend<JsonObject>();
    expectTypeOf<OperatorOutput>().toExtend<JsonObject>();
    expectTypeOf<SerializedError>().toExtend<JsonObject>();
    expectTypeOf<StepResult<string>>().toExtend<JsonObject>();
  });
});

describe("published unions", () => {
  it("of what a run shows are closed: a switch over all events needs no default", () => {
    const withoutDefault = (event: AgentEvent): string => {
      switch (event.type) {
        case "run-start":
        case "run-resume":
        case "run-suspend":
        case "turn-start":
        case "message":
        case "tool-calls-start":
        case "tool-result":
        case "tool-calls-complete":
        case "tool-unknown":
        case "approval-request":
        case "approval-decision":
        case "child-start":
        case "child-end":
        case "inbox-read":
        case "steer":
        case "state-update":
        case "directive":
        case "usage":
        case "budget":
        case "rate-limit":
        case "task":
        case "suggestion":
        case "compaction":
        case "retry":
        case "model-switch":
        case "permission-mode-switch":
        case "effort-switch":
        case "definition-change":
        case "turn-end":
        case "run-result":
        case "run-complete":
        case "error":
        case "text-start":
        case "text-delta":
        case "text-end":
        case "thinking-start":
        case "thinking-delta":
        case "thinking-end":
        case "tool-call-start":
        case "tool-call-delta":
        case "tool-call-end":
        case "tool-progress":
        case "tool-end":
        case "content":
        case "status":
        case "gap":
        case "detached":
          return "known";
      }
    };
    expectTypeOf(withoutDefault).returns.toBeString();
    expectTypeOf<AgentEvent["type"]>().toExtend<string>();
  });

  it("of what is read from logs and other processes are open: a switch must answer for a later version [GEN-01, GEN-02, LA-08]", () => {
    // @ts-expect-error a member of a later version falls through
    const withoutOther = (event: RecordedEvent): string => {
      switch (event.type) {
        case "run-start":
        case "run-resume":
        case "run-suspend":
        case "turn-start":
        case "message":
        case "tool-calls-start":
        case "tool-result":
        case "tool-calls-complete":
        case "tool-unknown":
        case "approval-request":
        case "approval-decision":
        case "child-start":
        case "child-end":
        case "inbox-read":
        case "steer":
        case "state-update":
        case "directive":
        case "usage":
        case "budget":
        case "rate-limit":
        case "task":
        case "suggestion":
        case "compaction":
        case "retry":
        case "model-switch":
        case "permission-mode-switch":
        case "effort-switch":
        case "definition-change":
        case "turn-end":
        case "run-result":
        case "run-complete":
        case "error":
        case "text-start":
        case "text-delta":
        case "text-end":
        case "thinking-start":
        case "thinking-delta":
        case "thinking-end":
        case "tool-call-start":
        case "tool-call-delta":
        case "tool-call-end":
        case "tool-progress":
        case "tool-end":
        case "content":
        case "status":
        case "gap":
        case "detached":
          return "known";
      }
    };
    const withDefault = (event: RecordedEvent): string => {
      switch (event.type) {
        case "run-complete":
          return event.text;
        case "other":
          return JSON.stringify(event.raw);
        default:
          return "";
      }
    };
    expectTypeOf(withoutOther).toBeFunction();
    expectTypeOf(withDefault).returns.toBeString();
    expectTypeOf<AgentEvent>().toExtend<RecordedEvent>();
    expectTypeOf<ReturnType<typeof eventCodec.decode>>().toEqualTypeOf<RecordedEvent>();
  });

  it("tell failures of closed kinds, where they are of a run of this version [GEN-02, ET-15]", () => {
    const known = (failure: AgentFailure): string => {
      switch (failure.kind) {
        case "session":
        case "detached":
          return failure.session;
        case "model":
        case "tool":
        case "strategy":
        case "middleware":
        case "directive":
        case "backend":
        case "panic":
        case "budget-exceeded":
        case "invalid-option":
        case "invalid-output":
        case "invalid-token":
        case "bug":
        case "other":
          return failure.message;
      }
    };
    expectTypeOf(known).returns.toBeString();
    expectTypeOf<Extract<AgentEvent, { readonly type: "error" }>["failure"]>().toEqualTypeOf<AgentFailure>();
    expectTypeOf<AgentError["failure"]>().toEqualTypeOf<AgentFailure>();
    expectTypeOf<ModelError["failure"]>().toEqualTypeOf<ModelFailure>();
  });

  it("tell failures of open kinds, where they are read from logs and other processes [GEN-02, ET-15]", () => {
    // @ts-expect-error a kind of a later version falls through
    const forgets = (failure: RecordedFailure<DirectiveFailure>): string => {
      switch (failure.kind) {
        case "execution-failed":
        case "unsupported":
        case "rejected":
        case "unknown-payload":
        case "other":
          return "known";
      }
    };
    const textOf = (failure: RecordedFailure<DirectiveFailure>): string => {
      switch (failure.kind) {
        case "rejected":
          return failure.by;
        default:
          return failure.message;
      }
    };
    expectTypeOf(forgets).toBeFunction();
    expectTypeOf(textOf).returns.toBeString();
    expectTypeOf<Extract<RecordedEvent, { readonly type: "error" }>["failure"]>().toEqualTypeOf<RecordedFailure<AgentFailure>>();
    expectTypeOf<ReturnType<typeof ModelError.fromJSON>["failure"]>().toEqualTypeOf<RecordedFailure<ModelFailure>>();
    expectTypeOf<AgentError>().toExtend<RecordedError<AgentError>>();
    expectTypeOf<RecordedError<AgentError>>().not.toExtend<AgentError>();
  });

  it("narrow by their type all the same", () => {
    const narrow = (event: AgentEvent): void => {
      if (event.type === "text-delta") expectTypeOf(event.text).toBeString();
      if (event.type === "tool-result") expectTypeOf(event.callId).toEqualTypeOf<CallId>();
      if (event.type === "run-complete") expectTypeOf(event.cost).toEqualTypeOf<Usd | null>();
    };
    expectTypeOf(narrow).toBeFunction();
  });

  it("of failures narrow by their kind to what the kind carries [ET-17]", () => {
    expectTypeOf<Extract<AgentFailure, { kind: "budget-exceeded" }>>().toExtend<{ limitUsd: Usd; spentUsd: Usd }>();
    expectTypeOf<Extract<AgentFailure, { kind: "model" }>["model"]>().toEqualTypeOf<ModelFailure>();
  });
});

describe("the interfaces of layer 0", () => {
  it("are met by plain objects and used without type parameters [TE-05, PV-01, OP-01, LA-05]", () => {
    const execute: Operator["execute"] = async () => ({
      message: [],
      exitReason: { type: "complete" },
      metadata: {} as OperatorMetadata,
      effects: [],
    });
    const reader = { read: async () => undefined, list: async () => [], search: async () => [] };
    const objects: readonly [Operator, Provider, SecretResolver, Approver, StateReader, StateStore, Environment, Executor] = [
      { execute },
      { name: "p", wire: "w", async *stream() {} },
      { resolve: async (reference) => reference },
      () => undefined,
      reader,
      { ...reader, write: async () => 1, delete: async () => {}, async [Symbol.asyncDispose]() {} },
      { run: (input, _spec, context) => execute(input, context) },
      {
        execute: async () => ({
          exitCode: 0,
          signal: null,
          stdout: "",
          stderr: "",
          stdoutBytes: 0,
          stderrBytes: 0,
          timedOut: false,
          durationMs: 0,
        }),
      },
    ];
    expectTypeOf(objects[0].execute).returns.resolves.toHaveProperty("effects");
    // One value of each, whatever it is about: no `Operator<In, Out>`, no `Provider<Model>`.
    expectTypeOf<readonly [Operator, Orchestrator, Environment, StateStore, EventLog, BlobStore, BudgetLedger, Vfs, Provider]>().toExtend<
      readonly object[]
    >();
  });

  it("let tools of different inputs share one array", () => {
    const tools = (a: Tool<{ readonly path: string }>, b: Tool<number>): readonly Tool[] => [a, b];
    expectTypeOf(tools).toBeFunction();
    expectTypeOf<Tool<{ readonly path: string }>>().toExtend<Tool>();
  });

  it("give operators a reader, which can't write [LA-03, ST-02]", () => {
    expectTypeOf<StateStore>().toExtend<StateReader>();
    expectTypeOf<StateReader>().not.toHaveProperty("write");
  });
});

describe("values", () => {
  it("of different ids don't mix, and are strings all the same [OP-10]", () => {
    expectTypeOf<RunId>().not.toExtend<SessionId>();
    expectTypeOf<string>().not.toExtend<CallId>();
    expectTypeOf<CallId>().toBeString();
  });

  it("of state are JSON, not type parameters [LA-09]", () => {
    expectTypeOf<Parameters<StateStore["write"]>[2]>().toEqualTypeOf<JsonValue>();
  });

  it("of steps must survive JSON", () => {
    interface Result {
      readonly text: string;
      readonly parts: readonly { readonly n: number | null }[];
      readonly note?: string;
    }
    expectTypeOf<Result>().toExtend<Json<Result>>();
    expectTypeOf<Content>().toExtend<Json<Content>>();
    expectTypeOf<Json<Map<string, string>>>().toBeNever();
    expectTypeOf<Json<bigint>>().toBeNever();
    expectTypeOf<Json<Uint8Array>>().toBeNever();
    expectTypeOf<{ readonly when: Date }>().not.toExtend<Json<{ readonly when: Date }>>();
    expectTypeOf<() => void>().not.toExtend<Json<() => void>>();
    const use = async (context: ExecutionContext): Promise<void> => {
      expectTypeOf(await context.step("k", async () => ({ a: 1 }))).toExtend<StepResult<{ a: number }>>();
      // @ts-expect-error a map does not survive the log
      await context.step("k", async () => new Map<string, string>());
      // @ts-expect-error nor does a function inside
      await context.step("k", async () => ({ again: () => 1 }));
    };
    expectTypeOf(use).toBeFunction();
  });

  it("of money are not numbers [LA-07]", () => {
    expectTypeOf<number>().not.toExtend<NonNullable<OperatorConfig["maxCost"]>>();
    expectTypeOf<OperatorMetadata["cost"]>().toEqualTypeOf<Usd>();
    expectTypeOf<SessionMetadata["cost"]>().toEqualTypeOf<Usd | null>();
  });

  it("of the system prompt append to the base or replace it [MC-07]", () => {
    expectTypeOf<SystemPromptConfig["type"]>().toEqualTypeOf<"append" | "replace">();
    expectTypeOf<SystemPromptConfig["content"]>().toBeString();
  });
});
