import { realpath } from "node:fs/promises";
import { loadSettings, shownFile } from "../settings/load-settings.ts";
import { filesOfOthers } from "../settings/files-of-others.ts";
import type { FoundItem } from "../settings/found-item.ts";
import { userHome } from "../settings/settings-places.ts";
import { repositoryRoot } from "../instructions/index.ts";
import type { CommandHost } from "../core/command-host.ts";
import { openHome } from "../core/home.ts";
import { printableLine } from "../text/printable.ts";
import { foundInstructions } from "../trust/found-instructions.ts";
import { createProjectTrust, trustAll } from "../trust/project-trust.ts";
import { foundSkills } from "../skills/project-skills.ts";
import { foundCommands } from "../slash-commands/find-markdown-commands.ts";
import type { Finding } from "./finding.ts";

/** Returns a finding for each setting and each file of instructions of a folder: where it is, and how it is used or why not. @param isTrusted true for `--trust` */
export async function foundFindings(
  folder: string,
  { environment }: Pick<CommandHost, "environment">,
  isTrusted = false,
): Promise<readonly Finding[]> {
  const home = await openHome(environment).catch(() => undefined);
  const cwd = await realpath(folder).catch(() => undefined);
  if (home === undefined || cwd === undefined) return [];
  const project = await repositoryRoot(cwd);
  const user = userHome(environment);
  const trust = isTrusted ? trustAll(project) : createProjectTrust(home, project);
  const folders = { home: home.path, userHome: user, project };
  try {
    const found = [
      ...(await loadSettings({ home: home.path, environment, trust })).found,
      ...(await foundSkills(folders, trust)),
      ...(await foundCommands(folders, trust)),
      ...(await filesOfOthers(folders)),
      ...(await foundInstructions({ cwd, home: home.path, userHome: user }, trust)),
    ];
    return found.map((item) => findingOf(item, project, user));
  } catch (error) {
    return [{ what: "settings", state: "broken", detail: printableLine(error instanceof Error ? error.message : String(error)) }];
  }
}

function findingOf({ file, entry, isUsed, reason, isGuard }: FoundItem, project: string, user: string): Finding {
  const what = printableLine(shownFile(file, project, user));
  const said = entry === undefined ? reason : `${entry}: ${reason}`;
  if (isUsed) return { what, state: "ok", detail: printableLine(said) };
  return { what, state: "missing", detail: printableLine(`not used${isGuard ? ", though it was to confine the agent" : ""}: ${said}`) };
}
