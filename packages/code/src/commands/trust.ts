import { realpath } from "node:fs/promises";
import type { CommandHost } from "../core/command-host.ts";
import { givenPath } from "../core/given-path.ts";
import { openHome } from "../core/home.ts";
import { repositoryRoot } from "../instructions/index.ts";
import type { TrustCommand } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";
import { printableLine } from "../text/printable.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { trustLines } from "../render/trust-lines.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import { findProjectItems } from "../trust/project-items.ts";
import { createProjectTrust, forgetTrust, trustItems } from "../trust/project-trust.ts";

/** Lists what a project would have the agent run or obey, trusts it as it is now, or trusts nothing of it any more. @returns the exit code */
export async function trust({ action, paths, digest, json, cwd }: TrustCommand, host: CommandHost): Promise<number> {
  const { stdout, environment, command, now } = host;
  const home = await openHome(environment);
  const folder = givenPath(host.cwd, cwd ?? ".", host.environment);
  const project = await repositoryRoot(
    await realpath(folder).catch(() => {
      throw new UsageError(`${folder} is no folder`, "Give -C a folder that exists.");
    }),
  );
  if (action === "forget") {
    const count = await forgetTrust(home, project, now());
    stdout.write(
      json
        ? `${JSON.stringify({ project, forgotten: count })}\n`
        : `nothing of ${printableLine(project)} is trusted any more (${count} until now)\n`,
    );
    return 0;
  }
  const found = await findProjectItems(project, { environment });
  const items = paths.length === 0 ? found : found.filter((item) => paths.some((path) => isNamed(item, path)));
  const missing = paths.filter((path) => !found.some((item) => isNamed(item, path)));
  if (missing.length > 0)
    throw new UsageError(
      `${project} brings no ${missing.join(", ")}`,
      `${command} trust lists what it brings; paths are relative to its root.`,
    );
  if (action === "accept") {
    if (digest !== undefined && !(items.length === 1 && items[0]?.digest.startsWith(digest)))
      throw new UsageError(
        `--digest ${digest} is not what is there now`,
        `Name one path with the digest that ${command} trust shows for it.`,
      );
    await trustItems(home, project, items, now());
  }
  const known = createProjectTrust(home, project);
  const listed = await Promise.all(items.map(async (item) => ({ ...item, trusted: await known.allows(item) })));
  if (json) {
    stdout.write(`${JSON.stringify({ project, items: listed })}\n`);
    return 0;
  }
  const style = createStyle(wantsColors(stdout, environment));
  if (listed.length === 0) {
    stdout.write(`${printableLine(project)} brings no instructions, no hooks and no MCP servers.\n`);
    return 0;
  }
  const open = listed.filter((item) => !item.trusted);
  const lines = [
    ...listed.flatMap((item) => [
      item.trusted ? style.green("trusted") : style.yellow("not trusted"),
      ...trustLines([item], { style, all: !item.trusted }),
    ]),
    ...(open.length > 0 ? [`Trust ${open.length === 1 ? "it" : "these"} as shown with: ${command} trust accept`] : []),
  ];
  stdout.write(`${lines.join("\n")}\n`);
  return 0;
}

/** By its path, or by that of the file which it stands in with others. */
function isNamed({ path }: ProjectItem, name: string): boolean {
  return path === name || path.startsWith(`${name}#`);
}
