import type { PermissionMode, PermissionPolicy } from "@keelson/protocol";
import { permissionModeOf, permissionModeOfRun } from "../../../session/permission-mode.ts";
import { compilePolicy, type CompiledPolicy } from "../../definition/permissions/compiled-policy.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

interface BoundPolicies {
  of: readonly PermissionPolicy[];
  compiled: readonly CompiledPolicy[];
  /** True while the run reads its inbox before the first call of a response is judged. */
  areCallsUnjudged: boolean;
}

const POLICIES = new PartKey<BoundPolicies>("policies");

/** Returns the policies that hold for the calls of a run: those of its agent, and of the runs above it, with the permission mode that was set. */
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
  parts.set(POLICIES, { of: policies, compiled: compiled(policies), areCallsUnjudged: false });
}

/** Reads what was said while a response streamed, before its calls are judged. A permission mode that is set there holds for these calls, too. */
export async function readInboxBeforeGates(loop: Loop): Promise<void> {
  const bound = loop.parts.need(POLICIES);
  bound.areCallsUnjudged = true;
  try {
    await loop.readInbox();
  } finally {
    bound.areCallsUnjudged = false;
  }
}

/** True if a permission mode that is read now holds for the open calls. */
export function areCallsUnjudged({ parts }: Loop): boolean {
  return parts.need(POLICIES).areCallsUnjudged;
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
