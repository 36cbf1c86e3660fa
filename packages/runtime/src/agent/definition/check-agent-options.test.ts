import { AgentError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ruleBefore } from "../../context/rule.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { defineTool } from "../../tools/define-tool.ts";
import type { AgentOptions } from "./agent.ts";
import type { AgentLimits } from "./limits.ts";
import { createAgent } from "./create-agent.ts";

const tool = (name: string) => defineTool({ name, description: "A tool.", input: { type: "object" }, execute: () => "" });
const helper = createAgent({ name: "helper", model: scriptedModel([]) });
const source = { name: "servers", open: () => ({ tools: () => [], async [Symbol.asyncDispose]() {} }) };
const base = { name: "clerk", model: "anthropic/claude-haiku-4-5", tools: [tool("read")] };

/** Values that are wrong, beside `null` and a symbol, which always are; with the path that the error names, where it is not the option itself. */
type Wrong = readonly (readonly [value: unknown, path?: string, beside?: object])[];

/** An option that is added needs a line here. */
const WRONG: { readonly [O in keyof Required<AgentOptions<never>> | "context"]: Wrong } = {
  name: [[""], ["two words"], [7], ["x".repeat(65)], [{}]],
  description: [[7], [["a"]]],
  model: [[""], [7], [{}], [{ name: "no stream" }]],
  fallbackModel: [[""], [7], [{}]],
  instructions: [[7], [{}], [["a"]]],
  systemPrompt: [["text"], [{}], [{ type: "prepend", content: "x" }], [{ type: "append" }], [{ type: "append", content: 7 }]],
  tools: [
    ["read"],
    [{}],
    [[{}], "tools[0]"],
    [[null], "tools[0]"],
    [[tool("a"), tool("a")], "tools[1]"],
    [[tool("a"), () => ""], "tools[1]"],
  ],
  deferTools: [["never"], [true], [7], [{ above: 3 }, "deferTools.above"], [{ aboveTools: -1 }, "deferTools.aboveTools"]],
  mcpServers: [["notes"], [[""]], [[7]], [["notes", "notes"]]],
  toolSources: [
    ["servers"],
    [{}],
    [[null], "toolSources[0]"],
    [[{ name: "servers" }], "toolSources[0]"],
    [[{ name: "", open: () => ({}) }], "toolSources[0]"],
    [[source, source], "toolSources[1]"],
  ],
  agents: [
    ["helper"],
    [[helper]],
    [{ helper: {} }, "agents.helper"],
    [{ "two words": helper }, "agents.two words"],
    [{ read: helper }, "agents.read"],
  ],
  allowedTools: [["read"], [[7]], [{}], [[""]]],
  excludedTools: [["read"], [[7]], [["none"]]],
  limits: [["few"], [7], [[]], [{ maxTurn: 3 }, "limits.maxTurn"]],
  permissions: [
    ["default"],
    [[]],
    [{ mode: "yolo" }, "permissions.mode"],
    [{ mode: null }, "permissions.mode"],
    [{ rules: "bash" }, "permissions.rules"],
    [{ rules: null }, "permissions.rules"],
    [{ rules: [null] }, "permissions.rules[0]"],
    [{ rules: ["bash"] }, "permissions.rules[0]"],
    [{ rules: [{ pattern: "", behavior: "allow" }] }, "permissions.rules[0]"],
    [{ rules: [{ pattern: "a", behavior: "maybe" }] }, "permissions.rules[0]"],
    [{ rule: [] }, "permissions.rule"],
  ],
  sandbox: [
    ["on"],
    [true],
    [{ enabled: "yes", deniedCommands: [] }, "sandbox.enabled"],
    [{ enabled: true, deniedCommands: "rm" }, "sandbox.deniedCommands"],
    [{ enabled: true, deniedCommands: ["rm -rf /"] }, "sandbox.deniedCommands"],
    [{ enabled: true, deniedCommands: [], allowedCommand: [] }, "sandbox.allowedCommand"],
    [{ enabled: true, network: { enabled: true, deniedDomains: "a.test" } }, "sandbox.network.deniedDomains"],
    [{ enabled: true, deniedCommands: [], network: { enabled: true, deniedDomains: ["http://a.test"] } }, "sandbox.network.deniedDomains"],
    [{ enabled: true, filesystem: { deniedPaths: [""] } }, "sandbox.filesystem.deniedPaths"],
    [{ enabled: true, deniedCommands: [], filesystem: { allowedRoots: ["src/*"], deniedPaths: [] } }, "sandbox.filesystem.allowedRoots"],
  ],
  compaction: [
    ["summarise"],
    [true],
    [{ strategie: {} }, "compaction.strategie"],
    [{ strategy: "summarise" }, "compaction.strategy"],
    [{ strategy: { type: "summarise", maxTokens: 0, keep: 0 } }, "maxTokens"],
    [{ when: { maxMessage: 5 } }, "compaction.when.maxMessage"],
    [{ when: { maxMessages: 0 } }, "maxMessages"],
    [{ store: { key: "k" } }, "compaction.store.scope"],
    [{ beside: "yes" }, "compaction.beside"],
    [{ strategy: { type: "sliding-window", keep: 50 } }, "compaction.strategy"],
  ],
  rules: [
    ["r"],
    [{}],
    [[{ name: "r" }], "rules[0]"],
    [[null], "rules[0]"],
    [[ruleBefore("infer", "r", 0, () => {}), () => {}], "rules[1]"],
  ],
  directiveFilters: [
    ["f"],
    [{}],
    [[{ name: "f" }], "directiveFilters[0]"],
    [[{ filter: () => undefined }], "directiveFilters[0]"],
    [[null], "directiveFilters[0]"],
  ],
  onModelError: [["retry"], [{ type: "retry" }], [true]],
  onMaxTokens: [["panic"], [true], [7]],
  compact: [["later"], [true], [{}]],
  strategy: [["fsm"], [{}], [() => {}]],
  signalRoutes: [
    ["stop"],
    [{}],
    [[null], "signalRoutes[0]"],
    [[{ kind: "stop" }], "signalRoutes[0]"],
    [[{ kind: "", action: { type: "continue" }, priority: 0 }], "signalRoutes[0]"],
  ],
  onSignal: [["book"], [[]], [() => {}], [{ book: "later" }, "onSignal.book"], [{ book: null }, "onSignal.book"]],
  output: [["a number"], [7], [[]], [() => {}]],
  outputMode: [
    ["tool"],
    ["guess", "outputMode", { output: z.object({}) }],
    [{}, "outputMode", { output: z.object({}) }],
    [null, "outputMode", { output: z.object({}) }],
    [{ type: "tool", name: "two words" }, "outputMode.name", { output: z.object({}) }],
    [{ type: "tool", description: 7 }, "outputMode.description", { output: z.object({}) }],
    [{ type: "custom" }, "outputMode.extract", { output: z.object({}) }],
  ],
  effort: [["much"], [7], [""]],
  thinking: [
    ["yes"],
    [true],
    [{}],
    [{ type: "some" }],
    [{ type: "enabled" }, "thinking.budgetTokens"],
    [{ type: "enabled", budgetTokens: -1 }, "thinking.budgetTokens"],
  ],
  settings: [
    ["hot"],
    [[]],
    [{ temperature: "hot" }, "settings.temperature"],
    [{ temperature: Number.NaN }, "settings.temperature"],
    [{ maxTokens: 0 }, "settings.maxTokens"],
    [{ topP: 2 }, "settings.topP"],
    [{ stopSequences: "\n" }, "settings.stopSequences"],
    [{ toolChoice: "sometimes" }, "settings.toolChoice"],
    [{ toolChoice: {} }, "settings.toolChoice"],
    [{ toolChoice: { name: "none" } }, "settings.toolChoice"],
    [{ cache: true }, "settings.cache"],
    [{ extra: [] }, "settings.extra"],
    [{ effort: "low" }, "settings.effort"],
    [{ temprature: 1 }, "settings.temprature"],
  ],
  loopGuard: [["off"], [0]],
  cwd: [[""], [7], [{}]],
  debug: [["yes"], [1]],
  debugFile: [[""], [7], [true]],
  context: [["workspace"], [{}], [7]],
  metadata: [["red"], [[]], [{ at: new Date() }], [{ f: () => {} }], [7]],
  hooks: [["stop"], [{}], [[]], [() => {}]],
  beforeTurn: [["stop"], [{}]],
  afterTurn: [["stop"], [{}]],
  env: [["A=1"], [[]], [{ A: 1 }, "env.A"], [{ "A=B": "1" }], [{ A: "a\0b" }, "env.A"]],
  plugins: [["p"], [{}], [[null], "plugins[0]"], [[{ key: "p" }], "plugins[0]"]],
  middleware: [
    ["m"],
    [{}],
    [7],
    [[null], "middleware[0]"],
    [[{}], "middleware[0]"],
    [[{ name: "m", process: "later" }], "middleware[0].process"],
    [[{ name: "m", tools: () => "t" }], "middleware[0].tools"],
  ],
};

/** Each limit, with the least that it may be. */
const LIMITS: { readonly [L in keyof Required<AgentLimits>]: Wrong } = {
  maxTurns: [[0], [-1], [Number.NaN], ["3"], [Number.POSITIVE_INFINITY], [1.5]],
  maxModelCalls: [[0], ["3"], [1.5]],
  maxCost: [["much"], [-1], [Number.NaN], [{}], ["-0.5"]],
  maxTokens: [[-1], ["3"], [1.5]],
  unknownPrice: [["maybe"], [true]],
  withoutUsage: [["maybe"], [true]],
  onBudget: [["maybe"], [true]],
  budgetThresholds: [[0.5], [[0]], [[1.5]], [["half"]]],
  maxDurationMs: [[0], ["3"], [Number.NaN]],
  maxToolCalls: [[-1], ["3"], [1.5]],
  maxFailedTurns: [[0], ["3"], [1.5]],
  maxRetries: [[-1], ["3"], [1.5]],
  maxRetryDelayMs: [[-1], ["3"], [1.5]],
  maxRepairs: [[-1], ["3"], [1.5]],
  maxAnswerBytes: [[0], ["3"], [Number.NaN]],
  maxAnswerCalls: [[0], ["3"], [1.5]],
  toolTimeoutMs: [[0], ["3"]],
  maxParallelCalls: [[0], ["3"], [1.5]],
  maxBackground: [[0], ["3"], [1.5]],
  maxQuestionsPerCall: [[-1], ["3"], [1.5]],
  maxInferencesPerCall: [[-1], ["3"], [1.5]],
};

const ALWAYS: Wrong = [[null], [Symbol("x")]];
const cases = [
  ...Object.entries<Wrong>(WRONG).flatMap(([option, wrong]) =>
    [...ALWAYS, ...wrong].map(([value, path = option, beside]) => ({ option, path, change: { ...beside, [option]: value }, value })),
  ),
  ...Object.entries<Wrong>(LIMITS).flatMap(([limit, wrong]) =>
    [...ALWAYS, ...wrong].map(([value]) => ({ option: "limits", path: `limits.${limit}`, change: { limits: { [limit]: value } }, value })),
  ),
];

describe("an option that is wrong", () => {
  it.each(cases)("is refused by its name: $path, as in $change", ({ path, change }) => {
    let thrown: unknown;
    try {
      createAgent({ ...base, ...change } as never);
    } catch (error) {
      thrown = error;
    }
    expect(AgentError.is(thrown, "invalid-option") ? thrown.failure.option : thrown).toBe(path);
    const { message } = thrown as AgentError;
    expect(message).toContain(path);
    // What to write instead: an alternative, an example, or who makes it.
    expect(message).toMatch(/ must | needs? |write|make it with|rename|did you mean|give|is missing|add |names|there is no|has the name/i);
  });

  it.each([...Object.keys(WRONG), ...Object.keys(LIMITS).map((limit) => `limits.${limit}`)])(
    "is not what it is when it is undefined: %s",
    (option) => {
      const [, limit] = option.split(".");
      const make = () =>
        createAgent({ ...base, ...(limit === undefined ? { [option]: undefined } : { limits: { [limit]: undefined } }) } as never);
      if (option === "name" || option === "model") expect(make).toThrow(AgentError);
      else expect(make).not.toThrow();
    },
  );

  it.each([
    ["maxTurns", /There is no option "maxTurns".*"limits\.maxTurns"/],
    ["instruction", /There is no option "instruction".*Did you mean "instructions"/],
    ["whatever", /There is no option "whatever"/],
  ])("is one that there is not: %s", (option, message) => {
    expect(() => createAgent({ ...base, [option]: 3 } as never)).toThrow(message);
    expect(() => createAgent({ ...base, [option]: undefined } as never)).not.toThrow();
  });

  it("is refused in a changed copy as in a definition [GEN-05]", () => {
    expect(() => createAgent(base as never).with({ effort: "much" as never })).toThrow(/effort must/);
  });
});
