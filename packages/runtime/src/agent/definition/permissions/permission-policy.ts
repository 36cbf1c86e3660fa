import type { PermissionPolicy } from "@keelson/protocol";
import type { AgentOptions } from "../agent.ts";

/** The part of an agent's options that is a permission policy. */
export function permissionPolicy({ permissions }: Omit<AgentOptions<never>, "output">): PermissionPolicy {
  const { mode = "default", rules = [], sensitivePaths, bounds } = permissions ?? {};
  return { mode, rules, ...(sensitivePaths !== undefined && { sensitivePaths }), ...(bounds !== undefined && { bounds }) };
}
