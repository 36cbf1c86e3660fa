import type { HookRegistry } from "keelson/agent";
import { type Policy, redactExecutor } from "keelson/security";
import type { Executor, ToolSource } from "@keelson/protocol";
import type { Home } from "../core/home.ts";
import type { KnownSecrets } from "../core/known-secrets.ts";
import { createCodingExecutor } from "../core/coding-executor.ts";
import type { InstructionFile } from "../instructions/index.ts";
import { WITHOUT_BYTECODE } from "./covered-item.ts";
import { instructionItem } from "./instruction-items.ts";
import { loadSettings, type LoadedSettings } from "../settings/load-settings.ts";
import { openSkills } from "../skills/project-skills.ts";
import { userHome } from "../settings/settings-places.ts";
import { loadHooks } from "./load-hooks.ts";
import type { ProjectItem } from "./project-item.ts";
import type { ProjectTrust } from "./project-trust.ts";

/** What a project brings, as far as it is trusted. */
export interface TrustedProject {
  readonly hooks?: HookRegistry;
  /** The settings of the project and of the person, as far as they are used. */
  readonly settings: LoadedSettings["values"];
  /** The tool that loads skills. Absent: there are none. */
  readonly skills?: ToolSource;
  /** The home folder of the person. */
  readonly userHome: string;
  /** Whether this file of instructions is used. */
  usesInstructions(file: InstructionFile): Promise<boolean>;
}

export interface TrustedProjectOptions {
  /** Says which variables hooks get. */
  readonly policy: Policy | undefined;
  /** Taken out of what hooks read and write. */
  readonly secrets: KnownSecrets;
  readonly home: Pick<Home, "path">;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Called at the start for each setting that was meant to confine the agent and does not. */
  onProblem(message: string): void;
  /** Called once for each item that is left out. */
  onLeftOut(item: ProjectItem): void;
}

export async function openTrustedProject(
  trust: ProjectTrust,
  { policy, secrets, home, environment, onProblem, onLeftOut }: TrustedProjectOptions,
): Promise<TrustedProject> {
  const told = new Set<string>();
  const quiet = (exec: Executor): Executor => withoutSecretsGiven(redactExecutor(exec, secrets.redactor), secrets);
  const settings = await loadSettings({ home: home.path, environment, trust });
  for (const item of settings.leftOut) onLeftOut(item);
  for (const { file, entry, reason, isGuard } of settings.found) if (isGuard) onProblem(`${file}: ${entry} is not used: ${reason}`);
  const { variables } = settings.values;
  const hooks = await loadHooks(trust, {
    settings: settings.hooks,
    exec: quiet(createCodingExecutor(trust.project, { sandbox: false, policy, variables })),
    sandboxExec: quiet(createCodingExecutor(trust.project, { sandbox: true, policy, variables })),
    onLeftOut,
  });
  const folders = { home: home.path, userHome: userHome(environment), project: trust.project };
  const skills = await openSkills(folders, trust, onLeftOut);
  return {
    ...(hooks && { hooks }),
    ...(skills && { skills }),
    settings: settings.values,
    userHome: userHome(environment),
    async usesInstructions(file) {
      const item = instructionItem(trust.project, file);
      // Of what could not be read only that is told.
      if (item === undefined || (await trust.allows(item))) return true;
      const key = `${item.path} ${item.digest}`;
      if (!told.has(key)) onLeftOut(item);
      told.add(key);
      return false;
    },
  };
}

/** Hooks read what a model and its tools wrote. */
function withoutSecretsGiven(exec: Executor, { redactor }: KnownSecrets): Executor {
  return {
    execute({ stdin, ...request }) {
      const given = typeof stdin === "string" ? redactor.redact(stdin) : stdin;
      return exec.execute({ ...request, env: { ...WITHOUT_BYTECODE, ...request.env }, ...(given !== undefined && { stdin: given }) });
    },
  };
}
