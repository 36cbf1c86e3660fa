import { AgentError, PERMISSION_MODES } from "@keelson/protocol";
import type { AgentOptions } from "./agent.ts";
import { checkBudgetLimits } from "./budget/check-budgets.ts";
import { costLimit } from "./cost-limit.ts";
import { checkPlugins } from "./plugins/check-plugins.ts";
import { checkHookOptions } from "./hooks/hook-agent-options.ts";
import { checkDirectiveFilters } from "./effects/check-directive-filters.ts";
import { checkSignalOptions } from "./signals/check-signals.ts";
import { checkStrategyOption } from "./strategies/check-strategy.ts";

/** @throws AgentError of kind `invalid-option`, which names the option, what was found, and what to write instead */
export function checkAgentOptions(options: AgentOptions<never> | AgentOptions<unknown> | AgentOptions<undefined>): void {
  const {
    name,
    model,
    fallbackModel,
    tools = [],
    limits = {},
    permissions,
    excludedTools = [],
    onMaxTokens,
  } = options as AgentOptions<unknown>;
  if (typeof name !== "string" || !/^[\w.-]{1,64}$/.test(name))
    throw invalid("name", `name must be 1 to 64 letters, digits, "_", "-" or ".", not ${JSON.stringify(name)}`);
  for (const [option, choice] of [
    ["model", model],
    ["fallbackModel", fallbackModel],
  ] as const) {
    if (choice === undefined && option === "fallbackModel") continue;
    if (typeof choice === "string" ? choice === "" : typeof choice?.stream !== "function")
      throw invalid(option, `${option} must be a model such as "anthropic/claude-haiku-4-5" or a provider`);
  }
  for (const option of [
    "maxTurns",
    "maxModelCalls",
    "maxRetries",
    "maxRepairs",
    "maxToolCalls",
    "maxParallelCalls",
    "maxBackground",
    "maxAnswerBytes",
    "maxDurationMs",
    "toolTimeoutMs",
  ] as const) {
    const value = limits[option];
    const least = option === "maxRetries" || option === "maxRepairs" || option === "maxToolCalls" ? 0 : 1;
    if (value !== undefined && !(Number.isFinite(value) && value >= least))
      throw invalid(`limits.${option}`, `limits.${option} must be a number of at least ${least}, not ${String(value)}`);
  }
  costLimit(limits.maxCost);
  checkBudgetLimits(limits);
  if (permissions?.mode !== undefined && !PERMISSION_MODES.includes(permissions.mode))
    throw invalid(
      "permissions.mode",
      `permissions.mode must be one of ${PERMISSION_MODES.join(", ")}, not ${JSON.stringify(permissions.mode)}`,
    );
  if (onMaxTokens !== undefined && onMaxTokens !== "end" && onMaxTokens !== "continue")
    throw invalid("onMaxTokens", `onMaxTokens must be "end" or "continue", not ${JSON.stringify(onMaxTokens)}`);
  checkFunctions(options as AgentOptions<unknown>);
  checkDirectiveFilters(options.directiveFilters);
  checkStrategyOption(options as AgentOptions<unknown>);
  checkSignalOptions(options as AgentOptions<unknown>);
  checkPrompt(options as AgentOptions<unknown>);
  checkHookOptions(options);
  for (const option of ["allowedTools", "excludedTools"] as const) {
    const list: unknown = options[option];
    if (list !== undefined && !(Array.isArray(list) && list.every((entry) => typeof entry === "string")))
      throw invalid(option, `${option} must be a list of names of tools, not ${JSON.stringify(list)}`);
  }
  for (const option of ["cwd", "debugFile"] as const) {
    const path = options[option];
    if (path !== undefined && (typeof path !== "string" || path === ""))
      throw invalid(option, `${option} must be a path, not ${JSON.stringify(path)}`);
  }
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    if (typeof tool?.execute !== "function" || typeof tool.parse !== "function")
      throw invalid(`tools[${index}]`, `tools[${index}] is no tool: make it with defineTool`);
    if (names.has(tool.name)) throw invalid(`tools[${index}]`, `two tools are named "${tool.name}": rename one with aliasTool`);
    names.add(tool.name);
  }
  for (const excluded of excludedTools)
    if (!names.has(excluded)) throw invalid("excludedTools", `excludedTools names "${excluded}", which is none of the agent's tools`);
}

function checkFunctions(options: AgentOptions<unknown>): void {
  checkPlugins(options.plugins);
  if (options.compact === undefined && [...(options.middleware ?? [])].some(({ marksForSummary }) => marksForSummary))
    throw invalid("compact", "compact is missing: the agent's middleware marks conversations for summarising, which compact does");
  for (const option of ["onModelError", "compact"] as const) {
    if (options[option] !== undefined && typeof options[option] !== "function") throw invalid(option, `${option} must be a function`);
  }
  for (const [index, rule] of (options.rules ?? []).entries()) {
    if (typeof rule?.run !== "function" || typeof rule.name !== "string" || typeof rule.trigger?.type !== "string")
      throw invalid(`rules[${index}]`, `rules[${index}] is no rule: make it with ruleBefore, ruleAfter, ruleWhen or rulesFrom`);
  }
}

function checkPrompt({ instructions, systemPrompt }: AgentOptions<unknown>): void {
  if (instructions !== undefined && typeof instructions !== "string" && typeof instructions !== "function")
    throw invalid("instructions", "instructions must be a text, or a function that gives one");
  if (systemPrompt === undefined) return;
  if ((systemPrompt.type !== "append" && systemPrompt.type !== "replace") || typeof systemPrompt.content !== "string")
    throw invalid(
      "systemPrompt",
      `systemPrompt must be { type: "append" | "replace", content } with a text, not ${JSON.stringify(systemPrompt)}`,
    );
}

function invalid(option: string, message: string, cause?: unknown): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${message}.` }, cause === undefined ? {} : { cause });
}
