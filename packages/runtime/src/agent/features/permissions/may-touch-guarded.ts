import type { CompiledPolicy, ToolRules } from "../../definition/permissions/compiled-policy.ts";
import { compileGlob, type Glob, globsMeet } from "../../definition/permissions/glob.ts";
import type { JudgedCall } from "../../definition/permissions/judged-call.ts";
import { seePath } from "../../definition/permissions/path-pattern.ts";
import { deniedByBounds } from "./judge-bounds.ts";
import { openGuards } from "./open-guards.ts";

/** Returns the patterns of what a call may touch that could be something that a rule denies or asks about, or that the policy denies. */
export function mayTouchGuarded(policy: CompiledPolicy, rules: ToolRules, call: JudgedCall): readonly string[] {
  const { effects, cwd } = call;
  const { mayTouch = [], confined } = effects ?? {};
  if (mayTouch.length === 0) return [];
  // A sandbox holds the bounds itself.
  const bounds = confined === undefined ? policy.bounds : undefined;
  const denied = bounds === undefined ? [] : deniedByBounds(bounds, cwd);
  const guards = [
    ...openGuards(rules, call).flatMap(({ compiled: { binds, path } }) =>
      binds?.reads === true || binds?.writes === true ? (path ?? []) : [],
    ),
    ...denied.flatMap((path) => [literally(path), compileGlob(`${escaped(path)}/*`)]),
  ];
  const isListed = bounds?.filesystem?.readableRoots !== undefined || bounds?.filesystem?.writableRoots !== undefined;
  return mayTouch.filter((pattern) => {
    if (pattern === "*" && (guards.length > 0 || isListed)) return true;
    const { shown, absolute = shown } = seePath(pattern, cwd);
    const [relative, whole] = [compileGlob(shown), compileGlob(absolute)];
    return guards.some((guard) => globsMeet(guard, guard.literals[0].startsWith("/") ? whole : relative));
  });
}

function escaped(path: string): string {
  return path.replace(/[\\*]/g, "\\$&");
}

function literally(path: string): Glob {
  return { literals: [path] };
}
