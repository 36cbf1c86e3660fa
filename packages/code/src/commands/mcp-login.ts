import { McpError } from "@keelson/protocol";
import { loopbackAuthorization } from "keelson/mcp";
import type { CommandHost } from "../core/command-host.ts";
import type { Home } from "../core/home.ts";
import { printable } from "../text/printable.ts";
import { chosenServer } from "../servers/chosen-server.ts";
import type { FoundServers } from "../servers/find-servers.ts";
import { openServers } from "../servers/open-servers.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";

export interface McpLoginOptions {
  readonly type: "login" | "logout";
  readonly name: string;
  readonly found: FoundServers;
  readonly json: boolean;
  readonly folder: string;
  readonly home: Pick<Home, "path">;
  readonly trust: ProjectTrust;
}

/** Has a person log in to a server, in a browser that they open themselves, or forgets what they logged in with. @returns the exit code */
export async function mcpLogin(
  { type, name, found, json, folder, home, trust }: McpLoginOptions,
  { stdout, stderr, environment, command, signals }: CommandHost,
): Promise<number> {
  const abort = new AbortController();
  const onSignal = (): void => abort.abort(new Error("The login was stopped."));
  for (const signal of ["SIGINT", "SIGTERM"] as const) signals.on(signal, onSignal);
  const open = (address: string): void =>
    void stderr.write(`Open this address in a browser on this machine, and agree there:\n\n  ${printable(address)}\n\nwaiting …\n`);
  try {
    const server = chosenServer(name, found, command);
    const authorize = loopbackAuthorization({ open });
    await using manager = openServers({ servers: [server], cwd: folder, home, authorize, trust, environment, sandbox: false });
    if (type === "logout") {
      await manager.logout(name);
      stdout.write(json ? `${JSON.stringify({ loggedOut: name })}\n` : `logged out of ${name}\n`);
      return 0;
    }
    await manager.login(name, { signal: abort.signal });
    stdout.write(json ? `${JSON.stringify({ loggedIn: name })}\n` : `logged in to ${name}\n`);
    return 0;
  } catch (error) {
    if (!McpError.is(error)) throw error;
    if (json) stdout.write(`${JSON.stringify({ server: name, error: error.message })}\n`);
    else stderr.write(`keelson: ${printable(error.message)}\n`);
    return 1;
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) signals.off(signal, onSignal);
  }
}
