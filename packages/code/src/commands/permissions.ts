import { realpath } from "node:fs/promises";
import { explain } from "./explain.ts";
import { openHome } from "../core/home.ts";
import { allowInProject, readProjectRules, removeFromProject } from "../core/project-rules.ts";
import type { CommandHost } from "../core/command-host.ts";
import { givenPath } from "../core/given-path.ts";
import type { PermissionsCommand } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";
import { projectRuleLines } from "../render/project-rule-lines.ts";

/** Shows what people always allow in a project, takes it back, and explains what a command may do. @returns the exit code */
export async function permissions({ action, json, cwd }: PermissionsCommand, host: CommandHost): Promise<number> {
  if (action.type === "explain") return explain({ command: action.command, agent: action.agent, json, cwd }, host);
  const { stdout, environment, command, now } = host;
  const home = await openHome(environment);
  const given = givenPath(host.cwd, cwd ?? ".", host.environment);
  // Of a folder that is gone the rules can still be taken back.
  const project = await realpath(given).catch(() => given);
  if (action.type === "allow") {
    await allowInProject(home, project, [action.rule], now());
    stdout.write(json ? `${JSON.stringify({ project, allowed: action.rule })}\n` : `allowed in ${project} from now on: ${action.rule}\n`);
    return 0;
  }
  if (action.type === "remove") {
    if (!(await removeFromProject(home, project, action.rule, now())))
      throw new UsageError(`${JSON.stringify(action.rule)} is not always allowed in ${project}`, `${command} permissions shows what is.`);
    stdout.write(json ? `${JSON.stringify({ project, removed: action.rule })}\n` : `removed: ${action.rule} is asked about again\n`);
    return 0;
  }
  const rules = await readProjectRules(home, action.all ? undefined : project);
  if (json) stdout.write(`${JSON.stringify(rules)}\n`);
  else stdout.write(`${projectRuleLines(rules, command, action.all).join("\n")}\n`);
  return 0;
}
