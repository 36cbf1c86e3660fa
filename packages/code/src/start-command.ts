import { main } from "./main.ts";
import { runProcess } from "./run-process.ts";

/** Runs the command of this process, and ends the process with its exit code. */
export async function startCommand(version: string): Promise<void> {
  await runProcess({ command: "keelson", version }, (host) => main(process.argv.slice(2), host));
}
