import type { McpServerConfig } from "@keelson/protocol";
import type { FoundServer } from "../servers/find-servers.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

/** A line for each server, `clientProblem` being the reason why none can be connected: whether it is used, how it is reached, where it is configured; and what to do about one that is not used. */
export function serverLines(
  servers: readonly FoundServer[],
  { style, command, clientProblem }: { readonly style: Style; readonly command: string; readonly clientProblem?: string | undefined },
): readonly string[] {
  if (servers.length === 0) return [`No servers are configured here. Add one with: ${command} mcp add <name> -- <command>`];
  const width = Math.max(...servers.map(({ name }) => printableLine(name).length));
  return servers.map((server) => {
    const { name, config, state } = server;
    const mark = state !== "usable" ? style.yellow("–") : clientProblem === undefined ? style.green("✔") : style.red("✗");
    const words = [config.type, printableLine(targetOf(config)), sourceOf(server), ...stateWords(server, command)];
    return `${mark} ${style.bold(printableLine(name).padEnd(width))}  ${words.join(style.dim(" · "))}`;
  });
}

/** How a server is reached, without what may be secret. */
export function targetOf(config: McpServerConfig): string {
  if (config.type === "in-process") return config.name;
  if (config.type === "stdio") return [config.command, ...(config.args ?? [])].join(" ");
  return config.url.replace(/\/\/[^/?#]*@/, "//").replace(/\?.*$/s, "?…");
}

export function sourceOf({ scope, file }: Pick<FoundServer, "scope" | "file">): string {
  if (scope === "project") return ".mcp.json of this project";
  return scope === "user" ? "your mcp.json" : printableLine(file);
}

function stateWords({ state, item, config }: FoundServer, command: string): readonly string[] {
  if (state === "untrusted") return [`not trusted: ${command} trust accept ${printableLine(item?.path ?? "")}`];
  if (state === "next-start") return ["trusted: used from the next start"];
  if (state === "shadowed") return ["not used: another file has one of that name"];
  return [
    ...(item === undefined ? [] : ["trusted"]),
    ...(state === "disabled" ? ["disabled"] : []),
    ...(config.required === true ? ["required"] : []),
  ];
}
