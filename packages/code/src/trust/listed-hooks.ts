import { join } from "node:path";
import { loadSettings, type LoadSettingsOptions } from "../settings/load-settings.ts";
import { PROJECT_SETTINGS } from "../settings/settings-places.ts";
import { type HookCommand, hookCommands } from "./hook-commands.ts";
import { HOOKS_PATH, readProjectHooks } from "./project-hooks.ts";
import { readProjectSettings } from "./settings-items.ts";

/** A hook of a file, for a person. */
export interface ListedHook extends HookCommand {
  /** Absolute. */
  readonly file: string;
  /** `own`: of the person's own settings. The others come with the project. */
  readonly state: "own" | "trusted" | "untrusted";
  /** The path that `keelson trust accept` takes. Absent: it is the person's own. */
  readonly path?: string;
}

/** Lists the hooks of all files of settings and of the project's own file, those that are not trusted included. */
export async function listHooks({ home, environment, trust }: LoadSettingsOptions): Promise<readonly ListedHook[]> {
  const { project } = trust;
  const { hooks } = await loadSettings({ home, environment, trust });
  const own = hooks
    .filter(({ projectPath }) => projectPath === undefined)
    .flatMap((one) => hookCommands({ hooks: one.hooks }).map((command): ListedHook => ({ ...command, file: one.file, state: "own" })));
  const ofSettings = await Promise.all(
    PROJECT_SETTINGS.map(async (path): Promise<readonly ListedHook[]> => {
      const settings = await readProjectSettings(project, path);
      const config = settings?.entries.find(({ values }) => values?.hooks !== undefined)?.values?.hooks;
      if (settings?.item === undefined || config === undefined) return [];
      const state = (await trust.allows(settings.item)) ? "trusted" : "untrusted";
      return hookCommands({ hooks: config }).map((command) => ({ ...command, file: join(project, path), state, path }));
    }),
  );
  return [...own, ...ofSettings.flat(), ...(await hooksOfProject(project, trust))];
}

async function hooksOfProject(project: string, trust: LoadSettingsOptions["trust"]): Promise<readonly ListedHook[]> {
  const found = await readProjectHooks(project);
  if (found === undefined) return [];
  const state = (await trust.allows(found.item)) ? "trusted" : "untrusted";
  const place = { file: join(project, HOOKS_PATH), state, path: HOOKS_PATH } as const;
  let config: unknown;
  try {
    config = JSON.parse(found.text);
  } catch {
    return [{ when: "(the file is no JSON)", command: "", ...place }];
  }
  return hookCommands(config).map((command) => ({ ...command, ...place }));
}
