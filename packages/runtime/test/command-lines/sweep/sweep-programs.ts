import { execFile } from "node:child_process";
import { join } from "node:path";
import type { CallEffects } from "@keelson/protocol";
import { seed, tier } from "../../../../../test/tier.ts";
import { readCommandLine } from "../../../src/environment/index.ts";
import type { ProgramEntry } from "../../../src/environment/command-line/programs/program-entry.ts";
import { judgeBy } from "../judge.ts";
import { type HostileFolder, INNER, OUTER } from "./hostile-folder.ts";
import { environment, runLines, shows } from "./run-lines.ts";
import { combinedLines, formsOf, optionLines, quoted } from "./sweep-lines.ts";

export interface SweptProgram {
  readonly name: string;
  readonly entry: ProgramEntry;
}

/** Reads lines with each option of the programs. Returns those that run unasked, with their effects, and the number of lines. */
export async function readSweptLines(
  programs: readonly SweptProgram[],
  folder: HostileFolder,
): Promise<{ readonly unasked: ReadonlyMap<string, CallEffects>; readonly read: number }> {
  const judge = judgeBy([], folder.workspace);
  const unasked = new Map<string, CallEffects>();
  let read = 0;
  for (const { name, entry } of programs) {
    const swept = new Set<string>();
    for (const form of formsOf(name, entry)) {
      // Subcommands with the same options are swept once, unless all are.
      const { flags, values, optional } = form.form;
      const options = JSON.stringify([flags, values, optional]);
      if (swept.has(options) && flags !== undefined && tier !== "soak") continue;
      swept.add(options);
      const help = await helpOf(form.words, entry, folder);
      // A program that only prints its words understands nearly all of these lines.
      const step = form.form.anything === true && tier !== "soak" ? 5 : 1;
      const lines = [...optionLines(form, help, folder), ...combinedLines(form, folder, seed)];
      for (const words of lines.filter((_, index) => index % step === 0)) {
        const line = words.map(quoted).join(" ");
        read++;
        // The canary is a marker, too: the same line with the marker inside only counts if it differs.
        if (unasked.has(line) || unasked.has(line.replaceAll(folder.marker, folder.outer))) continue;
        const effects = await readCommandLine(line, { cwd: folder.workspace });
        if (judge.of(line, effects) === "allow") unasked.set(line, effects);
      }
    }
  }
  return { unasked, read };
}

/** Runs the lines. Returns a sentence for each that does more than its effects say. */
export async function runSweptLines(lines: ReadonlyMap<string, CallEffects>, folder: HostileFolder): Promise<readonly string[]> {
  const results = await runLines([...lines.keys()], folder);
  return [...lines].flatMap(([line, effects], index) => {
    const { output, marked } = results[index] as (typeof results)[number];
    if (marked) return [`${line} starts a program of the folder`];
    if (shows(output, OUTER)) return [`${line} shows a file outside`];
    return shows(output, INNER) && !hasFile(effects, join(folder.workspace, folder.inner))
      ? [`${line} shows a file that it does not name`]
      : [];
  });
}

/** The text in which a program, or one of its subcommands, lists its options. */
function helpOf(words: readonly string[], entry: ProgramEntry, folder: HostileFolder): Promise<string> {
  const [program, ...rest] = words as unknown as readonly [string, ...string[]];
  const [started, args] =
    entry.builtin === true
      ? ["bash", ["-c", `help ${quoted(program)}`]]
      : [program, [...rest, rest.length > 0 && program === "git" ? "-h" : "--help"]];
  return new Promise((resolve) => {
    execFile(started, args, { cwd: folder.root, env: environment(folder), timeout: 3000 }, (_, stdout, stderr) =>
      resolve(`${stdout} ${stderr}`),
    ).stdin?.end();
  });
}

/** True if the effects name the file, or say that it may be among others. */
function hasFile({ reads = [], mayTouch = [] }: CallEffects, path: string): boolean {
  return (
    reads.some((place) => path === place || path.startsWith(`${place}/`)) ||
    mayTouch.some((pattern) => new RegExp(`^${pattern.replace(/[\\^$.|?+()[\]{}]/g, "\\$&").replaceAll("*", ".*")}$`, "s").test(path))
  );
}
