import { type JsonValue, type Message, type RunId, textMessage, type Tool } from "@keelson/protocol";
import { agentTool, type Agent, createAgent, createModelRegistry, defineTool } from "keelson";
import { injectReminder, type Rule, type RuleAction, rulesFrom } from "keelson/context";
import { type ScriptedAnswer, scriptedModel, type ScriptedTurn } from "keelson/testing";
import type { Answer, Callbacks, Story, ToolName } from "./story.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What the tools did. */
export interface Execution {
  readonly tool: string;
  readonly callId: string;
  readonly runId: RunId;
  readonly attempt: number;
}

export interface Cast {
  readonly agent: Agent<undefined>;
  readonly models: ReturnType<typeof createModelRegistry>;
  readonly executions: readonly Execution[];
  /** Model calls that began, by agent. */
  readonly inferences: { main: number; child: number };
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
  helper: "idempotent",
};
export const effectOf = (tool: string): Tool["effect"] => EFFECTS[tool as ToolName];

const forever = (): Promise<never> => new Promise(() => {});

/** The agents of a story: a main agent with every kind of tool, and a child that it can hand a task to. */
export function castOf(story: Story, clock: VirtualClock): Cast {
  const executions: Execution[] = [];
  const inferences = { main: 0, child: 0 };
  const tools = toolsOf(executions, clock);
  const common = {
    permissions: {
      mode: story.mode,
      rules: Object.entries(story.verdicts).map(([pattern, behavior]) => ({ pattern, behavior: behavior as "allow" })),
    },
    loopGuard: story.loopGuard,
    onMaxTokens: story.onMaxTokens,
  };
  const child = createAgent({
    name: "helper",
    model: scriptedModel(
      script(story.childTurns, clock, () => inferences.child++),
      { name: "child/model" },
    ),
    tools: tools.slice(0, 7),
    limits: { maxTurns: 4, maxRetries: 1 },
    ...common,
  });
  const { callbacks } = story;
  const main = scriptedModel(
    script(story.turns, clock, () => inferences.main++),
    { name: "main" },
  );
  const models = createModelRegistry({
    providers: {
      main: callbacks.deafModel ? { name: main.name, wire: main.wire, stream: (request) => main.stream(request) } : main,
      other: scriptedModel(
        script(story.fallbackTurns, clock, () => inferences.main++),
        { name: "other" },
      ),
    },
  });
  const agent = createAgent({
    name: "main",
    model: "main/model",
    ...(callbacks.fallback && { fallbackModel: "other/model" }),
    instructions: instructionsOf(callbacks.instructions),
    tools: [...tools, agentTool(child)],
    limits: Object.fromEntries(Object.entries(story.limits).filter(([, limit]) => limit !== undefined)),
    rules: rulesOf(callbacks.rule),
    ...(callbacks.onModelError !== "none" && { onModelError: onModelErrorOf(callbacks.onModelError) }),
    ...(story.compacts && {
      compact: async (entries: readonly { readonly message: Message }[]) => ({
        messages: entries.slice(-1).map(({ message }) => (message.role === "user" ? message : textMessage("user", "What was: work."))),
        summary: "work",
      }),
    }),
    ...common,
  });
  return { agent, models, executions, inferences };
}

/** A model that answers, for a run that comes later. */
export function plainModels(): ReturnType<typeof createModelRegistry> {
  return createModelRegistry({ providers: { plain: scriptedModel(["And now this."], { name: "plain" }) } });
}

function script(turns: readonly Answer[], clock: VirtualClock, count: () => void): readonly ScriptedTurn[] {
  let next = 0;
  const turn: ScriptedTurn = (): ScriptedAnswer => {
    count();
    const planned = turns[next++];
    if (planned === undefined) return { text: "All done." };
    const { text, thinking, calls, stopReason, error, waitMs = 0, chunkSize } = planned;
    return {
      ...(text !== undefined && { text }),
      ...(thinking !== undefined && { thinking }),
      ...(stopReason && { stopReason }),
      ...(chunkSize !== undefined && { chunkSize }),
      ...(error && { error: { provider: "main", model: "model", ...error } as never }),
      ...(waitMs > 0 && { wait: Number.isFinite(waitMs) ? () => clock.sleep(waitMs) : forever }),
      toolCalls: calls.map(({ name, input }, index) => ({ name, ...inputOf(name, input, index) })),
    };
  };
  return Array.from({ length: 400 }, () => turn);
}

function inputOf(
  name: string,
  input: Answer["calls"][number]["input"],
  index: number,
): { readonly input?: JsonValue; readonly inputText?: string } {
  switch (input) {
    case "good":
      return { input: name === "helper" ? { task: `Help ${index}.` } : { n: index % 2 } };
    case "empty":
      return { inputText: "" };
    case "truncated":
      return { inputText: '{"n": 1, "task": "hel' };
    case "no-object":
      return { inputText: '[1, "two"]' };
    case "repairable":
      return { inputText: "{n: 1, 'task': 'help',}" };
  }
}

function toolsOf(executions: Execution[], clock: VirtualClock): readonly Tool[] {
  const tool = (
    name: ToolName,
    fields: { readonly risk?: Tool["risk"]; readonly concurrency?: Tool["concurrency"]; readonly required?: readonly string[] },
    work: (input: unknown, call: Parameters<Tool["execute"]>[1]) => unknown,
  ): Tool => {
    const { required = [], ...rest } = fields;
    return defineTool({
      name,
      description: `Does ${name}.`,
      input: { type: "object", properties: { n: { type: "number" } }, required: [...required] },
      effect: effectOf(name),
      ...rest,
      execute(input, toolCall) {
        executions.push({ tool: name, callId: toolCall.callId, runId: toolCall.runId, attempt: toolCall.attempt });
        return work(input, toolCall) as string;
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
    tool("stubborn", {}, forever),
    tool("slow", {}, async (_input, { stopping }) => clock.sleep(2_000).then(() => (stopping.aborted ? "slow, and told to stop" : "slow"))),
    tool("huge", {}, () => "huge ".repeat(40_000)),
    tool("chatty", {}, async (_input, { progress }) => {
      for (let index = 0; index < 5; index++) progress(`step ${index}`, index / 5);
      void clock.sleep(1).then(() => progress("after the end"));
      return "chatted";
    }),
    tool("strict", { required: ["n"] }, () => 10n as never),
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
