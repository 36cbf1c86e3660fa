import { join } from "node:path";
import { AgentError, type Executor } from "@keelson/protocol";
import { type HookRegistry, hooksFromJson } from "keelson/agent";
import { readInstructionFile } from "../instructions/index.ts";
import { coverCommands } from "./covered-item.ts";
import type { ProjectItem } from "./project-item.ts";
import type { ProjectTrust } from "./project-trust.ts";

/** Below the root of the repository. */
export const HOOKS_PATH = ".keelson/hooks.json";
const MAX_BYTES = 1024 * 1024;

interface ProjectHooks {
  readonly item: ProjectItem;
  readonly text: string;
  /** Why they can't be used. */
  readonly problem?: string;
}

/**
 * The shell hooks of a project, in the format of `hooksFromJson`. What they are is looked at again before each runs: one that was
 * changed since it was trusted, or whose script was, does not run; of a guard that is a refusal. `undefined`: there are none, or
 * nobody trusts them.
 * @throws AgentError of kind `invalid-option` that names the file and the place
 */
export async function loadProjectHooks(
  trust: ProjectTrust,
  {
    exec,
    sandboxExec,
    onLeftOut,
  }: { readonly exec: Executor; readonly sandboxExec: Executor; readonly onLeftOut: (item: ProjectItem) => void },
): Promise<HookRegistry | undefined> {
  const hooks = await readProjectHooks(trust.project);
  if (hooks === undefined) return undefined;
  if (!(await trust.allows(hooks.item))) {
    onLeftOut(hooks.item);
    return undefined;
  }
  const path = join(trust.project, HOOKS_PATH);
  const asTrusted = (executor: Executor): Executor => ({
    async execute(request) {
      if (trust.trustsAll === true) return executor.execute(request);
      const now = await readProjectHooks(trust.project);
      if (now === undefined || !(await trust.allows(now.item)))
        throw new AgentError({
          kind: "invalid-option",
          option: HOOKS_PATH,
          message: `${path}, or a file that it runs, is not what was trusted any more, so the hook did not run. Look at it with: keelson trust`,
        });
      return executor.execute(request);
    },
  });
  try {
    if (hooks.problem !== undefined) throw new Error(hooks.problem);
    return hooksFromJson(JSON.parse(hooks.text), { exec: asTrusted(exec), sandboxExec: asTrusted(sandboxExec), cwd: trust.project });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AgentError(
      { kind: "invalid-option", option: HOOKS_PATH, message: `The hooks in ${path} can't be read: ${why}` },
      { cause: error },
    );
  }
}

export async function hookItems(project: string): Promise<readonly ProjectItem[]> {
  const hooks = await readProjectHooks(project);
  return hooks === undefined ? [] : [hooks.item];
}

async function readProjectHooks(project: string): Promise<ProjectHooks | undefined> {
  const file = await readInstructionFile(join(project, HOOKS_PATH), MAX_BYTES, project);
  if (file === undefined) return undefined;
  const { text, note } = file;
  // A file that can't be used stops nobody who doesn't trust it.
  if (note !== undefined) {
    const { digest } = await coverCommands(project, note, []);
    return { item: { kind: "hooks", path: HOOKS_PATH, digest, shows: [note] }, text, problem: note };
  }
  const commands = commandsOf(text);
  const covered = await coverCommands(
    project,
    text,
    commands.map(({ command, args }) => ({ ...(args === undefined ? { line: command } : { program: command, args }), cwd: project })),
  );
  const shows = [
    ...(commands.length === 0
      ? text.split("\n")
      : commands.map(({ when, command, args = [] }) => `${when}: ${[command, ...args].join(" ")}`)),
    ...covered.shows,
  ];
  return { item: { kind: "hooks", path: HOOKS_PATH, digest: covered.digest, shows }, text };
}

interface ShownCommand {
  readonly when: string;
  readonly command: string;
  /** Absent: the command is a line for a shell. */
  readonly args?: readonly string[];
}

/** For a person. What is no hook is shown by no line here, and refused when it is loaded. */
function commandsOf(text: string): readonly ShownCommand[] {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    return [];
  }
  return Object.entries(fieldsOf(fieldsOf(config)["hooks"])).flatMap(([event, groups]) =>
    listOf(groups).flatMap((group) => {
      const { matcher, hooks } = fieldsOf(group);
      return listOf(hooks).flatMap((handler) => {
        const { command, args, sandbox } = fieldsOf(handler);
        if (typeof command !== "string") return [];
        const at = typeof matcher === "string" && matcher !== "" ? `${event} ${matcher}` : event;
        const when = sandbox === true ? `${at} (in the sandbox)` : at;
        return [{ when, command, ...(Array.isArray(args) && { args: args.map(String) }) }];
      });
    }),
  );
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { readonly [name: string]: unknown }) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
