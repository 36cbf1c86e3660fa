import type { PermissionBehavior, PermissionMode, PermissionRule } from "@keelson/protocol";
import { checkOptionNames, type OptionNames } from "../../../json/option-names.ts";
import { aliasesOf } from "../../../tools/find-alias.ts";
import { invalidOption, shown } from "../invalid-option.ts";
import { pathsFromClaude } from "./paths-from-claude.ts";

export interface RulesFromClaudeOptions {
  /** The person's home folder, absolute: without it, rules about `~/` are left untranslated. */
  readonly home?: string | undefined;
}

const OPTION_NAMES: OptionNames<RulesFromClaudeOptions> = { home: true };

/** What settings for Claude Code say about permissions, as an agent takes it: `permissions: { mode, rules }`. */
export interface RulesFromClaude {
  /** Absent: they name none. */
  readonly mode?: PermissionMode;
  readonly rules: readonly PermissionRule[];
  /** What these rules do not say. A person should see it, most of all where it is a deny. */
  readonly untranslated: readonly UntranslatedRule[];
}

export interface UntranslatedRule {
  /** As it stood there. */
  readonly rule: string;
  /** Absent where it is no rule but another setting. */
  readonly behavior?: PermissionBehavior;
  readonly why: string;
}

/**
 * Translates the `permissions` of Claude Code's settings into rules about tools with the names that ours have. Where the two languages
 * differ, a deny or ask rule covers at least what it did, and an allow rule at most that; what can't be said so is `untranslated`.
 * @param settings the parsed content of a settings file; whatever is not about permissions is left alone
 * @throws AgentError of kind `invalid-option` that names the place of what is no such setting
 */
export function rulesFromClaude(settings: unknown, options: RulesFromClaudeOptions = {}): RulesFromClaude {
  checkOptionNames("rulesFromClaude", options, OPTION_NAMES);
  const { home } = options;
  if (home !== undefined && !(typeof home === "string" && home.startsWith("/")))
    throw invalidOption("home", `must be an absolute path, not ${shown(home)}`);
  const { permissions = {} } = objectAt("settings", settings);
  const { allow, deny, ask, defaultMode, ...others } = objectAt("settings.permissions", permissions);
  const rules: PermissionRule[] = [];
  const untranslated: UntranslatedRule[] = [];
  for (const [behavior, list] of Object.entries({ deny, ask, allow }) as [PermissionBehavior, unknown][])
    for (const [index, rule] of listAt(`settings.permissions.${behavior}`, list ?? []).entries()) {
      const translated = translate(parsed(`settings.permissions.${behavior}[${index}]`, rule), behavior, home);
      if (typeof translated === "string") untranslated.push({ rule: rule as string, behavior, why: translated });
      else rules.push(...translated.map((pattern) => ({ pattern, behavior })));
    }
  const mode = modeOf(defaultMode);
  if (defaultMode !== undefined && mode === undefined)
    untranslated.push({ rule: `defaultMode: ${String(defaultMode)}`, why: "There is no such permission mode here." });
  for (const [name, value] of Object.entries(others))
    untranslated.push({ rule: `${name}: ${shown(value)}`, why: "This setting has no counterpart among rules and modes." });
  return { ...(mode !== undefined && { mode }), rules, untranslated };
}

const MODES: ReadonlyMap<string, PermissionMode> = new Map([
  ["default", "default"],
  ["acceptEdits", "accept-edits"],
  ["plan", "plan-only"],
  ["bypassPermissions", "bypass-all"],
  ["dontAsk", "deny-unauthorized"],
]);

/** @throws AgentError of kind `invalid-option` for what is no name of a mode */
function modeOf(defaultMode: unknown): PermissionMode | undefined {
  if (defaultMode === undefined) return undefined;
  if (typeof defaultMode !== "string")
    throw invalidOption("settings.permissions.defaultMode", `must be a mode such as "acceptEdits", not ${shown(defaultMode)}`);
  return MODES.get(defaultMode);
}

interface ClaudeRule {
  readonly tool: string;
  /** Absent: whatever the arguments are. */
  readonly argument?: string;
}

function parsed(place: string, rule: unknown): ClaudeRule {
  const [, tool, argument] = (typeof rule === "string" && /^([^()\s]+)(?:\(([^]*)\))?$/.exec(rule)) || [];
  if (tool === undefined) throw invalidOption(place, `must be a rule such as "Bash(npm run test:*)", not ${shown(rule)}`);
  return { tool, ...(argument !== undefined && argument !== "" && argument !== "*" && { argument }) };
}

/** Rules about these are about the files themselves, whatever reads or writes them: so are ours, which have a pattern for paths. */
const FILES: ReadonlySet<string> = new Set(["read_file", "edit_file", "write_file"]);

/** Our name for a tool; those there begin with a capital letter. */
function toolHere(tool: string): string | undefined {
  return /^[A-Z]/.test(tool) ? aliasesOf(tool).find(({ name }) => name === tool)?.tool : undefined;
}

/** @returns patterns, or why there are none */
function translate({ tool, argument }: ClaudeRule, behavior: PermissionBehavior, home: string | undefined): readonly string[] | string {
  const here = toolHere(tool);
  if (here !== undefined && FILES.has(here)) {
    const paths = argument === undefined ? ["**"] : pathsFromClaude(argument, { home, widen: behavior !== "allow" });
    return typeof paths === "string" ? paths : paths.map((path) => `${here}(${path})`);
  }
  if (here === "bash") return [argument === undefined ? "bash" : commandRule(argument)];
  if (here === "web_fetch") return hostRule(argument);
  if (/^mcp__./.test(tool)) {
    if (argument !== undefined) return "Rules about tools of servers are about all of their arguments.";
    // A server alone stands for all of its tools.
    return [tool.endsWith("*") || tool.slice("mcp__".length).includes("__") ? tool : `${tool}__*`];
  }
  if (here === undefined) return `There is no tool here that is what ${tool} is there.`;
  return argument === undefined
    ? [here]
    : `Rules about ${here} are about all of its arguments; a rule about Read says which files may be searched.`;
}

/** `npm test:*` is `npm test` with or without arguments, and so is `npm test *`, there as here. */
function commandRule(argument: string): string {
  const prefix = argument.endsWith(":*") ? argument.slice(0, -2).trimEnd() : undefined;
  if (prefix === "") return "bash";
  return prefix === undefined ? `bash(${argument})` : `bash(${prefix} *)`;
}

function hostRule(argument: string | undefined): readonly string[] | string {
  if (argument === undefined) return ["web_fetch"];
  const host = /^domain:([^\s/:]+)$/.exec(argument)?.[1];
  return host === undefined
    ? 'Only hosts can be said of fetches, as in "WebFetch(domain:example.com)".'
    : [`web_fetch(${host.toLowerCase()})`];
}

function objectAt(place: string, value: unknown): { readonly [name: string]: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidOption(place, `must be an object such as { permissions: { allow: ["Bash(npm test:*)"] } }, not ${shown(value)}`);
  return value as { readonly [name: string]: unknown };
}

function listAt(place: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidOption(place, `must be a list of rules such as ["Bash(npm test:*)"], not ${shown(value)}`);
  return value;
}
