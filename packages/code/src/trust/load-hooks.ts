import { join } from "node:path";
import { AgentError, type Executor } from "@keelson/protocol";
import { createHookRegistry, type HookRegistry, hooksFromJson } from "keelson/agent";
import type { SettingsHooks } from "../settings/load-settings.ts";
import { HOOKS_PATH, readProjectHooks } from "./project-hooks.ts";
import type { ProjectItem } from "./project-item.ts";
import type { ProjectTrust } from "./project-trust.ts";
import { readProjectSettings } from "./settings-items.ts";

export interface LoadHooksOptions {
  /** Those of settings that may be used. */
  readonly settings: readonly SettingsHooks[];
  readonly exec: Executor;
  readonly sandboxExec: Executor;
  onLeftOut(item: ProjectItem): void;
}

/** A file with hooks. */
interface HookFile {
  readonly path: string;
  readonly config: unknown;
  /** Reads what the file is trusted as now. Absent: the file is the person's own. */
  readonly item?: { readonly path: string; read(): Promise<ProjectItem | undefined> };
  /** True if what is not supported in it was reported before. Absent: it is an error. */
  readonly isOfSettings?: true;
}

/**
 * The shell hooks of a person's settings and of a project, in the format of `hooksFromJson`. The hooks of the project are read again
 * before each runs: one that was changed since it was trusted, or whose script was, does not run; of a guard that is a refusal. `undefined`:
 * there are none that may be used.
 * @throws AgentError of kind `invalid-option` that names the file and the place
 */
export async function loadHooks(trust: ProjectTrust, options: LoadHooksOptions): Promise<HookRegistry | undefined> {
  const { settings, exec, sandboxExec, onLeftOut } = options;
  const files: HookFile[] = settings.map(({ file, hooks, projectPath }) => ({
    path: file,
    config: { hooks },
    isOfSettings: true,
    ...(projectPath !== undefined && {
      item: { path: projectPath, read: async () => (await readProjectSettings(trust.project, projectPath))?.item },
    }),
  }));
  const own = await readProjectHooks(trust.project);
  if (own !== undefined && !(await trust.allows(own.item))) onLeftOut(own.item);
  else if (own !== undefined) {
    const path = join(trust.project, HOOKS_PATH);
    const read = async (): Promise<ProjectItem | undefined> => (await readProjectHooks(trust.project))?.item;
    files.push({ path, config: parsed(path, own), item: { path: HOOKS_PATH, read } });
  }
  if (files.length === 0) return undefined;
  const registry = createHookRegistry();
  for (const { path, config, item, isOfSettings } of files) {
    const asTrusted = (executor: Executor): Executor => (item === undefined ? executor : whileTrusted(executor, trust, { path, item }));
    try {
      hooksFromJson(config, {
        registry,
        exec: asTrusted(exec),
        sandboxExec: asTrusted(sandboxExec),
        cwd: trust.project,
        env: { CLAUDE_PROJECT_DIR: trust.project },
        ...(isOfSettings && { onUnsupported() {}, spelling: "claude" }),
      });
    } catch (error) {
      throw unreadable(path, error);
    }
  }
  return registry;
}

function whileTrusted(
  executor: Executor,
  trust: ProjectTrust,
  { path, item }: { readonly path: string; readonly item: NonNullable<HookFile["item"]> },
): Executor {
  return {
    async execute(request) {
      if (trust.trustsAll === true) return executor.execute(request);
      const now = await item.read();
      if (now === undefined || !(await trust.allows(now)))
        throw new AgentError({
          kind: "invalid-option",
          option: item.path,
          message: `${path}, or a file that it runs, is not what was trusted any more, so the hook did not run. Look at it with: keelson trust`,
        });
      return executor.execute(request);
    },
  };
}

function parsed(path: string, { text, problem }: { readonly text: string; readonly problem?: string }): unknown {
  try {
    if (problem !== undefined) throw new Error(problem);
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): AgentError {
  const why = error instanceof Error ? error.message : String(error);
  return new AgentError({ kind: "invalid-option", option: path, message: `The hooks in ${path} can't be read: ${why}` }, { cause: error });
}
