import type { CallEffects, PermissionBehavior, PermissionMode } from "@keelson/protocol";
import { compilePolicy, decidePermission } from "../../src/agent/index.ts";
import { readCommandLine } from "../../src/environment/index.ts";

/** As the shell tool of the command has it, whose `effectsOf` is `readCommandLine`. */
const SHELL = { name: "bash", effect: "write", risk: "high", category: "shell" } as const;

export interface Judge {
  (line: string): Promise<PermissionBehavior>;
  /** The same of what was read before. */
  of(line: string, effects: CallEffects): PermissionBehavior;
}

/** What a policy of these rules says of command lines: `judgeBy(["allow bash", "deny bash(evil*)"])`. */
export function judgeBy(rules: readonly string[], cwd: string, mode: PermissionMode = "default"): Judge {
  const policy = compilePolicy({
    mode,
    rules: rules.map((rule) => {
      const [behavior, pattern] = rule.split(/ (.*)/s) as [PermissionBehavior, string];
      return { behavior, pattern };
    }),
  });
  const of = (line: string, effects: CallEffects): PermissionBehavior =>
    decidePermission({ policies: [policy], tool: SHELL, argumentText: line, effects, cwd }).behavior;
  return Object.assign(async (line: string) => of(line, await readCommandLine(line, { cwd })), { of });
}
