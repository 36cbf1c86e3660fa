import type { Decision, ModelFailure, PermissionMode, StopReason } from "@keelson/protocol";
import fc from "fast-check";
import { features, type Features } from "./features.ts";
import type { Crash } from "./simulated-process.ts";
import { TOOL_NAMES, type ToolName } from "./tool-names.ts";

/** Everything that is random about one life of a run. */
export interface Story {
  readonly turns: readonly PlannedResponse[];
  readonly childTurns: readonly PlannedResponse[];
  readonly fallbackTurns: readonly PlannedResponse[];
  readonly mode: PermissionMode;
  readonly verdicts: Readonly<Partial<Record<ToolName, "allow" | "deny" | "ask">>>;
  readonly limits: Limits;
  readonly approvals: Approving;
  readonly acts: readonly Act[];
  readonly watchers: readonly WatcherPlan[];
  readonly callbacks: Callbacks;
  readonly onMaxTokens: "end" | "continue";
  readonly compacts: boolean;
  readonly loopGuard: boolean;
  /** An append of the session's log that fails: before it happened, or after it did. */
  readonly fault: { readonly at: number; readonly done: boolean } | undefined;
  readonly features: Features;
  /** Where the first processes die; one more lives to the end. */
  readonly crashes: readonly Crash[];
  /** How long a call that waits for a signal does so before the run suspends. */
  readonly signalWaitMs: number;
}

export interface PlannedResponse {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls: readonly { readonly name: string; readonly input: "good" | "empty" | "truncated" | "no-object" | "repairable" }[];
  readonly stopReason?: StopReason;
  readonly error?: { readonly kind: ModelFailure["kind"]; readonly retryAfterMs?: number };
  /** How long the model thinks; infinite: until it is cancelled. */
  readonly waitMs?: number;
  readonly chunkSize?: number;
  /** What the vendor counts, as far as the request allows it. */
  readonly outputTokens?: number;
}

export interface Limits {
  readonly maxTurns: number;
  readonly maxRetries: number;
  readonly maxModelCalls: number | undefined;
  readonly maxToolCalls: number | undefined;
  readonly maxAnswerBytes: number | undefined;
  readonly maxParallelCalls: number | undefined;
  readonly toolTimeoutMs: number | undefined;
  readonly maxDurationMs: number | undefined;
}

/** Who answers questions, and how. Decisions are used in order, the last again and again. */
export interface Approving {
  readonly by: "callback" | "iterator" | "elsewhere" | "nobody";
  readonly decisions: readonly (Decision["type"] | "nothing" | "throw" | "hang" | "nonsense")[];
  /** An iterator that leaves after so many questions. */
  readonly leavesAfter: number;
  /** Somebody elsewhere decides too, at the same time. */
  readonly rival: boolean;
}

/** What a user does when the log has grown by so many appends. */
export interface Act {
  readonly at: number;
  readonly lag: 0 | 1 | 2;
  readonly do:
    | "stop"
    | "abort"
    | "signal"
    | "steer"
    | "interrupt"
    | "set-model"
    | "set-unknown-model"
    | "set-plan-only"
    | "set-bypass-all"
    | "set-effort"
    | "watch"
    | "watch-past"
    | "leave"
    | SupervisingAct;
}
type SupervisingAct = "stop-child" | "retry-child" | "signal-stop" | "signal-user-message" | "signal-timer" | "signal-order";

export interface WatcherPlan {
  /** `seen`: behind the last event of the run that it saw in the stretch before; it goes on so from stretch to stretch. */
  readonly after: number | "seen" | undefined;
  /** Reads this many events in a row, then lets the run go on for a while. */
  readonly pace: number;
  readonly leavesAfter: number | undefined;
}

type Trouble = "none" | "throw" | "reject" | "halt" | "change" | "skip" | "inject" | "cycle";
export interface Callbacks {
  readonly maxBufferBytes: number | undefined;
  readonly rule: {
    readonly form: "struct" | "methods" | "none";
    readonly moment: "infer" | "execute-tool" | "exit-check" | "inject-steering" | "append-response" | "compile";
    readonly phase: "before" | "after";
    readonly trouble: Trouble;
    readonly from: number;
  };
  readonly onModelError: "none" | "retry" | "abort" | "switch-model" | "switch-unknown" | "undefined" | "throw" | "nonsense";
  readonly instructions: "text" | "function" | "throw" | "reject" | "number";
  readonly fallback: boolean;
  /** The model ignores that it was cancelled. */
  readonly deafModel: boolean;
}

const call = fc.record({
  name: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom<string>(...TOOL_NAMES, "write", "mark", "send", "note") },
    { weight: 2, arbitrary: fc.constantFrom("no_such_tool", "", "READ", "transition", "final_answer") },
  ),
  input: fc.oneof(
    { weight: 6, arbitrary: fc.constant("good" as const) },
    { weight: 3, arbitrary: fc.constantFrom("empty" as const, "truncated" as const, "no-object" as const, "repairable" as const) },
  ),
});

const failure = fc.record(
  {
    kind: fc.constantFrom<ModelFailure["kind"]>(
      "authentication",
      "billing",
      "rate-limit",
      "rate-limit",
      "server-error",
      "server-error",
      "invalid-request",
      "invalid-response",
      "max-output-tokens",
      "context-overflow",
      "content-blocked",
      "cancelled",
      "other",
    ),
    retryAfterMs: fc.constantFrom(1, 5_000, 120_000),
  },
  { requiredKeys: ["kind"] },
);

const response: fc.Arbitrary<PlannedResponse> = fc.oneof(
  { withCrossShrink: true },
  {
    weight: 16,
    arbitrary: fc.record({
      text: fc.constantFrom("Working.", "", "x".repeat(300)),
      calls: fc.array(call, { minLength: 1, maxLength: 4 }),
      chunkSize: fc.constantFrom(1, 7, 1_000),
      outputTokens: fc.constantFrom(5, 300, 3_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      text: fc.constantFrom("Half an ans", ""),
      calls: fc.constant([]),
      error: failure,
      waitMs: fc.constantFrom(0, 1_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      text: fc.constantFrom("Done.", "", "y".repeat(3_000), '{"n": 1}', '{"n": "one"}'),
      thinking: fc.constantFrom("Hm.", ""),
      calls: fc.constant([]),
      chunkSize: fc.constantFrom(1, 50),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      text: fc.constantFrom("Cut", ""),
      calls: fc.array(call, { maxLength: 2 }),
      stopReason: fc.constantFrom<StopReason>("max-tokens", "pause", "content-filter", "stop-sequence", "other", "end-turn"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      text: fc.constant("Slowly."),
      calls: fc.array(call, { maxLength: 1 }),
      waitMs: fc.constantFrom(1_000, Number.POSITIVE_INFINITY),
    }),
  },
);

const act = fc.record<Act>({
  at: fc.nat({ max: 24 }),
  lag: fc.constantFrom(0, 1, 2),
  do: often<Act["do"]>(
    fc.constantFrom(
      "steer",
      "interrupt",
      "set-model",
      "set-unknown-model",
      "set-plan-only",
      "set-bypass-all",
      "set-effort",
      "watch",
      "watch-past",
      "leave",
      "stop-child",
      "retry-child",
      "signal-user-message",
      "signal-timer",
      "signal-order",
    ),
    fc.constantFrom("stop", "abort", "signal", "signal-stop"),
  ),
});

const watcher = fc.record<WatcherPlan>({
  after: fc.constantFrom<WatcherPlan["after"]>(undefined, 0, 3, "seen"),
  pace: fc.constantFrom(1, 3, 1_000),
  leavesAfter: fc.constantFrom(undefined, undefined, 2),
});

/** Most troubles alone end a run early: they are rare, so that runs live long enough for several to meet. */
function often<T>(usual: fc.Arbitrary<T>, unusual: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ withCrossShrink: true }, { weight: 7, arbitrary: usual }, { weight: 1, arbitrary: unusual });
}

function rarely<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return often<T | undefined>(fc.constant(undefined), value);
}

function crashBefore(max: number): fc.Arbitrary<Crash> {
  return fc.record({ by: fc.constantFrom("append", "callback"), at: fc.integer({ min: 1, max }), kept: fc.boolean() });
}

export const story: fc.Arbitrary<Story> = fc.record({
  turns: fc.array(response, { minLength: 1, maxLength: 8, size: "max" }),
  childTurns: fc.array(response, { maxLength: 4, size: "max" }),
  fallbackTurns: fc.array(response, { maxLength: 3, size: "max" }),
  mode: fc.constantFrom<PermissionMode>("default", "default", "default", "accept-edits", "plan-only", "deny-unauthorized", "bypass-all"),
  verdicts: fc.dictionary(
    fc.constantFrom<ToolName>(...TOOL_NAMES),
    fc.constantFrom("allow" as const, "allow" as const, "deny" as const, "ask" as const),
    { maxKeys: 5 },
  ),
  limits: fc.record({
    maxTurns: often(fc.integer({ min: 4, max: 9 }), fc.integer({ min: 1, max: 3 })),
    maxRetries: fc.integer({ min: 0, max: 3 }),
    maxModelCalls: rarely(fc.integer({ min: 1, max: 8 })),
    maxToolCalls: rarely(fc.integer({ min: 0, max: 8 })),
    maxAnswerBytes: rarely(fc.constantFrom(100, 2_000)),
    maxParallelCalls: rarely(fc.integer({ min: 1, max: 3 })),
    toolTimeoutMs: often(fc.constantFrom(10, 60_000), fc.constant(undefined)),
    maxDurationMs: rarely(fc.constantFrom(1_500, 600_000)),
  }),
  approvals: fc.record<Approving>({
    by: fc.constantFrom("callback", "iterator", "elsewhere", "nobody"),
    decisions: fc.array(
      fc.constantFrom(
        "allow",
        "allow",
        "allow",
        "deny",
        "allow-always",
        "allow-modified",
        "abort",
        "retry",
        "nothing",
        "throw",
        "hang",
        "nonsense",
      ),
      { minLength: 1, maxLength: 4 },
    ),
    leavesAfter: fc.integer({ min: 1, max: 4 }),
    rival: fc.boolean(),
  }),
  acts: fc.array(act, { maxLength: 4 }),
  watchers: fc.array(watcher, { minLength: 1, maxLength: 3 }),
  callbacks: fc.record<Callbacks>({
    maxBufferBytes: fc.constantFrom(undefined, 1, 900, 5_000),
    rule: fc.record({
      form: fc.constantFrom("none", "struct", "methods"),
      moment: fc.constantFrom("infer", "execute-tool", "exit-check", "inject-steering", "append-response", "compile"),
      phase: fc.constantFrom("before", "after"),
      trouble: often(fc.constantFrom("none", "inject", "change"), fc.constantFrom("throw", "reject", "halt", "skip", "cycle")),
      from: fc.nat({ max: 3 }),
    }),
    onModelError: often(
      fc.constantFrom("none", "retry", "undefined"),
      fc.constantFrom("abort", "switch-model", "switch-unknown", "throw", "nonsense"),
    ),
    instructions: often(fc.constantFrom("text", "function"), often(fc.constant("text"), fc.constantFrom("throw", "reject", "number"))),
    fallback: fc.boolean(),
    deafModel: often(fc.constant(false), fc.constant(true)),
  }),
  onMaxTokens: fc.constantFrom("end", "continue"),
  compacts: fc.boolean(),
  loopGuard: fc.boolean(),
  features,
  crashes: fc.oneof(
    { withCrossShrink: true },
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(crashBefore(12), { minLength: 1, maxLength: 3 }) },
    // Again and again at nearly the same place.
    {
      weight: 1,
      arbitrary: fc
        .tuple(crashBefore(12), fc.array(crashBefore(4), { minLength: 3, maxLength: 9 }))
        .map(([first, more]) => [first, ...more]),
    },
  ),
  signalWaitMs: fc.constantFrom(0, 30_000),
  fault: fc.option(fc.record({ at: fc.integer({ min: 1, max: 14 }), done: fc.boolean() }), { freq: 2, nil: undefined }),
}) as fc.Arbitrary<Story>;
