import type { CompiledPolicy, RuleVerdict } from "../../definition/permissions/compiled-policy.ts";
import { bindsRead } from "../../definition/permissions/match-rule.ts";
import { judgeBounds } from "./judge-bounds.ts";
import { seePath } from "../../definition/permissions/path-pattern.ts";
import { isExact } from "../../definition/permissions/permission-rule.ts";

/** Whether no policy would deny or ask about reading this file alone, or the call named it and was let through. */
export function mayReadUnasked(given: {
  readonly policies: readonly CompiledPolicy[];
  /** Under its resolved name. */
  readonly tool: string;
  readonly path: string;
  /** What the call said that it reads. */
  readonly named: readonly string[];
  readonly cwd: string | undefined;
  readonly grants: readonly RuleVerdict[];
}): boolean {
  const { policies, tool, cwd, grants } = given;
  const path = seePath(given.path, cwd);
  if (given.named.some((named) => seePath(named, cwd).shown === path.shown)) return true;
  return policies.every((policy) => {
    if (policy.bounds !== undefined && judgeBounds(policy.bounds, { reads: [given.path] }, cwd).length > 0) return false;
    const { deny, ask, allow } = policy.rulesFor(tool);
    if (deny.some((rule) => bindsRead(rule, path)) || ask.some((rule) => bindsRead(rule, path))) return false;
    if (policy.mode === "bypass-all" || !policy.sensitive.read(path)) return true;
    const lifted = policy.mode === "deny-unauthorized" ? allow : [...allow, ...grants];
    return lifted.some((rule) => isExact(rule.compiled) && bindsRead(rule, path));
  });
}
