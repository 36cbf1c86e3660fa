import type { Confinement } from "@keelson/protocol";
import type { RuleVerdict, ToolRules } from "../../definition/permissions/compiled-policy.ts";
import type { Glob } from "../../definition/permissions/glob.ts";
import type { JudgedCall } from "../../definition/permissions/judged-call.ts";
import { normalizePath } from "../../definition/permissions/path-pattern.ts";

/** Returns the deny and ask rules about commands, files and hosts that nothing but the decision holds: the sandbox of the call does not. */
export function openGuards({ deny, ask }: ToolRules, { effects, cwd }: JudgedCall): readonly RuleVerdict[] {
  const guards = [...deny, ...ask].filter(({ compiled: { argument } }) => argument !== undefined);
  const confined = effects?.confined;
  // A hidden file is in the repository all the same.
  const isCommitted = effects?.commands?.some(({ committed }) => committed === true) === true;
  if (confined === undefined) return guards;
  const holding = isCommitted ? { ...confined, hidesFiles: [] } : confined;
  return guards.filter((rule) => !holds(holding, rule, cwd));
}

function holds(confined: Confinement, rule: RuleVerdict, cwd: string | undefined): boolean {
  if (rule.decision.behavior !== "deny") return false;
  const { binds, argument, path } = rule.compiled;
  if (rule.own && binds?.reads !== true && binds?.writes !== true) return hidesProgram(confined, argument);
  if (binds?.hosts === true && binds.reads !== true && binds.writes !== true)
    return confined.reaches === "none" || confined.reaches === "listed";
  return path !== undefined && path.every((glob) => hidesFiles(confined, glob, cwd));
}

/** True if the rule denies a program without regard to its arguments, and the sandbox hides that. */
function hidesProgram({ hides = [] }: Confinement, argument: Glob | undefined): boolean {
  if (argument === undefined) return false;
  const [name, rest] = argument.literals;
  const isWhole = argument.literals.length === 1 || (argument.literals.length === 2 && rest === "" && name.endsWith(" "));
  return isWhole && hides.includes(name.trimEnd());
}

/** True if all files that a pattern may be about are in a folder that the sandbox hides. */
function hidesFiles({ hidesFiles: hidden = [] }: Confinement, { literals }: Glob, cwd: string | undefined): boolean {
  const [start] = literals;
  // The last name before a star may go on.
  const named = literals.length === 1 ? start : start.slice(0, start.lastIndexOf("/") + 1);
  if (named === "") return false;
  const path = named.startsWith("/") || cwd === undefined ? normalizePath(named) : normalizePath(`${cwd}/${named}`);
  return hidden.some((one) => path === one || path.startsWith(`${one}/`));
}
