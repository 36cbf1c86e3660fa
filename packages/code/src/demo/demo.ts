import type { CommandHost } from "../core/command-host.ts";
import { openDemoModel } from "./demo-model.ts";
import { BROKEN_PROJECT } from "./project-copy.ts";
import { createShowPace } from "./show-pace.ts";

export interface DemoOptions {
  /** The project to repair; another one in tests. */
  readonly project?: string;
}

/**
 * The main job: the coding agent repairs a broken project. Without a key a script plays the model: in a terminal the demo then shows the conversation of
 * `keelson` and types in it, elsewhere it prints lines.
 * @returns the exit code
 */
export async function demo(host: CommandHost, { project = BROKEN_PROJECT }: DemoOptions = {}): Promise<number> {
  const pace = isWatched(host) ? createShowPace() : undefined;
  const found = await openDemoModel(host.environment, pace);
  if (pace === undefined || !found.scripted) return (await import("./print-repair.ts")).printRepair({ ...found, project }, host);
  const { reason = "no API key found" } = found;
  return (await import("./terminal-show.ts")).showInTerminal({ ...found, project, pace, reason }, host);
}

/** True if a person sits at a terminal that can show a conversation. */
function isWatched({ stdin, stdout, environment }: CommandHost): boolean {
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true && environment["TERM"] !== "dumb";
  return isTerminal && (environment["CI"] ?? "") === "";
}
