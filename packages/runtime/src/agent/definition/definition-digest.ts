import type { Tool } from "@keelson/protocol";
import type { Rule } from "../../context/rule.ts";
import { canonicalJson, shortHash } from "../../json/index.ts";
import type { JsonSchema, Schema } from "../../schema/schema.ts";
import type { ToolSet } from "../../tools/tool-registry.ts";
import type { AgentOptions } from "./agent.ts";
import { modelName } from "./model-source.ts";
import { hookOptionsDigest } from "./hooks/hook-agent-options.ts";
import { middlewareAsData, type AgentMiddleware } from "./middleware/agent-middleware.ts";
import { outputDigest } from "./output/check-output.ts";
import { pluginsAsData } from "./plugins/check-plugins.ts";
import { digestOfBehaviour } from "./strategies/strategy-definition.ts";

type Options = Omit<AgentOptions<never>, "output">;

/** A definition with what is made of its options. */
export interface Definition {
  readonly options: Options;
  readonly tools: ToolSet;
  readonly middleware: AgentMiddleware | undefined;
  readonly output: Schema<unknown> | JsonSchema | undefined;
}

/**
 * What of each option a run depends on, as data: functions by their names. An option that is added needs a line here; a text says
 * where it is looked at, or why it is not.
 */
const PARTS: { readonly [O in keyof Required<AgentOptions<never>> | "context"]: ((definition: Definition) => unknown) | string } = {
  name: ({ options }) => options.name,
  model: ({ options }) => modelName(options.model),
  fallbackModel: ({ options }) => options.fallbackModel && modelName(options.fallbackModel),
  instructions: ({ options }) => byName(options.instructions),
  systemPrompt: ({ options }) => options.systemPrompt,
  tools: ({ tools }) => [...tools].map(toolAsData),
  toolSources: ({ options }) => options.toolSources?.map(({ name }) => name),
  mcpServers: ({ options }) => options.mcpServers,
  deferTools: ({ options }) => options.deferTools,
  agents: "tools",
  context: "is made anew by each process, whatever made it before",
  excludedTools: "tools",
  allowedTools: ({ options }) => options.allowedTools,
  limits: ({ options }) => options.limits,
  permissions: ({ options }) => options.permissions,
  sandbox: ({ options }) => options.sandbox,
  rules: ({ options }) => options.rules?.map(ruleAsData),
  directiveFilters: ({ options }) => options.directiveFilters?.map(({ name }) => name),
  onModelError: ({ options }) => byName(options.onModelError),
  onMaxTokens: ({ options }) => options.onMaxTokens,
  compact: ({ options }) => byName(options.compact),
  compaction: ({ options }) => options.compaction,
  hooks: ({ options }) => hookOptionsDigest(options),
  beforeTurn: "hooks",
  afterTurn: "hooks",
  env: "hooks",
  plugins: ({ options }) => pluginsAsData(options.plugins),
  middleware: ({ middleware }) => middlewareAsData(middleware),
  strategy: ({ options }) => digestOfBehaviour(options),
  signalRoutes: "strategy",
  onSignal: "strategy",
  output: ({ options, output }) => outputDigest(options, output),
  outputMode: "output",
  effort: ({ options }) => options.effort,
  thinking: ({ options }) => options.thinking,
  settings: ({ options }) => options.settings,
  loopGuard: ({ options }) => options.loopGuard,
  cwd: ({ options }) => options.cwd,
  description: "is for whoever calls the agent; its own runs do not see it",
  metadata: "is recorded with each run, which goes on with it",
  debug: "changes nothing about a run",
  debugFile: "changes nothing about a run",
};

/** All options that an agent has. */
export const OPTION_NAMES: readonly string[] = Object.keys(PARTS);
const DIGESTED = Object.entries(PARTS).filter(
  (entry): entry is [string, (definition: Definition) => unknown] => typeof entry[1] === "function",
);

/** Changes when anything that a run depends on as data changes. */
export function definitionDigest(definition: Definition): string {
  const data = Object.fromEntries(DIGESTED.map(([option, part]) => [option, part(definition)]));
  return shortHash(canonicalJson(JSON.parse(JSON.stringify(data))));
}

function toolAsData({ name, version, effect, concurrency, risk, timeoutMs, maxOutputBytes, aliases, needsApproval }: Tool): unknown {
  const fields = [name, version, effect, concurrency, risk, timeoutMs ?? null, maxOutputBytes, aliases];
  // Definitions without it keep the digest that they had.
  return needsApproval === undefined ? fields : [...fields, byName(needsApproval)];
}

function ruleAsData({ name, trigger, priority, pure }: Rule): unknown {
  return [name, trigger.type, "operation" in trigger ? trigger.operation : null, priority ?? 0, pure ?? false];
}

function byName<T>(value: T): T | string {
  return typeof value === "function" ? `function ${value.name}` : value;
}
