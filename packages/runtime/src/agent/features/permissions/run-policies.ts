import { compilePolicy, type CompiledPolicy } from "../../definition/permissions/compiled-policy.ts";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

const POLICIES = new PartKey<readonly CompiledPolicy[]>("policies");

/** What holds for the calls of a run: those of the agent, and of whoever started it. */
export function policiesOf({ parts }: Loop): readonly CompiledPolicy[] {
  return parts.need(POLICIES);
}

export function bindPolicies({ parts, authority }: Loop): void {
  parts.set(
    POLICIES,
    authority.policies.map((policy) => compilePolicy(policy)),
  );
}
