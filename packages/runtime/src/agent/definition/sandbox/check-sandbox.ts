import type { SandboxConfig } from "@keelson/protocol";
import { isHost, isPath, isProgram, listOf, type PolicyCheck } from "../../../environment/sandbox/check-policy.ts";
import { checkMembers, invalidOption, shown } from "../invalid-option.ts";

const EXAMPLE = "{ enabled: true }";

/** @throws AgentError of kind `invalid-option` that names the part of `sandbox`, what was found, and what to write instead */
export function checkSandbox(sandbox: SandboxConfig): void {
  checkMembers("sandbox", sandbox, ["enabled", "network", "filesystem", "allowedCommands", "deniedCommands"], EXAMPLE);
  const { enabled, network, filesystem, allowedCommands, deniedCommands } = sandbox;
  checkFlag("sandbox.enabled", enabled);
  checkList("sandbox.deniedCommands", deniedCommands, isProgram, '["curl"]');
  checkList("sandbox.allowedCommands", allowedCommands, isProgram, '["npm", "/usr/bin/git"]');
  if (network !== undefined) {
    checkMembers("sandbox.network", network, ["enabled", "allowedDomains", "deniedDomains"], "{ enabled: true }");
    checkFlag("sandbox.network.enabled", network.enabled);
    checkList("sandbox.network.deniedDomains", network.deniedDomains, isHost, '["example.com"]');
    checkList("sandbox.network.allowedDomains", network.allowedDomains, isHost, '["packages.example.com", "*.example.com"]');
  }
  if (filesystem !== undefined) {
    checkMembers("sandbox.filesystem", filesystem, ["allowedRoots", "deniedPaths"], '{ allowedRoots: ["."], deniedPaths: ["secrets"] }');
    checkList("sandbox.filesystem.allowedRoots", filesystem.allowedRoots, isPath, '["."]');
    checkList("sandbox.filesystem.deniedPaths", filesystem.deniedPaths, isPath, '["secrets"]');
  }
}

function checkFlag(option: string, value: unknown): void {
  if (typeof value !== "boolean") throw invalidOption(option, `must be true or false, not ${shown(value)}`);
}

/** A list that is absent has its default. */
function checkList(option: string, value: unknown, check: PolicyCheck, example: string): void {
  if (value === undefined) return;
  const wrong = listOf(check)(value);
  if (wrong !== undefined) throw invalidOption(option, `must be a list such as ${example}: it ${wrong}`);
}
