import { meantOption } from "../../json/option-names.ts";
import { plainJson } from "../../json/plain-json.ts";
import type { AgentOptions, JsonAgentOptions } from "./agent.ts";
import { checkCompaction } from "./compaction/compaction-options.ts";
import { checkLimits, LIMIT_NAMES } from "./check-limits.ts";
import { checkModelOptions } from "./check-settings.ts";
import { OPTION_NAMES } from "./definition-digest.ts";
import { checkDirectiveFilters } from "./effects/check-directive-filters.ts";
import { checkHookOptions } from "./hooks/hook-agent-options.ts";
import { invalidOption, shown } from "./invalid-option.ts";
import { checkPermissions } from "./permissions/check-permissions.ts";
import { checkPlugins } from "./plugins/check-plugins.ts";
import { checkSandbox } from "./sandbox/check-sandbox.ts";
import { checkSignalOptions } from "./signals/check-signals.ts";
import { checkDeferTools } from "./tool-sources/defer-tools.ts";
import { checkMcpServers } from "./tool-sources/check-mcp-servers.ts";
import { hasSources } from "./tool-sources/has-sources.ts";
import { checkToolSources } from "./tool-sources/check-tool-sources.ts";
import { checkStrategyOption } from "./strategies/check-strategy.ts";

type Options = AgentOptions<unknown> & { readonly context?: unknown };

/** What has to be so before anything is made of the options. @throws AgentError of kind `invalid-option` */
export function checkShape(options: AgentOptions<unknown> | JsonAgentOptions): void {
  if (typeof options !== "object" || options === null)
    throw invalidOption(
      "options",
      `of an agent must be an object such as { name: "clerk", model: "anthropic/claude-haiku-4-5" }, not ${shown(options)}`,
    );
  const { tools } = options;
  if (tools !== undefined && !Array.isArray(tools))
    throw invalidOption("tools", `must be a list of tools, made with defineTool, not ${shown(tools)}`);
}

/** @throws AgentError of kind `invalid-option`, which names the option, what was found, and what to write instead */
export function checkAgentOptions(given: AgentOptions<never> | AgentOptions<unknown> | AgentOptions<undefined>): void {
  const options = given as Options;
  checkNames(options);
  checkIdentity(options);
  checkTools(options);
  checkToolSources(options.toolSources);
  checkMcpServers(options.mcpServers);
  checkDeferTools(options.deferTools);
  checkModelOptions(given as AgentOptions<never>);
  if (options.limits !== undefined) checkLimits(options.limits);
  if (options.permissions !== undefined) checkPermissions(options.permissions);
  if (options.sandbox !== undefined) checkSandbox(options.sandbox);
  checkPrompt(options);
  checkFunctions(options);
  checkPlugins(options.plugins);
  checkDirectiveFilters(options.directiveFilters);
  checkStrategyOption(options);
  checkSignalOptions(options);
  checkHookOptions(options);
}

/** An option that is misspelt would be one that has no effect: a limit that does not hold. */
function checkNames(options: Options): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || OPTION_NAMES.includes(name)) continue;
    const meant = LIMIT_NAMES.includes(name) ? undefined : meantOption(name, OPTION_NAMES);
    const hint = LIMIT_NAMES.includes(name)
      ? `: write it as "limits.${name}"`
      : meant === undefined
        ? `: there are ${OPTION_NAMES.join(", ")}`
        : `. Did you mean "${meant}"`;
    throw invalidOption(name, `is no option of an agent. There is no option "${name}"${hint}`);
  }
}

function checkIdentity({ name, description, model, fallbackModel, metadata, onMaxTokens, ...rest }: Options): void {
  if (typeof name !== "string" || !/^[\w.-]{1,64}$/.test(name))
    throw invalidOption("name", `must be 1 to 64 letters, digits, "_", "-" or ".", not ${shown(name)}`);
  if (description !== undefined && typeof description !== "string")
    throw invalidOption("description", `must be a text for whoever uses the agent, not ${shown(description)}`);
  for (const [option, choice] of [
    ["model", model],
    ["fallbackModel", fallbackModel],
  ] as const) {
    if (choice === undefined && option === "fallbackModel") continue;
    if (typeof choice === "string" ? choice === "" : typeof choice?.stream !== "function")
      throw invalidOption(option, `must be a model such as "anthropic/claude-haiku-4-5" or a provider, not ${shown(choice)}`);
  }
  if (onMaxTokens !== undefined && onMaxTokens !== "end" && onMaxTokens !== "continue")
    throw invalidOption("onMaxTokens", `must be "end" or "continue", not ${shown(onMaxTokens)}`);
  for (const option of ["cwd", "debugFile"] as const) {
    const path = rest[option];
    if (path !== undefined && (typeof path !== "string" || path === "")) throw invalidOption(option, `must be a path, not ${shown(path)}`);
  }
  for (const option of ["loopGuard", "debug"] as const)
    if (rest[option] !== undefined && typeof rest[option] !== "boolean")
      throw invalidOption(option, `must be true or false, not ${shown(rest[option])}`);
  if (metadata === undefined) return;
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata))
    throw invalidOption("metadata", `must be an object such as { user: "ada" }, not ${shown(metadata)}`);
  try {
    plainJson(metadata);
  } catch (cause) {
    throw invalidOption("metadata", `must be JSON: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

function checkTools({ tools, toolSources, mcpServers, allowedTools, excludedTools }: Options): void {
  const names = new Set<string>();
  for (const [index, tool] of (tools ?? []).entries()) {
    if (typeof tool?.execute !== "function" || typeof tool.parse !== "function")
      throw invalidOption(`tools[${index}]`, "is no tool: make it with defineTool");
    if (names.has(tool.name))
      throw invalidOption(`tools[${index}]`, `is the second of two tools that are named "${tool.name}": rename one with aliasTool`);
    names.add(tool.name);
  }
  for (const [option, list] of [
    ["allowedTools", allowedTools],
    ["excludedTools", excludedTools],
  ] as const)
    if (list !== undefined && !(Array.isArray(list) && list.every((entry) => typeof entry === "string" && entry !== "")))
      throw invalidOption(option, `must be a list of names of tools, not ${shown(list)}`);
  for (const excluded of excludedTools ?? [])
    if (!names.has(excluded) && !hasSources({ toolSources, mcpServers }))
      throw invalidOption("excludedTools", `names "${excluded}", which is none of the agent's tools`);
}

function checkFunctions({ onModelError, compact, compaction, middleware, rules, context }: Options): void {
  for (const [option, callback] of [
    ["onModelError", onModelError],
    ["compact", compact],
    ["context", context],
  ] as const)
    if (callback !== undefined && typeof callback !== "function") throw invalidOption(option, `must be a function, not ${shown(callback)}`);
  if (compaction !== undefined) checkCompaction(compaction, compact !== undefined);
  if (compact === undefined && compaction === undefined && [...(middleware ?? [])].some(({ marksForSummary }) => marksForSummary))
    throw invalidOption(
      "compact",
      "is missing: the agent's middleware marks conversations for summarising, which compact does, or the strategy of compaction",
    );
  if (rules !== undefined && !Array.isArray(rules)) throw invalidOption("rules", `must be a list of rules, not ${shown(rules)}`);
  for (const [index, rule] of (rules ?? []).entries())
    if (typeof rule?.run !== "function" || typeof rule.name !== "string" || typeof rule.trigger?.type !== "string")
      throw invalidOption(`rules[${index}]`, "is no rule: make it with ruleBefore, ruleAfter, ruleWhen or rulesFrom");
}

function checkPrompt({ instructions, systemPrompt }: Options): void {
  if (instructions !== undefined && typeof instructions !== "string" && typeof instructions !== "function")
    throw invalidOption("instructions", `must be a text, or a function that gives one, not ${shown(instructions)}`);
  if (systemPrompt === undefined) return;
  const { type, content } = (systemPrompt ?? {}) as { readonly type?: unknown; readonly content?: unknown };
  if ((type !== "append" && type !== "replace") || typeof content !== "string")
    throw invalidOption("systemPrompt", `must be { type: "append" | "replace", content } with a text, not ${shown(systemPrompt)}`);
}
