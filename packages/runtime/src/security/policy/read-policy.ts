import { AgentError, type PermissionBehavior, type PermissionMode, type PermissionPolicy, type PermissionRule } from "@keelson/protocol";
import { checkRulePath } from "../../agent/definition/permissions/check-rule-path.ts";
import { compilePermissionRule } from "../../agent/definition/permissions/permission-rule.ts";
import { wrongInPolicyFile } from "../../environment/sandbox/check-policy.ts";
import type { SandboxPolicy } from "../../environment/sandbox/sandbox-policy.ts";

/** A policy as it stands in a file: what tools may do, and what commands may touch in a sandbox and without one. */
export interface PolicyFile extends SandboxPolicy {
  readonly permissions?: {
    readonly mode?: PermissionMode;
    /** Patterns of rules, as in `bash(npm test*)`. */
    readonly allow?: readonly string[];
    readonly ask?: readonly string[];
    readonly deny?: readonly string[];
    readonly sensitivePaths?: PermissionPolicy["sensitivePaths"];
  };
}

/** What a policy means to an agent and to a sandbox. */
export interface Policy {
  /** For `createAgent({ permissions })`: its rules, and its bounds for the calls of all tools. Without a mode it leaves that to the agent. */
  readonly permissions: Partial<PermissionPolicy> & Pick<PermissionPolicy, "rules">;
  /** For `createSandboxExecutor(policy, …)`. */
  readonly sandbox: SandboxPolicy;
}

/**
 * Checks a policy. A member that is not known is refused: one that was misspelt would protect nothing.
 * @param name of the policy, for messages: the path of its file
 * @throws AgentError of kind `invalid-option` that names the policy, the member, and what it may be
 */
export function readPolicy(value: unknown, name: string = "policy"): Policy {
  const wrong = wrongInPolicyFile(value);
  if (wrong !== undefined) throw notUnderstood(name, wrong);
  const { permissions = {}, ...sandbox } = value as PolicyFile;
  const { mode, sensitivePaths } = permissions;
  const rules = (["deny", "ask", "allow"] as const).flatMap((behavior) =>
    (permissions[behavior] ?? []).map((pattern, index) => readRule(pattern, behavior, `permissions.${behavior}[${index}]`, name)),
  );
  const { filesystem, network, commands } = sandbox;
  const bounds = {
    ...(filesystem !== undefined && { filesystem }),
    ...(network !== undefined && { network }),
    ...(commands !== undefined && { commands }),
  };
  return {
    permissions: {
      ...(mode !== undefined && { mode }),
      rules,
      ...(sensitivePaths !== undefined && { sensitivePaths }),
      ...(Object.keys(bounds).length > 0 && { bounds }),
    },
    sandbox,
  };
}

function readRule(pattern: string, behavior: PermissionBehavior, path: string, name: string): PermissionRule {
  const rule = { pattern, behavior };
  try {
    checkRulePath(compilePermissionRule(rule, path), path);
    return rule;
  } catch (error) {
    if (AgentError.is(error, "invalid-option")) throw notUnderstood(name, error.message.replace(/\.$/, ""), error);
    throw error;
  }
}

export function notUnderstood(name: string, problem: string, cause?: unknown): AgentError {
  return new AgentError(
    {
      kind: "invalid-option",
      option: name,
      message: `The policy ${name} is not understood: ${problem}. Nothing runs under a policy that can't be read.`,
    },
    cause === undefined ? {} : { cause },
  );
}
