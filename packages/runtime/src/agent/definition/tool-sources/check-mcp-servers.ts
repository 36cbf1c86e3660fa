import { invalidOption, shown } from "../invalid-option.ts";

/** @throws AgentError of kind `invalid-option` for what is no list of different names */
export function checkMcpServers(servers: readonly string[] | undefined): void {
  if (servers === undefined) return;
  if (!Array.isArray(servers) || !servers.every((name) => typeof name === "string" && name !== ""))
    throw invalidOption("mcpServers", `must be a list of names of servers, such as ["notes"], not ${shown(servers)}`);
  const twice = servers.find((name, index) => servers.indexOf(name) !== index);
  if (twice !== undefined) throw invalidOption("mcpServers", `names "${twice}" twice`);
}
