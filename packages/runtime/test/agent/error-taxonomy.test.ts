import {
  AgentError,
  DirectiveError,
  KeelsonError,
  LogError,
  OperatorError,
  OrchestratorError,
  StrategyError,
  type AgentFailure,
  type DirectiveFailure,
  type Effect,
  type EffectContext,
  type ModelFailure,
  type Operator,
  type OperatorFailure,
  type OrchestratorFailure,
  type RunId,
  type StrategyFailure,
} from "@keelson/protocol";
import { createAgent, defineTool, type AgentOptions, type RunnerOptions } from "keelson";
import { closureGuard, createDirectivePayloads, createFilterChain, fsmStrategy, reactLoop } from "keelson/agent";
import { Context, createSingleShotOperator } from "keelson/context";
import { createDispatchStack, denyOperators } from "keelson/middleware";
import { createEffectExecutor, createLocalOrchestrator } from "keelson/orchestration";
import { createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { mockExecutionContext, scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { impatientClock, runnerOf } from "./support.ts";

/** What raises a failure through what users call, or why nothing does. */
type Taxonomy<Failure extends { readonly kind: string }> = { readonly [K in Failure["kind"]]: (() => unknown) | string };

const price = { input: "1000", output: "1000", asOf: "2026-01-01" };
const agentOf = (turns: readonly ScriptedTurn[], options: Partial<AgentOptions<never>> = {}) =>
  createAgent({ name: "a", model: scriptedModel(turns, { price }), ...options } as AgentOptions);
/** The error that a run ends with. */
async function endOf(
  turns: readonly ScriptedTurn[],
  options: Partial<AgentOptions<never>> = {},
  runnerOptions: RunnerOptions = {},
): Promise<never> {
  const outcome = await runnerOf(agentOf(turns, options), runnerOptions).run("go").outcome;
  if (outcome.reason === "error") throw outcome.error;
  throw new Error(`it ended with ${outcome.reason}`);
}
const failing = (error: () => Error): RunnerOptions => {
  const ledger = createMemoryBudgetLedger();
  return { ledger: { ...ledger, reserve: () => Promise.reject(error()) } };
};
const ONE_DOLLAR: Partial<AgentOptions<never>> = { limits: { maxCost: "1" } };

const AGENT: Taxonomy<AgentFailure> = {
  "model": () => endOf([{ error: { kind: "authentication", message: "who are you?" } }]),
  "tool": "a tool that fails is told to the model, and one that can't be offered is a ToolError of defineTool",
  "strategy":
    "what a strategy refuses is told to the model; one that can't be built is a StrategyError of its builder; a guard that throws is a panic",
  "middleware": "middleware that ends a run halts it, and one that throws is a panic",
  "directive": "a directive that is rejected or fails is told to whoever declared it, and to watchers",
  "backend": () => {
    const log = createMemoryEventLog();
    return endOf(["done"], {}, { log: { ...log, append: () => Promise.reject(new LogError({ kind: "full", message: "disk full" })) } });
  },
  "session": () => runnerOf(agentOf([])).resume("nobody"),
  "panic": () =>
    endOf([], {
      instructions: () => {
        throw new Error("no file");
      },
    }),
  "budget-exceeded": "to spend a budget is an expected ending: the outcome's reason is `budget-exhausted`",
  "invalid-option": () => agentOf([], { limits: { maxTurns: 0 } }),
  "invalid-output": () => endOf(["no JSON"], { output: z.object({}) as never, outputMode: "prompt", limits: { maxRepairs: 0 } }),
  "invalid-token": () => runnerOf(agentOf([])).approve("let me in", { type: "allow" }),
  "detached": () => {
    const log = createMemoryEventLog();
    const lost = new LogError({ kind: "stale-epoch", log: "session/s", epoch: 1, currentEpoch: 2, message: "another process has it" });
    return endOf(["done"], {}, { log: { ...log, append: () => Promise.reject(lost) } });
  },
  "bug": () =>
    endOf(
      ["done"],
      ONE_DOLLAR,
      failing(() => new TypeError("x is undefined")),
    ),
  "other": () =>
    endOf(
      ["done"],
      ONE_DOLLAR,
      failing(() => new OperatorError({ kind: "other", message: "odd" })),
    ),
};

const twoStates = () =>
  fsmStrategy()
    .initial("new")
    .transitionWithGuard(
      "new",
      "pay",
      "paid",
      closureGuard("enough", (input) => (input as { readonly cents: number }).cents > 5),
      0,
    )
    .offer("pay")
    .build();
const STRATEGY: Taxonomy<StrategyFailure> = {
  "invalid-transition": () => twoStates().execute("refund", {}),
  "guard-rejected": () => twoStates().execute("pay", { cents: 5 }),
  "no-initial-state": () => fsmStrategy().build(),
  "execution": () => twoStates().execute("pay", null),
  "other": () => closureGuard("", () => true),
};

const EFFECTS: EffectContext = {
  session: "s" as never,
  runId: "r_1" as RunId,
  idempotencyKey: "k",
  signal: new AbortController().signal,
} as never;
const log: Effect = { type: "log", level: "info", message: "hello" } as never;
const custom = (customType: string): Effect => ({ type: "directive", directive: { type: "custom", customType, payload: 1 } }) as never;
const DIRECTIVE: Taxonomy<DirectiveFailure> = {
  "execution-failed": () => createEffectExecutor({ effects: { log: () => Promise.reject(new Error("disk full")) } }).execute(log, EFFECTS),
  "unsupported": () => createEffectExecutor({}).execute(log, EFFECTS),
  "rejected": () =>
    createFilterChain()
      .add({
        name: "none",
        filter: () => {
          throw new Error("not today");
        },
      })
      .applyOrNull({ type: "stop" } as never),
  "unknown-payload": () =>
    createEffectExecutor({ payloads: createDirectivePayloads(), customDirectives: { wake: () => 1 } as never }).execute(
      custom("wake"),
      EFFECTS,
    ),
  "other": () =>
    createEffectExecutor({ effects: { log: () => Promise.reject(new DirectiveError({ kind: "other", message: "its own" })) } }).execute(
      log,
      EFFECTS,
    ),
};

const INPUT = { message: [{ type: "text", text: "go" }], trigger: "user", metadata: {} } as const;
const loopWith = (failure: ModelFailure["kind"]) =>
  reactLoop({
    context: new Context(),
    provider: scriptedModel(Array.from({ length: 5 }, () => ({ error: { kind: failure } as never }))),
    clock: impatientClock(),
  });
const dispatched = async (operator: Operator): Promise<never> => {
  const error: unknown = await createLocalOrchestrator({ operators: { it: operator } })
    .dispatch("it", INPUT)
    .catch((thrown: unknown) => thrown);
  throw OrchestratorError.is(error, "operator-error") ? error.cause : error;
};
const OPERATOR: Taxonomy<OperatorFailure> = {
  "model": () => loopWith("billing"),
  "retryable": () => dispatched(createSingleShotOperator({ provider: scriptedModel([{ error: { kind: "rate-limit" } }]), model: "m" })),
  "non-retryable": () => loopWith("invalid-request"),
  "sub-dispatch": () => {
    const { context } = mockExecutionContext();
    return context.startChild({ key: "child", operator: "nobody", input: INPUT });
  },
  "context-assembly": "what fails while a context is assembled is a rule, and a rule that throws is a panic",
  "halted": async () => {
    const context = new Context({
      rules: [{ name: "stop", trigger: { type: "before", operation: "greet" }, run: () => ({ type: "halt", reason: "enough" }) }],
    });
    await context.run({ type: "greet", execute: () => "hello" });
  },
  "other": () =>
    reactLoop({
      context: new Context({
        rules: [{ name: "odd", trigger: { type: "before", operation: "infer" }, run: () => Promise.reject(new Error("odd")) }],
      }),
      provider: scriptedModel([]),
    }),
};

const idle: Operator = {
  execute: (_input, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
};
const nest: Operator = { execute: (_input, context) => context.startChild({ key: "child", operator: "nest", input: INPUT }) };
const orchestrator = () =>
  createLocalOrchestrator({ operators: { idle, nest, broken: { execute: () => Promise.reject(new Error("odd")) } } });
const ORCHESTRATOR: Taxonomy<OrchestratorFailure> = {
  "operator-not-found": () => orchestrator().dispatch("nobody", INPUT),
  "workflow-not-found": () => orchestrator().attach("r_nobody" as RunId),
  "dispatch-failed": () => orchestrator().dispatch("nest", INPUT, { authority: { policies: [], depth: 0 } }),
  "signal-failed": async () => {
    const over = orchestrator();
    const id = await over.start("broken", INPUT);
    await over.attach(id).catch(() => {});
    await over.signal(id, { kind: "stop", payload: null });
  },
  "operator-error": () => orchestrator().dispatch("broken", INPUT),
  "policy-denied": () =>
    createLocalOrchestrator({
      operators: { idle },
      middleware: createDispatchStack()
        .guard(denyOperators(["idle"]))
        .build(),
    }).dispatch("idle", INPUT),
  "cancelled": async () => {
    const working = orchestrator();
    const id = await working.start("idle", INPUT);
    await working.cancel(id, "abort");
    await working.attach(id);
  },
  "other": async () => {
    const working = orchestrator();
    const id = await working.start("idle", INPUT);
    try {
      await working.query(id, { name: "weather", params: {} });
    } finally {
      await working.cancel(id, "abort");
      await working.attach(id).catch(() => {});
    }
  },
};

describe.each([
  [AgentError, AGENT],
  [StrategyError, STRATEGY],
  [DirectiveError, DIRECTIVE],
  [OperatorError, OPERATOR],
  [OrchestratorError, ORCHESTRATOR],
] as const)("%o", (Class, taxonomy) => {
  const raised = Object.entries<(() => unknown) | string>(taxonomy).filter(
    (entry): entry is [string, () => unknown] => typeof entry[1] === "function",
  );

  it.each(raised)("of kind %s is what users get [ET-02, ET-03]", async (kind, raise) => {
    let error: unknown;
    try {
      await raise();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(KeelsonError);
    expect({ name: (error as Error).name, kind: (error as KeelsonError).failure.kind }).toEqual({ name: Class.name, kind });
    expect((error as Error).message).not.toBe("");
  });
});

it("is a panic of the code that threw, also of what a tool tells rules about its arguments [ET-06]", async () => {
  const tool = defineTool({
    name: "shell",
    description: "Runs a command.",
    input: z.object({ command: z.string() }),
    permissionText: () => {
      throw new Error("no such shell");
    },
    execute: () => "",
  });
  const outcome = await runnerOf(
    agentOf([{ toolCalls: [{ name: "shell", input: { command: "ls" } }] }], {
      tools: [tool],
      permissions: { rules: [{ pattern: "shell(ls*)", behavior: "allow" }] },
    }),
  ).run("go").outcome;
  expect(outcome.error?.failure).toMatchObject({
    kind: "panic",
    callback: "permissionText of shell",
    message: expect.stringContaining("no such shell"),
  });
});
