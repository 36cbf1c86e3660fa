import { type EnvironmentSpec, PERMISSION_MODES } from "@keelson/protocol";
import type { RunOptions } from "../definition/run.ts";
import type { Agent } from "../definition/agent.ts";
import { checkLimits } from "../definition/check-limits.ts";
import { EFFORTS } from "../definition/check-settings.ts";
import { checkMembers, invalidOption, shown } from "../definition/invalid-option.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { namedServers } from "../features/tool-sources/named-servers.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import type { Agents } from "../definition/agent.ts";

type RunnerParts = { readonly [Part in keyof RunnerServices]?: RunnerServices[Part] | undefined } & {
  readonly agent?: Agent | undefined;
  readonly agents?: Agents<never> | undefined;
};

type Check = readonly [isRight: (value: unknown) => boolean, what: string];
const having = (...methods: readonly string[]): Check => [
  (value) =>
    typeof value === "object" &&
    value !== null &&
    methods.every((method) => typeof (value as { readonly [name: string]: unknown })[method] === "function"),
  `an object with ${methods.join(", ")}`,
];
const callable: Check = [(value) => typeof value === "function", "a function"];
const duration: Check = [(value) => typeof value === "number" && value >= 0, "a number of milliseconds from 0"];
const count: Check = [(value) => Number.isSafeInteger(value) && (value as number) >= 0, "a whole number from 0"];
const oneOf = (...words: readonly string[]): Check => [
  (value) => words.includes(value as string),
  words.map((word) => `"${word}"`).join(" or "),
];
/** What has checks of its own. */
const elsewhere: Check = [() => true, ""];

/** An option that is added needs a line here. */
const PARTS: { readonly [P in keyof Required<RunnerParts>]: Check } = {
  agent: having("with", "asTool"),
  agents: [(value) => typeof value === "object" && value !== null && !Array.isArray(value), "an object of agents by name"],
  log: having("append", "read", "head", "list", "acquire"),
  blobs: having("put", "get"),
  // Not asked for its methods: a ledger that no limit needs is never touched.
  ledger: [(value) => typeof value === "object" && value !== null, "a budget ledger"],
  clock: having("now", "after"),
  approvalKeys: elsewhere,
  models: having("resolve"),
  mcp: having("toolSource"),
  approvals: callable,
  approvalWaitMs: duration,
  signalWaitMs: duration,
  approvalTtlMs: duration,
  context: callable,
  files: having("read"),
  exec: having("execute"),
  environment: having("open"),
  environmentSpec: [
    (value) => Array.isArray((value as EnvironmentSpec | null)?.isolation),
    "a spec such as { isolation: [], credentials: [] }",
  ],
  state: having("read"),
  forgetSession: callable,
  secrets: having("resolve"),
  effects: having("execute"),
  handoffs: oneOf("caller", "runner"),
  tasks: elsewhere,
  openDebugFile: callable,
  owner: [(value) => typeof value === "string" && value !== "", "a text that names this process"],
  leaseTtlMs: duration,
  durability: oneOf("power", "process"),
  stopGraceMs: duration,
  maxBufferBytes: count,
  keepEndedSessions: count,
  orchestrator: having("start", "attach", "cancel"),
  recordsPerSnapshot: [
    (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) > 0),
    "a whole number from 1, or Infinity",
  ],
  maxDepth: count,
  budgets: elsewhere,
  onLifecycleEvent: callable,
  random: callable,
  newId: callable,
};

/** @throws AgentError of kind `invalid-option` for what is no option of a runner, or can't be what it is given as */
export function checkRunnerOptions(options: RunnerParts): void {
  checkOptionNames("A runner", options, PARTS);
  for (const [name, [isRight, what]] of Object.entries(PARTS)) {
    const value: unknown = options[name as keyof RunnerParts];
    if (value !== undefined && !isRight(value)) throw invalidOption(name, `must be ${what}, not ${shown(value)}`);
  }
  for (const agent of [...(options.agent ? [options.agent] : []), ...Object.values(options.agents ?? {})])
    namedServers(agent as Agent<unknown>, options.mcp);
}

type RunLimits = NonNullable<RunOptions["limits"]>;
const RUN_LIMITS: { readonly [L in keyof Required<RunLimits>]: true } = {
  maxTurns: true,
  maxCost: true,
  maxTokens: true,
  maxDurationMs: true,
  unknownPrice: true,
  withoutUsage: true,
  onBudget: true,
};
const RUN_OPTIONS: { readonly [O in keyof Required<RunOptions & { readonly agent?: string }>]: Check } = {
  agent: [(value) => typeof value === "string", "the name of an agent"],
  session: [(value) => typeof value === "string", "the id of a session"],
  model: [(value) => typeof value === "string" && value !== "", 'a model such as "anthropic/claude-haiku-4-5"'],
  permissionMode: oneOf(...PERMISSION_MODES),
  effort: oneOf(...EFFORTS),
  signal: having("addEventListener", "removeEventListener"),
  deadline: [(value) => Number.isFinite(value), "a time in Unix milliseconds"],
  limits: elsewhere,
  budgets: elsewhere,
  metadata: [(value) => typeof value === "object" && value !== null && !Array.isArray(value), 'an object such as { user: "ada" }'],
};

/** @throws AgentError of kind `invalid-option` for an input that is none, or what is no option of a run */
export function checkRun(input: unknown, options: RunOptions & { readonly agent?: string }): void {
  checkOptionNames("A run", options, RUN_OPTIONS);
  checkInput(input);
  for (const [name, [isRight, what]] of Object.entries(RUN_OPTIONS)) {
    const value: unknown = options[name as keyof typeof RUN_OPTIONS];
    if (value !== undefined && !isRight(value)) throw invalidOption(name, `of a run must be ${what}, not ${shown(value)}`);
  }
  if (options.limits === undefined) return;
  checkMembers("limits", options.limits, Object.keys(RUN_LIMITS), "{ maxTurns: 5 }");
  checkLimits(options.limits);
}

function checkInput(input: unknown): void {
  if (typeof input === "string") return;
  const example = 'run("Do I need an umbrella?") or run([{ type: "text", text: "…" }])';
  if (!Array.isArray(input)) throw invalidOption("input", `of a run must be a text or a list of parts, not ${shown(input)}: ${example}`);
  for (const [index, part] of input.entries()) {
    if (typeof part === "object" && part !== null && "role" in part)
      throw invalidOption(
        `input[${index}]`,
        `is a message, and a run takes the text or the parts of one: ${example}. A conversation goes on where its session is named: run(text, { session })`,
      );
    if (typeof (part as { readonly type?: unknown } | null)?.type !== "string")
      throw invalidOption(`input[${index}]`, `must be a part with a type, not ${shown(part)}: ${example}`);
  }
}
