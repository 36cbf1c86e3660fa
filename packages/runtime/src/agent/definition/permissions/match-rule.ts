import type { CommandEffect } from "@keelson/protocol";
import { compileGlob, globsMeet, matchesGlob, type Glob } from "./glob.ts";
import type { JudgedCall } from "./judged-call.ts";
import { matchesPath, seePath, type SeenPath } from "./path-pattern.ts";
import { isExact, type CompiledRule } from "./permission-rule.ts";

/** A rule as it stands to one tool. */
export interface ToolRule {
  readonly compiled: CompiledRule;
  /** It names the tool; else it only binds the files or hosts that a call touches. */
  readonly own: boolean;
}

/**
 * Whether a deny or ask rule is about this call: it names its tool, or any of what the call does, under any of the names that has:
 * the whole text, each command and its aliases, each path, each host.
 */
export function namesCall({ compiled, own }: ToolRule, call: JudgedCall): boolean {
  const { argument } = compiled;
  if (namesOpening(compiled, call)) return true;
  if (argument === undefined) return own;
  if (own && (matchesGlob(argument, call.text()) || matchesJson(compiled, call))) return true;
  const { effects } = call;
  if (effects === undefined) return false;
  if (own && effects.commands?.some((command) => namesCommand(argument, command))) return true;
  return (
    call.reads.some((path) => bindsRead({ compiled, own }, path)) ||
    effects.reveals?.some((path) => bindsRead({ compiled, own }, seePath(path, undefined))) === true ||
    call.writes.some((path) => bindsWrite({ compiled, own }, path)) ||
    effects.hosts?.some((host) => bindsHost({ compiled, own }, host)) === true
  );
}

/** True if the rule is about a way out of the sandbox, or past the undo, that the call asks for. */
function namesOpening(compiled: CompiledRule, call: JudgedCall): boolean {
  const { opens, argument } = compiled;
  const { outside, ports = [], commands = [], hosts = [] } = call.effects ?? {};
  switch (opens) {
    case "outside":
      if (outside === undefined) return false;
      return argument === undefined || matchesGlob(argument, call.text()) || commands.some((command) => namesCommand(argument, command));
    case "port":
      return ports.some((port) => argument === undefined || matchesGlob(argument, String(port)));
    case "reveal":
      return call.effects?.reveals?.some((path) => opensFile(compiled, path)) === true;
    case "lose":
      return call.effects?.loses?.some(({ path }) => allowsLoss(compiled, path, call.cwd)) === true;
    case "host":
      return argument === undefined && hosts.length > 0;
    default:
      return false;
  }
}

/** True if a rule about `reveal` names a file, by its path below the workspace. */
export function opensFile({ opens, argument, path }: CompiledRule, file: string): boolean {
  return opens === "reveal" && (argument === undefined || (path !== undefined && matchesPath(path, seePath(file, undefined))));
}

/** True if a rule about `lose` names a file that a call may delete for good, or a folder above it. */
export function allowsLoss({ opens, argument, path }: CompiledRule, lost: string, cwd: string | undefined): boolean {
  if (opens !== "lose") return false;
  if (argument === undefined) return true;
  for (let at = seePath(lost, cwd); path !== undefined;) {
    if (matchesPath(path, at)) return true;
    const above = at.shown.slice(0, Math.max(0, at.shown.lastIndexOf("/")));
    if (above === "") return false;
    at = seePath(above, cwd);
  }
  return false;
}

/** Exactly what stands there, as a whole: the one kind of rule that covers what can't be known by reading. */
export function isExactly({ compiled, own }: ToolRule, call: JudgedCall): boolean {
  return own && isExact(compiled) && (compiled.argument?.literals[0] === call.text() || matchesJson(compiled, call));
}

function matchesJson(compiled: CompiledRule, call: JudgedCall): boolean {
  const text = compiled.argument?.literals[0];
  return isExact(compiled) && text?.startsWith("{") === true && text === call.json();
}

function namesCommand(argument: Glob, { text, aliases }: CommandEffect): boolean {
  return matchesCommand(argument, text) || aliases?.some((alias) => matchesCommand(argument, alias)) === true;
}

/** True if the command may be what the rule says, depending on what the line computes. */
export function mayNameCommand(argument: Glob, { pattern }: CommandEffect): boolean {
  if (pattern === undefined) return false;
  const computed = compileGlob(pattern);
  return (
    globsMeet(argument, computed) || (argument.literals.at(-2)?.endsWith(" ") === true && globsMeet(argument, compileGlob(`${pattern} `)))
  );
}

/** True if an allow rule covers words of the command that no table lists: with `**`, or if each of them is written out in the rule. */
export function coversUnlisted({ literals, anything }: Glob, { unlisted = [] }: CommandEffect): boolean {
  return anything === true || unlisted.every((word) => literals.some((literal) => ` ${literal} `.includes(` ${word} `)));
}

/** `npm test *` is also about `npm test` without arguments. */
export function matchesCommand(argument: Glob, text: string): boolean {
  return matchesGlob(argument, text) || (argument.literals.at(-2)?.endsWith(" ") === true && matchesGlob(argument, `${text} `));
}

export function bindsRead({ compiled, own }: ToolRule, path: SeenPath): boolean {
  return compiled.path !== undefined && (own || compiled.binds?.reads === true) && matchesPath(compiled.path, path);
}

export function bindsWrite({ compiled, own }: ToolRule, path: SeenPath): boolean {
  return compiled.path !== undefined && (own || compiled.binds?.writes === true) && matchesPath(compiled.path, path);
}

export function bindsHost({ compiled, own }: ToolRule, host: string): boolean {
  return compiled.argument !== undefined && (own || compiled.binds?.hosts === true) && matchesGlob(compiled.argument, host.toLowerCase());
}
