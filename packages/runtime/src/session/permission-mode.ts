import type { Authority, PermissionMode, PermissionPolicy } from "@keelson/protocol";
import type { RunTerms } from "./record-data.ts";

/** The strictness of each mode. Of two modes with the same number neither allows all that the other allows. */
const STRICTNESS: { readonly [M in PermissionMode]: number } = {
  "bypass-all": 0,
  "accept-edits": 1,
  "default": 2,
  "plan-only": 3,
  "deny-unauthorized": 3,
};
const STRICTEST_FIRST: readonly PermissionMode[] = ["plan-only", "deny-unauthorized", "default", "accept-edits", "bypass-all"];

/** Returns the mode that decides what runs without a question: the strictest of all policies. */
export function permissionModeOf({ policies }: Pick<Authority, "policies">): PermissionMode {
  return STRICTEST_FIRST.find((mode) => policies.some((policy) => policy.mode === mode)) ?? "default";
}

/**
 * Returns an authority with a permission mode that was set for a run.
 * @param hasOwnPolicy True if the policy of the agent is the only one. Then the mode replaces its mode. Else the policies came from what started
 * the run, and the mode can only restrict each of them further.
 */
export function withPermissionMode(authority: Authority, mode: PermissionMode, hasOwnPolicy: boolean): Authority {
  const policies = authority.policies.flatMap((policy) => (hasOwnPolicy ? [{ ...policy, mode }] : restricted(policy, mode)));
  return { ...authority, policies };
}

/** Returns the mode that holds for the calls of the next response of a run. @param set the mode that was set since it began */
export function permissionModeOfRun({ authority, ownPolicy }: RunTerms, set: PermissionMode | undefined): PermissionMode {
  return permissionModeOf(set === undefined ? authority : withPermissionMode(authority, set, ownPolicy === true));
}

function restricted(policy: PermissionPolicy, mode: PermissionMode): readonly PermissionPolicy[] {
  const difference = STRICTNESS[mode] - STRICTNESS[policy.mode];
  if (difference < 0 || mode === policy.mode) return [policy];
  return difference > 0 ? [{ ...policy, mode }] : [policy, { ...policy, mode }];
}
