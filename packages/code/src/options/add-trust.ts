import type { Command } from "commander";
import type { CommandLine, TrustCommand } from "./command-line.ts";
import { cwdOf } from "./cwd-of.ts";

/** `keelson trust` and its actions. */
export function addTrust(program: Command, accept: (command: CommandLine) => void): void {
  const trust = program.command("trust").description("show what this project would have the agent run or obey, and trust it");
  const take = (action: TrustCommand["action"], paths: readonly string[], { json, digest }: { json?: true; digest?: string }): void =>
    accept({ type: "trust", action, paths, json: json === true, ...(digest !== undefined && { digest }), ...cwdOf(program) });
  trust
    .command("list", { isDefault: true })
    .description("what it brings: instructions, hooks and MCP servers, with their digests")
    .option("--json", "print JSON")
    .action((options: { json?: true }) => take("list", [], options));
  trust
    .command("accept")
    .description("trust it as it is now; a change asks again")
    .argument("[paths...]", "only these, as they are listed")
    .option("--digest <sha256>", "only if the one path still has this digest, or one that begins so")
    .option("--json", "print JSON")
    .action((paths: string[], options: { json?: true; digest?: string }) => take("accept", paths, options));
  trust
    .command("forget")
    .description("trust nothing of it any more")
    .option("--json", "print JSON")
    .action((options: { json?: true }) => take("forget", [], options));
}
