import { execFileSync } from "node:child_process";
import type { ServerScript } from "keelson/testing";
import { type Workspace, openWorkspace } from "../keelson-process.ts";
import { type KeelsonTerminal, openTerminal } from "../keelson-terminal.ts";

/** One screen of `docs/coding-agent.md`: a project, the responses of the model, and what a person types until the screen is there. */
export interface Scene {
  /** The name between the marks of the page. */
  readonly name: string;
  readonly script: ServerScript;
  /** The files of the project, by path. Default: none. */
  readonly files?: { readonly [path: string]: string };
  readonly args?: readonly string[];
  /** The height of the terminal. Default: 40. */
  readonly rows?: number;
  /** Runs before the terminal is opened. */
  prepare?(workspace: Workspace): Promise<void>;
  /** Resolves when the terminal shows the screen. */
  play(terminal: KeelsonTerminal): Promise<void>;
  /** The beginning of the first row that the page shows. Default: the first row of the terminal. */
  readonly from?: string;
  /** The beginning of the first row below it that the page does not show. Default: all rows are shown. */
  readonly to?: string;
}

/** The width of the screens of the page. */
export const GUIDE_COLUMNS = 80;

/** Returns the variables by which the clock of a command is behind by so many hours, and too slow for durations to depend on the machine. */
export function clockOf(hoursAgo: number): { readonly [name: string]: string } {
  return { NODE_OPTIONS: `--import=${new URL("slow-clock.ts", import.meta.url).href}`, KEELSON_HOURS_AGO: String(hoursAgo) };
}

/** Plays a scene in a real process and a real pseudo-terminal. @returns the screen, without what differs from run to run */
export async function takeScreen({ script, files, args = [], rows = 40, prepare, play, from, to }: Scene): Promise<string> {
  await using workspace = await openWorkspace(script, files);
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: workspace.project });
  await prepare?.(workspace);
  // Colours are on, because Markdown keeps its marks without them.
  const env = { NO_COLOR: "", ...clockOf(0) };
  await using terminal = openTerminal(workspace, args, { columns: GUIDE_COLUMNS, rows, env, timeByHand: true });
  await play(terminal);
  const shown = terminal.all();
  const rowOf = (start: string): number => {
    const index = shown.findIndex((row) => row.startsWith(start));
    if (index < 0) throw new Error(`no row of the screen begins with "${start}":\n${shown.join("\n")}`);
    return index;
  };
  const first = from === undefined ? 0 : rowOf(from);
  const end = to === undefined ? shown.length : rowOf(to);
  return stableScreen(shown.slice(first, end), workspace.project).trimEnd();
}

/** Returns the rows with the same folder, times, spinner and ids in place of those of this run. */
function stableScreen(rows: readonly string[], project: string): string {
  const ids = ["3f1f0a7e", "9c55b1d4", "6d1e7b3a"];
  return (
    rows
      // The prompt ends with a blank, which editors remove from a page.
      .map((row) => row.trimEnd())
      .join("\n")
      .replaceAll(project, "/home/ada/app")
      // The folder of a test is too long for the row in which this one stands.
      .replaceAll(" ·\n/home/ada/app", " · /home/ada/app")
      .replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠹")
      .replaceAll(/\b(?:\d+ m )?\d+(?:\.\d)? m?s\b/g, "2 s")
      .replaceAll(/(?<= · )[\da-f]{8}$/gm, () => ids.shift() ?? "00000000")
  );
}
