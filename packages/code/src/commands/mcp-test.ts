import { McpError } from "@keelson/protocol";
import type { CommandHost } from "../core/command-host.ts";
import { printable } from "../text/printable.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { testedLines } from "../render/tested-lines.ts";
import { chosenServer } from "../servers/chosen-server.ts";
import type { FoundServers } from "../servers/find-servers.ts";
import { testServer, type TestServerOptions } from "../servers/test-server.ts";

export interface McpTestOptions extends TestServerOptions {
  readonly name: string;
  readonly found: FoundServers;
  readonly json: boolean;
}

/** Connects to one server as runs do, and shows what it offers. @returns the exit code */
export async function mcpTest(options: McpTestOptions, host: CommandHost): Promise<number> {
  const { name, found, json } = options;
  const { stdout, stderr, environment, command } = host;
  try {
    const tested = await testServer(chosenServer(name, found, command), options, host);
    if (json) stdout.write(`${JSON.stringify(tested)}\n`);
    else stdout.write(`${testedLines(tested, createStyle(wantsColors(stdout, environment))).join("\n")}\n`);
    return 0;
  } catch (error) {
    if (!McpError.is(error)) throw error;
    if (json) stdout.write(`${JSON.stringify({ server: name, error: error.message })}\n`);
    else stderr.write(`keelson: ${printable(error.message)}\n`);
    return 1;
  }
}
