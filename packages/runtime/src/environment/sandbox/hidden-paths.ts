import { homedir } from "node:os";
import { resolve } from "node:path";
import { policyPath } from "./policy-path.ts";
import { CREDENTIAL_PATHS, type FilesystemPolicy } from "./sandbox-policy.ts";

/** What is not there for a command, absolute: denied paths, and unless the policy says otherwise the places of credentials. */
export function hiddenPaths({ deniedPaths = [], hideCredentials }: FilesystemPolicy, workspace: string): readonly string[] {
  const denied = deniedPaths.map((path) => policyPath(path, workspace));
  if (hideCredentials === false) return denied;
  return [...denied, ...CREDENTIAL_PATHS.map((path) => resolve(homedir(), path)), ...keelsonHome()];
}

function keelsonHome(): string[] {
  const home = process.env["KEELSON_HOME"];
  return home === undefined || home === "" ? [] : [resolve(home)];
}
