import type { PermissionPolicy } from "@keelson/protocol";
import type { AgentOptions } from "../agent.ts";

/** The part of an agent's options that is a permission policy; one object for one definition, since policies are compiled by identity. */
export function permissionPolicy(options: Omit<AgentOptions<never>, "output">): PermissionPolicy {
  let policy = policies.get(options);
  if (policy === undefined) {
    const { mode = "default", rules = [], sensitivePaths } = options.permissions ?? {};
    policy = { mode, rules, ...(sensitivePaths !== undefined && { sensitivePaths }) };
    policies.set(options, policy);
  }
  return policy;
}
const policies = new WeakMap<object, PermissionPolicy>();
