import { basename, join } from "node:path";
import type { ExecuteRequest, ExecuteResponse } from "@keelson/protocol";
import { isWithin, policyPath } from "./policy-path.ts";
import type { SandboxPlace } from "./sandbox-place.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";
import { findSecretFiles } from "./secret-files.ts";

const MAX_SHOWN = 20;

/** The policy of one command, with the hidden files of its workspace among its denied paths. */
export interface HiddenSecrets {
  readonly policy: SandboxPolicy;
  /** Below the workspace. */
  readonly hidden: readonly string[];
}

/** Adds the files that may hold secrets to what a policy denies, unless they are revealed to the command. */
export function hideSecrets(
  policy: SandboxPolicy,
  {
    workspace,
    place,
    request,
  }: { readonly workspace: string; readonly place: SandboxPlace; readonly request: Pick<ExecuteRequest, "mayReveal"> },
): HiddenSecrets {
  const { filesystem = {} } = policy;
  if (filesystem.hideSecrets !== true) return { policy, hidden: [] };
  const roots = (filesystem.writableRoots ?? []).map((root) => policyPath(root, workspace));
  const hidden = findSecretFiles(workspace, place.disk).hidden.filter((path) => {
    if (filesystem.revealed?.some((one) => isWithin(`/${path}`, `/${one}`)) === true || request.mayReveal?.(path) === true) return false;
    // A root that the policy names is meant to be seen.
    return !roots.some((root) => isWithin(root, join(workspace, path)));
  });
  const denied = hidden.map((path) => join(workspace, path));
  return { policy: { ...policy, filesystem: { ...filesystem, deniedPaths: [...(filesystem.deniedPaths ?? []), ...denied] } }, hidden };
}

/** A response with the files that were hidden; the standard error of a command that failed, or that names one there, lists them at its end. */
export function withHidden(
  response: ExecuteResponse,
  hiddenFiles: readonly string[],
  request: Pick<ExecuteRequest, "onOutput">,
): ExecuteResponse {
  if (hiddenFiles.length === 0) return response;
  // A line whose last command succeeds may have had one that failed.
  const isNamed = hiddenFiles.some((path) => response.stderr.includes(basename(path)));
  if (response.exitCode === 0 && !response.timedOut && !isNamed) return { ...response, hiddenFiles };
  const shown = hiddenFiles.slice(0, MAX_SHOWN).map((path) => JSON.stringify(path));
  const more = hiddenFiles.length > MAX_SHOWN ? ` and ${hiddenFiles.length - MAX_SHOWN} more` : "";
  const text = `${response.stderr === "" || response.stderr.endsWith("\n") ? "" : "\n"}Sandbox: hidden from commands, because they may hold secrets: ${shown.join(", ")}${more}. If it needs one, a person can reveal it.\n`;
  request.onOutput?.("stderr", text);
  return { ...response, stderr: response.stderr + text, stderrBytes: response.stderrBytes + Buffer.byteLength(text), hiddenFiles };
}
