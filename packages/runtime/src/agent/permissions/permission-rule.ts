import { AgentError, type PermissionBehavior, type PermissionRule } from "@keelson/protocol";
import type { ShellCommand } from "./shell-command.ts";

/** A pattern taken apart once. `literals` are the stretches between the wildcards, so there is always one more of them. */
export interface Glob {
  readonly literals: readonly [string, ...string[]];
}

export interface CompiledRule {
  readonly rule: PermissionRule;
  readonly tool: Glob;
  /** Absent: whatever the arguments are. */
  readonly argument?: Glob;
  readonly wildcards: number;
  /** Characters before the first wildcard. */
  readonly literalPrefix: number;
}

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
  return argumentPattern === "*" ? ranked(rule, tool) : ranked(rule, tool, compileGlob(argumentPattern));
}

function ranked(rule: PermissionRule, tool: Glob, argument?: Glob): CompiledRule {
  const wildcards = tool.literals.length - 1 + (argument === undefined ? 0 : argument.literals.length - 1);
  const toolPrefix = tool.literals[0].length;
  const literalPrefix = tool.literals.length > 1 || argument === undefined ? toolPrefix : toolPrefix + argument.literals[0].length;
  return { rule, tool, ...(argument !== undefined && { argument }), wildcards, literalPrefix };
}

/** Negative when `a` is more specific: fewer wildcards, then the longer literal prefix. Equal rules keep their order. */
export function compareSpecificity(a: CompiledRule, b: CompiledRule): number {
  return a.wildcards - b.wildcards || b.literalPrefix - a.literalPrefix;
}

/**
 * Whether a rule whose tool matches is about these arguments. With `shell` the text is a command line: an allow pattern
 * with a wildcard then covers one simple command only, so that `bash(npm test*)` doesn't let `npm test; rm -rf /` through,
 * while deny and ask patterns match when any part of the command may be what they describe.
 */
export function matchesArgument(compiled: CompiledRule, argumentText: string, shell?: ShellCommand): boolean {
  const { argument } = compiled;
  if (argument === undefined) return true;
  if (shell === undefined) return matchesGlob(argument, argumentText);
  if (compiled.rule.behavior === "allow") {
    if (!matchesGlob(argument, argumentText)) return false;
    // Without a wildcard the rule is the whole command as its author wrote it, operators included.
    return argument.literals.length === 1 || !shell.compound;
  }
  return matchesGlob(argument, argumentText) || shell.parts.some((part) => matchesGlob(argument, part));
}

/** Linear in the text for every literal: no pattern makes it backtrack. */
export function matchesGlob({ literals }: Glob, text: string): boolean {
  const first = literals[0];
  const last = literals.length - 1;
  if (last === 0) return text === first;
  if (!text.startsWith(first)) return false;
  const tail = literals[last]!;
  const end = text.length - tail.length;
  let position = first.length;
  if (end < position || !text.endsWith(tail)) return false;
  for (let index = 1; index < last; index++) {
    const literal = literals[index]!;
    const found = text.indexOf(literal, position);
    if (found < 0) return false;
    position = found + literal.length;
  }
  return position <= end;
}

export function compileGlob(pattern: string): Glob {
  const literals: [string, ...string[]] = [""];
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index]!;
    const next = pattern[index + 1];
    if (character === "*") {
      // Neighbouring stars say no more than one.
      if (literals.length === 1 || literals.at(-1) !== "") literals.push("");
    } else if (character === "\\" && (next === "*" || next === "\\")) {
      literals[literals.length - 1] += next;
      index++;
    } else {
      literals[literals.length - 1] += character;
    }
  }
  return { literals };
}
