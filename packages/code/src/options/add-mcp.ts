import type { Command } from "commander";
import type { PermissionRule } from "@keelson/protocol";
import { addMcpServers } from "./add-mcp-servers.ts";
import { agentOptions } from "./agent-options.ts";
import type { CommandLine } from "./command-line.ts";
import { cwdOf } from "./cwd-of.ts";
import type { ProgramOptions } from "./program-options.ts";
import { UsageError } from "./usage-error.ts";

const SERVE_EXAMPLES = `
Options of the agent (--model, --allow, --permission-mode, --sandbox, -C and others) go before \`mcp\`:
  $ keelson --model anthropic/claude-haiku-4-5 -C ~/project mcp serve
  $ KEELSON_MCP_TOKEN=... keelson mcp serve --port 3000

Its tool \`keelson\` takes a task. What needs a decision is asked of the person at the client, or waits for \`keelson approve\`.`;

/** `keelson mcp` and its actions. */
export function addMcp(program: Command, accept: (command: CommandLine) => void, rules: readonly PermissionRule[]): void {
  const mcp = program
    .command("mcp")
    .description("servers of the Model Context Protocol that the agent uses, and the agent as such a server");
  addMcpServers(program, mcp, accept, rules);
  mcp
    .command("serve")
    .description("offer the agent in this folder, and its sessions, to a client over standard input and output, or over HTTP")
    .option("--port <number>", "over HTTP on 127.0.0.1, for clients with the token in KEELSON_MCP_TOKEN")
    .addHelpText("after", SERVE_EXAMPLES)
    .action(({ port }: { port?: string }) => {
      const options = program.opts<ProgramOptions>();
      accept({
        type: "mcp-serve",
        trust: options.trust === true,
        agent: agentOptions(options, rules),
        ...(port !== undefined && { port: portOf(port) }),
        ...cwdOf(program),
      });
    });
}

function portOf(text: string): number {
  const port = Number(text);
  if (text.trim() === "" || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`--port ${JSON.stringify(text)} is no port`, "Give a number from 0 (any that is free) to 65535.");
  return port;
}
