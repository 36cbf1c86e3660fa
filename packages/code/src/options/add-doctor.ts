import type { Command } from "commander";
import type { CommandLine } from "./command-line.ts";
import { cwdOf } from "./cwd-of.ts";

/** `keelson doctor`. */
export function addDoctor(program: Command, accept: (command: CommandLine) => void): void {
  program
    .command("doctor")
    .description("check keys, home folder, MCP servers, tools and Node")
    .option("--json", "print JSON")
    .action((options: { json?: true }) => accept({ type: "doctor", json: options.json === true, ...cwdOf(program) }));
}
