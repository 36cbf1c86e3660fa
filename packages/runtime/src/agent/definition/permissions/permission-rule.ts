import { AgentError, type PermissionBehavior, type PermissionRule } from "@keelson/protocol";
import { compileGlob, matchesGlob, type Glob } from "./glob.ts";
import { compilePathPattern } from "./path-pattern.ts";

export interface CompiledRule {
  readonly rule: PermissionRule;
  readonly tool: Glob;
  /** Absent: whatever the arguments are. */
  readonly argument?: Glob;
  /** The same as a pattern for paths. */
  readonly path?: readonly Glob[];
  /** What it binds in every call that touches the like, whatever the tool; absent without an argument pattern. */
  readonly binds?: RuleReach;
  /** The way out of the sandbox or past the undo that it is about, if its tool is spelled exactly so: no rule with a wildcard for its tool opens one. */
  readonly opens?: Opening;
  readonly wildcards: number;
  /** Characters before the first wildcard. */
  readonly literalPrefix: number;
}

/** Rules with arguments about these tools are about the files and hosts themselves. */
export interface RuleReach {
  readonly reads: boolean;
  readonly writes: boolean;
  readonly hosts: boolean;
}
/** The names under which rules speak of what is read, written and connected to. */
export const REACHING_TOOLS: { readonly [K in keyof RuleReach]: readonly string[] } = {
  reads: ["read_file"],
  writes: ["write_file", "edit_file"],
  hosts: ["web_fetch", "host"],
};

/** Ways out of a sandbox and past the undo, as rules name them in the place of a tool: `outside(npm publish*)`, `host(example.com)`, `port(3000)`,
 * `reveal(.env)`, `lose(dist)`. */
export type Opening = "outside" | "host" | "port" | "reveal" | "lose";
export const OPENINGS: readonly Opening[] = ["outside", "host", "port", "reveal", "lose"];

const BEHAVIORS: readonly PermissionBehavior[] = ["allow", "deny", "ask"];

/**
 * Reads `tool-glob` or `tool-glob(argument-glob)`. `*` matches any characters, `/` and line ends included; `\*` is a star
 * and `\\` a backslash. `tool(*)` is the same as `tool`.
 * @throws AgentError of kind `invalid-option` that names the rule and what is wrong with it
 */
export function compilePermissionRule(rule: PermissionRule, option: string = "permissions.rules"): CompiledRule {
  const { pattern, behavior } = (rule ?? {}) as PermissionRule;
  const refuse = (problem: string): never => {
    throw new AgentError({
      kind: "invalid-option",
      option,
      message: `${option}: the permission rule ${JSON.stringify(pattern) ?? "without a pattern"} ${problem}. Write tool-glob or tool-glob(argument-glob), as in "bash(npm test*)".`,
    });
  };
  if (typeof pattern !== "string" || pattern === "") refuse("must be { pattern, behavior } with a pattern that is not empty");
  if (!BEHAVIORS.includes(behavior)) refuse(`has the unknown behavior ${JSON.stringify(behavior)}: it must be allow, deny or ask`);

  const open = pattern.indexOf("(");
  const toolPattern = open < 0 ? pattern : pattern.slice(0, open);
  if (toolPattern === "") refuse('names no tool before "("; "*" stands for every tool');
  if (/\s/.test(toolPattern)) refuse("has white space in the name of its tool");
  if (toolPattern.includes(")")) refuse('has a ")" without a "("');
  const tool = compileGlob(toolPattern);
  if (open < 0) return ranked(rule, tool);

  if (!pattern.endsWith(")")) {
    const close = pattern.lastIndexOf(")");
    refuse(close < 0 ? 'has a "(" without a ")"' : `goes on after its ")" with ${JSON.stringify(pattern.slice(close + 1))}`);
  }
  const argumentPattern = pattern.slice(open + 1, -1);
  if (argumentPattern === "") refuse(`has nothing between its parentheses; "${toolPattern}" alone matches every argument`);
  return argumentPattern === "*" ? ranked(rule, tool) : ranked(rule, tool, argumentPattern);
}

function ranked(rule: PermissionRule, tool: Glob, argumentPattern?: string): CompiledRule {
  const argument = argumentPattern === undefined ? undefined : compileGlob(argumentPattern);
  const wildcards = tool.literals.length - 1 + (argument === undefined ? 0 : argument.literals.length - 1);
  const toolPrefix = tool.literals[0].length;
  const literalPrefix = tool.literals.length > 1 || argument === undefined ? toolPrefix : toolPrefix + argument.literals[0].length;
  const opens = tool.literals.length > 1 ? undefined : OPENINGS.find((opening) => opening === tool.literals[0]);
  const ranks = { rule, tool, wildcards, literalPrefix, ...(opens && { opens }) };
  if (argument === undefined) return ranks;
  return { ...ranks, argument, path: compilePathPattern(argumentPattern as string), binds: reachOf(tool) };
}

function reachOf(tool: Glob): RuleReach {
  const isAbout = (names: readonly string[]): boolean => names.some((name) => matchesGlob(tool, name));
  return { reads: isAbout(REACHING_TOOLS.reads), writes: isAbout(REACHING_TOOLS.writes), hosts: isAbout(REACHING_TOOLS.hosts) };
}

/** It has an argument pattern without a wildcard. */
export function isExact({ argument }: CompiledRule): boolean {
  return argument?.literals.length === 1;
}

/** Negative when `a` is more specific: fewer wildcards, then the longer literal prefix. Equal rules keep their order. */
export function compareSpecificity(a: CompiledRule, b: CompiledRule): number {
  return a.wildcards - b.wildcards || b.literalPrefix - a.literalPrefix;
}
