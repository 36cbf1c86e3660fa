import { type Command, Option } from "commander";
import type { PermissionRule } from "@keelson/protocol";
import { agentOptions } from "./agent-options.ts";
import type { CommandLine, McpAction, ServerFile } from "./command-line.ts";
import { cwdOf } from "./cwd-of.ts";
import type { ProgramOptions } from "./program-options.ts";
import { serverEntry, type ServerEntryOptions } from "./server-entry.ts";
import { UsageError } from "./usage-error.ts";

const ADD_EXAMPLES = `
Examples:
  $ keelson mcp add files -- npx -y some-server .
  $ keelson mcp add --scope project --env 'TOKEN=\${SOME_TOKEN}' tickets -- node tools/tickets.js
  $ keelson mcp add wiki https://example.com/wiki/mcp && keelson mcp login wiki
  $ keelson mcp add --header 'Authorization: Bearer \${SOME_TOKEN}' web https://example.com/mcp
\${NAME} and \${NAME:-default}, in quotes, are taken from the environment whenever the server is started.
Scopes: user is mcp.json in the home folder of Keelson; project is .mcp.json at the root of the repository, whose servers start only
  where somebody trusts them (keelson trust).`;

const SCOPES: readonly ServerFile[] = ["user", "project"];
const LOGINS = [
  ["login", "log in to a server with a URL that wants it: prints an address to open in a browser on this machine, and waits"],
  ["logout", "forget what you logged in to a server with"],
] as const;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$/;

/** The actions of `keelson mcp` on the servers that the agent uses. */
export function addMcpServers(
  program: Command,
  mcp: Command,
  accept: (command: CommandLine) => void,
  rules: readonly PermissionRule[],
): void {
  const take = (action: McpAction, { json }: { json?: true }): void => {
    const options = program.opts<ProgramOptions>();
    const { trust } = options;
    accept({ type: "mcp", action, json: json === true, trust: trust === true, agent: agentOptions(options, rules), ...cwdOf(program) });
  };
  const scope = (description: string): Option => new Option("--scope <scope>", description).choices(SCOPES);

  mcp
    .command("list")
    .description("the servers that the agent uses in this folder: where from, and whether they are trusted")
    .option("--json", "print JSON")
    .action((options: { json?: true }) => take({ type: "list" }, options));
  mcp
    .command("add")
    .description("have the agent use a server: a program, with its arguments after --, or a URL")
    .argument("<name>", "of letters, digits, - and _; its tools are called mcp__name__tool")
    .argument("<target...>", "a program and its arguments, or a URL")
    .addOption(scope("the file that it is written to").default("user"))
    .addOption(new Option("--transport <transport>", "how it is spoken with (default: by what it is)").choices(["stdio", "http", "sse"]))
    .option("-e, --env <NAME=value>", "a variable of the program (repeatable)", added)
    .option("-H, --header <Name: value>", "a header of every request (repeatable)", added)
    .option("--client-id <id>", "of the client that its authorization server knows, where clients can't register themselves")
    .option("--required", "the first turn of a run waits for it")
    .option("--json", "print JSON")
    .addHelpText("after", ADD_EXAMPLES)
    .action((name: string, target: string[], options: ServerEntryOptions & { scope: ServerFile; json?: true }) => {
      if (!NAME.test(name))
        throw new UsageError(
          `${JSON.stringify(name)} is no name for a server`,
          "Use up to 48 letters, digits, - and _: models call its tools by it.",
        );
      take({ type: "add", name, scope: options.scope, entry: serverEntry(target, options) }, options);
    });
  mcp
    .command("remove")
    .description("use a server no more")
    .argument("<name>", "as it is listed")
    .addOption(scope("the file that it is in, where several have one of that name"))
    .option("--json", "print JSON")
    .action((name: string, options: { scope?: ServerFile; json?: true }) =>
      take({ type: "remove", name, ...(options.scope !== undefined && { scope: options.scope }) }, options),
    );
  mcp
    .command("test")
    .description("connect to a server, and list its tools with what they may do; ends with 1 where that fails")
    .argument("<name>", "as it is listed")
    .option("--json", "print JSON")
    .action((name: string, options: { json?: true }) => take({ type: "test", name }, options));
  for (const [type, description] of LOGINS)
    mcp
      .command(type)
      .description(description)
      .argument("<name>", "as it is listed")
      .option("--json", "print JSON")
      .action((name: string, options: { json?: true }) => take({ type, name }, options));
}

function added(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
