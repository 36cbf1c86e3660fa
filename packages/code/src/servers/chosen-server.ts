import { McpError } from "@keelson/protocol";
import { UsageError } from "../options/usage-error.ts";
import type { FoundServer, FoundServers } from "./find-servers.ts";

/**
 * The server of this name that the agent would use, to be connected to now.
 * @throws UsageError where there is none
 * @throws McpError where nobody trusts it, or its configuration can't be read
 */
export function chosenServer(name: string, { servers, problems }: FoundServers, command: string): FoundServer {
  const server = servers.find((one) => one.name === name && one.state !== "shadowed");
  const refused = (message: string): McpError => new McpError({ kind: "other", message });
  if (server === undefined) {
    const told = problems.filter((problem) => problem.isLeftOut && (problem.server === name || problem.server === undefined));
    if (told.length > 0) throw refused(told.map(({ message }) => message).join("\n"));
    const names = servers.map((one) => one.name).join(", ");
    throw new UsageError(`there is no server "${name}"`, names === "" ? `Add one: ${command} mcp add --help` : `There are: ${names}.`);
  }
  if (server.state === "untrusted")
    throw refused(
      `nobody trusts ${server.item?.path} as it is, so nothing was done with it. Look at it and trust it: ${command} trust accept ${server.item?.path}`,
    );
  return server;
}
