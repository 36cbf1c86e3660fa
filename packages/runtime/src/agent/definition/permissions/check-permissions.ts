import type { AgentOptions } from "../agent.ts";
import { type EffectBounds, PERMISSION_MODES, type SensitivePaths } from "@keelson/protocol";
import { wrongInPolicy } from "../../../environment/sandbox/check-policy.ts";
import { checkMembers, invalidOption, shown } from "../invalid-option.ts";

/** Checks the shape of a policy; its rules are read when it is compiled. @throws AgentError of kind `invalid-option` */
export function checkPermissions(permissions: NonNullable<AgentOptions["permissions"]>): void {
  checkMembers("permissions", permissions, ["mode", "rules", "sensitivePaths", "bounds"], '{ mode: "plan-only" }');
  const { mode, rules, sensitivePaths, bounds } = permissions;
  if (mode !== undefined) checkPermissionMode("permissions.mode", mode);
  if (rules !== undefined && !Array.isArray(rules))
    throw invalidOption(
      "permissions.rules",
      `must be a list such as [{ pattern: "bash(npm test*)", behavior: "allow" }], not ${shown(rules)}`,
    );
  if (sensitivePaths !== undefined && sensitivePaths !== false) checkSensitivePaths(sensitivePaths);
  if (bounds !== undefined) checkBounds(bounds);
}

/** @throws AgentError of kind `invalid-option` that names the modes */
export function checkPermissionMode(option: string, mode: unknown): void {
  if (!(PERMISSION_MODES as readonly unknown[]).includes(mode))
    throw invalidOption(option, `must be one of ${PERMISSION_MODES.join(", ")}, not ${shown(mode)}`);
}

function checkBounds(bounds: EffectBounds): void {
  checkMembers("permissions.bounds", bounds, ["filesystem", "network", "commands"], '{ commands: { denied: ["curl"] } }');
  const wrong = wrongInPolicy(bounds);
  if (wrong !== undefined) throw invalidOption("permissions.bounds", `is not understood: ${wrong}`);
}

function checkSensitivePaths(paths: Exclude<SensitivePaths, false>): void {
  checkMembers("permissions.sensitivePaths", paths, ["reads", "writes"], '{ reads: ["secrets/**"] }, or false');
  for (const [name, patterns] of Object.entries(paths))
    if (patterns !== undefined && !(Array.isArray(patterns) && patterns.every((pattern) => typeof pattern === "string" && pattern !== "")))
      throw invalidOption(
        `permissions.sensitivePaths.${name}`,
        `must be a list of path patterns such as ["secrets/**"], not ${shown(patterns)}`,
      );
}
