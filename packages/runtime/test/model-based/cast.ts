import { type JsonValue, textMessage, type Tool, type ToolCall } from "@keelson/protocol";
import { agentTool, type Agent, createAgent, createModelRegistry, defineTool } from "keelson";
import { type AgentOptions, type Compact, waitForSignalTool } from "keelson/agent";
import { injectReminder, type Rule, type RuleAction, rulesFrom } from "keelson/context";
import { actWith, type Stage } from "./acting.ts";
import { effectTool, featureOptions, strategyOf } from "./feature-options.ts";
import type { Features } from "./features.ts";
import { never } from "./simulated-process.ts";
import type { Callbacks, Story } from "./story.ts";
import type { ToolName } from "./tool-names.ts";
import { PRICE, type Vendor } from "./vendor.ts";

export interface Cast {
  readonly agent: Agent<unknown>;
  readonly models: ReturnType<typeof createModelRegistry>;
}

/** Tools that change the world; those that ask in the default mode have a high risk. */
const EFFECTS: Readonly<Record<ToolName, Tool["effect"]>> = {
  read: "read",
  mark: "idempotent",
  write: "write",
  send: "write",
  throws: "idempotent",
  hangs: "read",
  stubborn: "write",
  slow: "read",
  huge: "read",
  chatty: "read",
  strict: "read",
  note: "idempotent",
  listen: "read",
  helper: "idempotent",
  aside: "idempotent",
};
export const effectOf = (tool: string): Tool["effect"] => EFFECTS[tool as ToolName];

/**
 * The agents of a story as one process has them: a main agent with every kind of tool, and a child that it can hand tasks to, to
 * wait for or to work beside its turns.
 */
export function castOf(story: Story, stage: Stage, vendor: Vendor): Cast {
  const { callbacks, features } = story;
  const tools = toolsOf(story, stage);
  const common = {
    permissions: {
      mode: story.mode,
      rules: Object.entries(story.verdicts).map(([pattern, behavior]) => ({ pattern, behavior: behavior as "allow" })),
    },
    loopGuard: story.loopGuard,
    onMaxTokens: story.onMaxTokens,
    // Whoever marks conversations for summarising needs it.
    ...((story.compacts || features.middleware.some(({ does }) => does === "mark")) && { compact }),
  };
  const { fallback, deafModel } = callbacks;
  const child = createAgent({
    name: "helper",
    model: vendor.model("child", "child/model", stage),
    tools: tools.filter(({ name }) => CHILD_TOOLS.has(name)),
    limits: { maxTurns: 4, maxRetries: 1 },
    ...common,
    ...(features.shared && featureOptions(featuresOfChild(features), stage)),
  });
  const main = vendor.model("main", "main", stage);
  const models = createModelRegistry({
    providers: {
      main: deafModel ? { name: main.name, wire: main.wire, stream: (request) => main.stream(request) } : main,
      other: vendor.model("fallback", "other", stage),
    },
    prices: { model: PRICE },
  });
  const strategy = strategyOf(features);
  const { maxCost, maxTokens } = features.budgets ?? {};
  const agent = createAgent({
    name: "main",
    model: "main/model",
    ...(fallback && { fallbackModel: "other/model" }),
    instructions: instructionsOf(callbacks.instructions),
    tools: [...tools, agentTool(child), agentTool(child, { name: "aside", background: true })],
    limits: {
      ...Object.fromEntries(Object.entries(story.limits).filter(([, limit]) => limit !== undefined)),
      ...(maxCost !== undefined && { maxCost }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(features.output && { maxRepairs: features.output.maxRepairs }),
    },
    rules: rulesOf(callbacks.rule),
    ...(callbacks.onModelError !== "none" && { onModelError: onModelErrorOf(callbacks.onModelError) }),
    ...common,
    ...featureOptions(features, stage),
    ...(strategy && { strategy }),
    ...outputOf(story, stage),
  } as AgentOptions<unknown>);
  return { agent, models };
}

/** It has no machine, and its plugins start no children of their own: there would be no end of them. */
function featuresOfChild(features: Features): Features {
  const plugins = features.plugins.map((plugin) => ({ ...plugin, directives: plugin.directives.filter((kind) => kind !== "spawn-agent") }));
  return { ...features, plugins, strategy: undefined };
}

const compact: Compact = async (entries) => ({
  messages: entries.slice(-1).map(({ message }) => (message.role === "user" ? message : textMessage("user", "What was: work."))),
  summary: "work",
});

/** What responses that are to have a shape are held against. */
const OUTPUT_SCHEMA = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;

function outputOf({ features: { output } }: Story, stage: Stage): { readonly output?: unknown; readonly outputMode?: unknown } {
  if (output === undefined) return {};
  if (output.mode !== "custom") return { output: OUTPUT_SCHEMA, outputMode: output.mode };
  const extract = (text: string): unknown =>
    actWith(stage, "extract", output.check, () => (text.startsWith("{") ? (JSON.parse(text) as JsonValue) : undefined));
  return { output: OUTPUT_SCHEMA, outputMode: { type: "custom", extract } };
}

const CHILD_TOOLS: ReadonlySet<string> = new Set<ToolName>([
  "read",
  "mark",
  "write",
  "send",
  "throws",
  "hangs",
  "stubborn",
  "note",
  "listen",
]);

function toolsOf(story: Story, stage: Stage): readonly Tool[] {
  const { process, witness } = stage;
  const { clock } = process;
  const see = (tool: ToolName, { callId, runId, attempt, session }: ToolCall): void => {
    const state = witness.newest(session, runId, "strategy-state")?.data["state"] as string | undefined;
    witness.deeds.push({ tool, callId, runId, attempt, state });
  };
  const tool = (
    name: ToolName,
    fields: { readonly risk?: Tool["risk"]; readonly concurrency?: Tool["concurrency"]; readonly required?: readonly string[] },
    work: (input: unknown, call: ToolCall) => unknown,
  ): Tool => {
    const { required = [], ...rest } = fields;
    return defineTool({
      name,
      description: `Does ${name}.`,
      input: { type: "object", properties: { n: { type: "number" } }, required: [...required] },
      effect: effectOf(name),
      ...rest,
      execute(input, toolCall) {
        const stopped = process.pass();
        if (stopped) return stopped;
        see(name, toolCall);
        return process.pass() ?? (work(input, toolCall) as string);
      },
    }) as Tool;
  };
  return [
    tool("read", {}, () => ({ found: [1, 2, 3] })),
    tool("mark", {}, () => "marked"),
    tool("write", { concurrency: "shared" }, async () => clock.sleep(5).then(() => "written")),
    tool("send", { risk: "high" }, () => "sent"),
    tool("throws", {}, (input) => {
      if ((input as { n?: number }).n === 1) throw new Error("no");
      return Promise.reject({ toString: () => "not even an error" });
    }),
    tool(
      "hangs",
      {},
      (_input, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    ),
    tool("stubborn", {}, never),
    tool("slow", {}, async (_input, { stopping }) => clock.sleep(2_000).then(() => (stopping.aborted ? "slow, and told to stop" : "slow"))),
    tool("huge", {}, () => "huge ".repeat(40_000)),
    tool("chatty", {}, async (_input, { progress }) => {
      for (let index = 0; index < 5; index++) progress(`step ${index}`, index / 5);
      void clock.sleep(1).then(() => progress("after the end"));
      return "chatted";
    }),
    tool("strict", { required: ["n"] }, () => 10n as never),
    effectTool(story.features, stage, (call) => see("note", call)),
    waitForSignalTool({ name: "listen", kinds: ["order", "timer"], timeoutMs: 3_600_000 }) as unknown as Tool,
  ];
}

function instructionsOf(kind: Callbacks["instructions"]): string | (() => string | Promise<string>) {
  switch (kind) {
    case "text":
      return "Be good.";
    case "function":
      return () => "Be good, always.";
    case "throw":
      return () => {
        throw new Error("no instructions");
      };
    case "reject":
      return () => Promise.reject(new Error("no instructions today"));
    case "number":
      return () => 42 as never;
  }
}

function onModelErrorOf(kind: Callbacks["onModelError"]): NonNullable<Parameters<typeof createAgent>[0]["onModelError"]> {
  return () => {
    switch (kind) {
      case "retry":
        return { type: "retry" };
      case "abort":
        return { type: "abort", message: "not today" };
      case "switch-model":
        return { type: "switch-model", model: "other/model" };
      case "switch-unknown":
        return { type: "switch-model", model: "nobody/nothing" };
      case "throw":
        throw new Error("onModelError failed");
      case "nonsense":
        return { type: "perhaps", huge: 10n } as never;
      default:
        return undefined;
    }
  };
}

function rulesOf({ form, moment, phase, trouble, from }: Callbacks["rule"]): readonly Rule[] {
  let fired = 0;
  const act = (event: Parameters<Rule["run"]>[0] | undefined): RuleAction | void | Promise<RuleAction | void> => {
    if (fired++ < from) return undefined;
    switch (trouble) {
      case "none":
        return undefined;
      case "throw":
        throw new Error("the rule failed");
      case "reject":
        return Promise.reject(new Error("the rule failed later"));
      case "halt":
        return { type: "halt", reason: "enough" };
      case "change":
        return phase === "before"
          ? { type: "modify-input", input: changedInput(moment, event?.input) }
          : { type: "modify-output", output: "changed" };
      case "skip":
        return { type: "skip", output: "skipped" };
      case "inject":
        return event?.context?.injectMessage(textMessage("system", "Mind the gap."));
      case "cycle": {
        const cycle: { [key: string]: JsonValue } = {};
        cycle["self"] = cycle;
        return { type: "modify-input", input: cycle };
      }
    }
  };
  switch (form) {
    case "none":
      return trouble === "inject" ? [injectReminder("Be brief.")] : [];
    case "struct":
      return [{ name: "troublemaker", trigger: { type: phase, operation: moment }, run: act }];
    case "methods":
      return rulesFrom({
        name: "troublemaker",
        beforeInference: () => (moment === "infer" && phase === "before" ? act(undefined) : undefined),
        afterInference: () => (moment === "infer" && phase === "after" ? act(undefined) : undefined),
        beforeToolCall: (_tool, input) =>
          moment === "execute-tool" && phase === "before" ? act({ input: { input } } as never) : undefined,
        afterToolCall: () => (moment === "execute-tool" && phase === "after" ? act(undefined) : undefined),
        whenExitCheck: () => (moment === "exit-check" ? act(undefined) : undefined),
        beforeSteeringInject: () => (moment === "inject-steering" ? act(undefined) : undefined),
      });
  }
}

function changedInput(moment: Callbacks["rule"]["moment"], input: JsonValue | undefined): JsonValue {
  if (moment === "execute-tool") return { ...(input as object), input: { n: 7, task: "changed" } } as JsonValue;
  if (moment === "inject-steering") return { messages: [{ role: "user", content: [{ type: "text", text: "changed" }] }] };
  return input ?? null;
}
