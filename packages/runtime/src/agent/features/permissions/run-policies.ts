import type { PermissionMode, PermissionPolicy } from "@keelson/protocol";
import { permissionModeOf, permissionModeOfRun } from "../../../session/permission-mode.ts";
import { compilePolicy, type CompiledPolicy } from "../../definition/permissions/compiled-policy.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

interface BoundPolicies {
  of: readonly PermissionPolicy[];
  compiled: readonly CompiledPolicy[];
}

const POLICIES = new PartKey<BoundPolicies>("policies");

/**
 * What holds for the calls of a run: the policies of the agent, and of whoever started it. A permission mode that is set counts for the calls of later
 * responses.
 */
export function policiesOf({ parts, authority }: Loop): readonly CompiledPolicy[] {
  const bound = parts.need(POLICIES);
  if (bound.of !== authority.policies) {
    bound.of = authority.policies;
    bound.compiled = compiled(authority.policies);
  }
  return bound.compiled;
}

/** Compiles the policies before the run begins, so that a rule that can't be read is an error there. */
export function bindPolicies({ parts, authority }: Loop): void {
  const { policies } = authority;
  parts.set(POLICIES, { of: policies, compiled: compiled(policies) });
}

/** Returns the mode that holds for the calls of the next response. */
export function currentPermissionMode(loop: Loop): PermissionMode {
  const { permissionMode, terms } = runOf(loop);
  // Logs of the first release have no terms.
  return terms === undefined ? permissionModeOf(loop.authority) : permissionModeOfRun(terms, permissionMode);
}

function compiled(policies: readonly PermissionPolicy[]): readonly CompiledPolicy[] {
  return policies.map((policy) => compilePolicy(policy));
}
