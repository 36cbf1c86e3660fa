import { PERMISSION_MODES, type PermissionPolicy } from "@keelson/protocol";
import { checkMembers, invalidOption, shown } from "../invalid-option.ts";

/** Checks the shape of a policy; its rules are read when it is compiled. @throws AgentError of kind `invalid-option` */
export function checkPermissions(permissions: Partial<PermissionPolicy>): void {
  checkMembers("permissions", permissions, ["mode", "rules"], '{ mode: "plan-only" }');
  const { mode, rules } = permissions;
  if (mode !== undefined && !PERMISSION_MODES.includes(mode))
    throw invalidOption("permissions.mode", `must be one of ${PERMISSION_MODES.join(", ")}, not ${shown(mode)}`);
  if (rules !== undefined && !Array.isArray(rules))
    throw invalidOption(
      "permissions.rules",
      `must be a list such as [{ pattern: "bash(npm test*)", behavior: "allow" }], not ${shown(rules)}`,
    );
}
