import fc from "fast-check";
import type { PluginEventType } from "keelson/agent";
import { TOOL_NAMES, type ToolName } from "./tool-names.ts";

/** What the agents of a story have beside tools and rules. Each part is there in some stories only. */
export interface Features {
  readonly hooks: readonly HookPlan[];
  readonly beforeTurn: (CallbackPlan & { readonly aborts: boolean }) | undefined;
  readonly afterTurn: CallbackPlan | undefined;
  readonly plugins: readonly PluginPlan[];
  readonly middleware: readonly MiddlewarePlan[];
  readonly strategy: StrategyPlan | undefined;
  readonly signals: SignalsPlan | undefined;
  readonly effects: EffectsPlan | undefined;
  readonly background: BackgroundPlan;
  readonly budgets: BudgetsPlan | undefined;
  readonly output: OutputPlan | undefined;
  /** Whether the child agent has them, too: all but strategy and output. */
  readonly shared: boolean;
}

/** How a callback does its work; the last four from its `from`th call on, before that as `async`. */
export type Conduct = "sync" | "async" | "slow" | "throw" | "reject" | "nonsense" | "hang";
export interface CallbackPlan {
  readonly conduct: Conduct;
  readonly from: number;
}

export const HOOK_POINTS = [
  "pre-tool-use",
  "post-tool-use",
  "post-tool-use-failure",
  "notification",
  "subagent-start",
  "subagent-stop",
  "pre-compact",
  "post-compact",
  "session-start",
  "session-end",
] as const;

export interface HookPlan extends CallbackPlan {
  readonly point: (typeof HOOK_POINTS)[number];
  readonly pattern: string;
  /** Used where hooks of this point decide something. */
  readonly guard: boolean;
  /** From the `from`th call on; before that it continues. */
  readonly result: "continue" | "abort" | "abort-run" | "ask" | "tell";
}

export type DirectiveKind =
  | "emit"
  | "spawn-agent"
  | "stop-child"
  | "spawn-task"
  | "stop-task"
  | "run-instruction"
  | "custom"
  | "unknown-instruction"
  | "stop";

export interface PluginPlan {
  readonly callbacks: { readonly [K in "beforeRun" | "onUserMessage" | "onEvent" | "afterRun"]: CallbackPlan | undefined };
  readonly directives: readonly DirectiveKind[];
  /** Of onEvent, where it has one; all of them without. */
  readonly events: readonly PluginEventType[] | undefined;
}

export interface MiddlewarePlan extends CallbackPlan {
  readonly does: "append" | "replace" | "context" | "terminate" | "mark";
}

export const STATES = ["a", "b", "c"] as const;
export type StateName = (typeof STATES)[number];
export interface StrategyPlan {
  readonly kind: "fsm" | "direct";
  readonly transitions: readonly {
    readonly from: StateName;
    readonly action: string;
    readonly to: StateName;
    readonly guard: "none" | "even" | "odd" | "never" | "throw";
    readonly priority: number;
  }[];
  readonly everywhere: readonly ToolName[];
  readonly inA: readonly ToolName[];
}

/** An action of the machines that is no tool: the model takes it with `transition`. */
export const OFFERED = "advance";

export interface SignalsPlan {
  readonly routes: readonly {
    readonly tier: "strategy" | "agent" | "plugin";
    readonly kind: string;
    readonly action: "continue" | "graceful-stop" | "force-stop" | "transition" | "custom";
    readonly priority: number;
    readonly predicate: "none" | "never" | "throw";
  }[];
  readonly handler: CallbackPlan & { readonly responds: "nothing" | "message" | "transition" | "graceful-stop" | "force-stop" };
}

export type EffectKind = DirectiveKind | "observation" | "log" | "progress" | "artifact" | "write-memory" | "custom-effect" | "endless";
export interface EffectsPlan {
  /** What calls of the effect tool declare, in turns. */
  readonly declared: readonly EffectKind[];
  readonly executor: CallbackPlan;
  readonly filter: "none" | "pass" | "suppress" | "throw" | "change";
}

export interface BackgroundPlan {
  readonly task: CallbackPlan;
}

export interface BudgetsPlan {
  readonly maxCost: string | undefined;
  readonly maxTokens: number | undefined;
  readonly shared:
    | {
        readonly maxCost?: string;
        readonly maxTurns?: number;
        readonly maxToolCalls?: number;
        readonly maxModelCalls?: number;
      }
    | undefined;
  /** Whether the ledger outlives the processes. */
  readonly lasts: boolean;
}

export interface OutputPlan {
  readonly mode: "tool" | "native" | "prompt" | "custom";
  readonly check: CallbackPlan;
  readonly maxRepairs: number;
}

export const NO_FEATURES: Features = {
  hooks: [],
  beforeTurn: undefined,
  afterTurn: undefined,
  plugins: [],
  middleware: [],
  strategy: undefined,
  signals: undefined,
  effects: undefined,
  background: { task: { conduct: "sync", from: 0 } },
  budgets: undefined,
  output: undefined,
  shared: false,
};

const SIMPLE_FIRST = { withCrossShrink: true };

/** Most lives have few of the features, some have many. */
function sometimes<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof(SIMPLE_FIRST, { weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
}

function several<T>(value: fc.Arbitrary<T>, maxLength: number): fc.Arbitrary<readonly T[]> {
  return fc.oneof(
    SIMPLE_FIRST,
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(value, { minLength: 1, maxLength, size: "max" }) },
  );
}

/** What ends runs early is rare, so that several features get to meet. */
function mostly<T>(usual: readonly T[], rare: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(SIMPLE_FIRST, { weight: 24, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });
}

const callback = {
  conduct: mostly<Conduct>(["sync", "async", "async", "slow"], ["throw", "reject", "nonsense"]),
  from: fc.nat({ max: 3 }),
};
/** Of what has a timeout, or is cancelled. */
const patient = { ...callback, conduct: mostly<Conduct>(["sync", "async", "slow"], ["throw", "reject", "nonsense", "hang"]) };
const plan: fc.Arbitrary<CallbackPlan> = fc.record(callback);
const tool = fc.constantFrom<ToolName>(...TOOL_NAMES);
const directive = mostly<DirectiveKind>(
  ["emit", "spawn-agent", "stop-child", "spawn-task", "stop-task", "run-instruction", "custom", "unknown-instruction"],
  ["stop"],
);

export const features: fc.Arbitrary<Features> = fc.record({
  hooks: several(
    fc.record<HookPlan>({
      ...patient,
      point: fc.constantFrom(...HOOK_POINTS, "pre-tool-use", "pre-tool-use", "pre-tool-use", "post-tool-use"),
      pattern: fc.constantFrom("*", "*", "w*", "s*", "helper*"),
      guard: fc.boolean(),
      result: mostly(["continue", "ask", "tell", "abort", "abort"], ["abort-run"]),
    }),
    4,
  ),
  beforeTurn: sometimes(fc.record({ ...callback, aborts: mostly([false], [true]) })),
  afterTurn: sometimes(plan),
  plugins: several(
    fc.record<PluginPlan>({
      callbacks: fc.record({
        beforeRun: sometimes(plan),
        onUserMessage: sometimes(plan),
        onEvent: sometimes(plan),
        afterRun: sometimes(plan),
      }),
      directives: fc.array(directive, { maxLength: 2 }),
      events: sometimes(fc.subarray<PluginEventType>(["message", "turn-end", "tool-result", "run-resume", "run-result"], { minLength: 1 })),
    }),
    2,
  ),
  middleware: several(fc.record<MiddlewarePlan>({ ...callback, does: mostly(["append", "replace", "context", "mark"], ["terminate"]) }), 2),
  strategy: sometimes(
    fc.record<StrategyPlan>({
      kind: mostly(["fsm"], ["direct"]),
      transitions: fc.array(
        fc.record({
          from: fc.constantFrom(...STATES),
          action: fc.oneof(tool as fc.Arbitrary<string>, fc.constant(OFFERED)),
          to: fc.constantFrom(...STATES),
          guard: mostly(["none", "even", "odd", "never"], ["throw"]),
          priority: fc.integer({ min: -1, max: 2 }),
        }),
        { minLength: 1, maxLength: 8, size: "max" },
      ),
      everywhere: fc.uniqueArray(tool, { minLength: 2, maxLength: 8, size: "max" }),
      inA: fc.uniqueArray(tool, { maxLength: 4 }),
    }),
  ),
  signals: sometimes(
    fc.record<SignalsPlan>({
      routes: fc.array(
        fc.record({
          tier: fc.constantFrom("strategy", "agent", "plugin"),
          kind: fc.constantFrom("stop", "user-message", "timer", "order"),
          action: mostly(["continue", "transition", "custom", "custom"], ["graceful-stop", "force-stop"]),
          priority: fc.integer({ min: -1, max: 2 }),
          predicate: mostly(["none", "never"], ["throw"]),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      handler: fc.record({ ...callback, responds: mostly(["nothing", "message", "transition"], ["graceful-stop", "force-stop"]) }),
    }),
  ),
  effects: sometimes(
    fc.record<EffectsPlan>({
      declared: fc.array(
        fc.oneof(
          directive as fc.Arbitrary<EffectKind>,
          fc.constantFrom<EffectKind>("observation", "log", "progress", "artifact", "write-memory", "custom-effect"),
          mostly<EffectKind>(["observation"], ["endless"]),
        ),
        { minLength: 1, maxLength: 4 },
      ),
      executor: fc.record({ ...callback, conduct: mostly<Conduct>(["sync", "async", "slow"], ["throw", "reject", "nonsense", "hang"]) }),
      filter: mostly(["none", "pass", "change"], ["suppress", "throw"]),
    }),
  ),
  background: fc.record({ task: fc.record(patient) }),
  budgets: sometimes(
    fc.record<BudgetsPlan>({
      maxCost: sometimes(fc.constantFrom("0.03", "0.06", "0.2")),
      maxTokens: sometimes(fc.constantFrom(9_000, 20_000, 100_000)),
      shared: sometimes(
        fc.record(
          {
            maxCost: fc.constantFrom("0.03", "0.1"),
            maxTurns: fc.integer({ min: 1, max: 6 }),
            maxToolCalls: fc.integer({ min: 0, max: 8 }),
            maxModelCalls: fc.integer({ min: 1, max: 8 }),
          },
          { requiredKeys: [] },
        ),
      ),
      lasts: fc.boolean(),
    }),
  ),
  output: sometimes(
    fc.record<OutputPlan>({
      mode: fc.constantFrom("tool", "native", "prompt", "custom"),
      check: plan,
      maxRepairs: fc.nat({ max: 3 }),
    }),
  ),
  shared: fc.boolean(),
}) as fc.Arbitrary<Features>;
