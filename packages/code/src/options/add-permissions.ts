import type { Command } from "commander";
import type { PermissionRule } from "@keelson/protocol";
import { agentOptions } from "./agent-options.ts";
import type { CommandLine } from "./command-line.ts";
import { cwdOf } from "./cwd-of.ts";
import { parseRule } from "./parse-rule.ts";
import type { ProgramOptions } from "./program-options.ts";

/** `keelson permissions` and its actions. */
export function addPermissions(program: Command, accept: (command: CommandLine) => void, rules: readonly PermissionRule[]): void {
  const permissions = program.command("permissions").description("show what always runs unasked in this project, and take it back");
  permissions
    .command("list", { isDefault: true })
    .description("the rules of this project")
    .option("-a, --all", "of every project")
    .option("--json", "print JSON")
    .action((options: { all?: true; json?: true }) =>
      accept({ type: "permissions", action: { type: "list", all: options.all === true }, json: options.json === true, ...cwdOf(program) }),
    );
  permissions
    .command("explain")
    .description("tell what the agent may do with a command, with and without a sandbox, and why; nothing is run")
    .argument("<command...>", "a command line, in quotes, after --")
    .option("--json", "print JSON")
    .addHelpText("after", `\nExample:\n  $ keelson permissions explain --allow 'bash(npm test*)' -- 'npm test; rm -rf build'`)
    .action((words: string[], options: { json?: true }) =>
      accept({
        type: "permissions",
        action: { type: "explain", command: words.join(" "), agent: agentOptions(program.opts<ProgramOptions>(), rules) },
        json: options.json === true,
        ...cwdOf(program),
      }),
    );
  permissions
    .command("allow")
    .description("always allow in this project what a rule says, as in 'reveal(.env)' or 'bash(npm test)'")
    .argument("<rule>", "an allow rule, in quotes")
    .option("--json", "print JSON")
    .action((rule: string, options: { json?: true }) =>
      accept({
        type: "permissions",
        action: { type: "allow", rule: parseRule(rule, "allow").pattern },
        json: options.json === true,
        ...cwdOf(program),
      }),
    );
  permissions
    .command("remove")
    .description("ask again about what a rule allows")
    .argument("<rule>", "as it is listed, in quotes")
    .option("--json", "print JSON")
    .action((rule: string, options: { json?: true }) =>
      accept({ type: "permissions", action: { type: "remove", rule }, json: options.json === true, ...cwdOf(program) }),
    );
}
