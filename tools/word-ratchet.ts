// Counts the offences against the rules for words. `npm run lint` fails if there are more than tools/word-ratchet.json allows.
// `--tighten` writes today's numbers, if they are lower; `--list` prints every offence.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Offence } from "./offence.ts";
import { root, runCommand } from "./run-command.ts";
import { subjectOffencesIn, wordOffencesIn } from "./word-rules.ts";

/** The allowed number of offences of each rule. */
export type Ratchet = Readonly<Record<string, number>>;

/** A pin may be this much above the count, so that changes made side by side do not fight for the file. */
export const SLACK = 200;

/** Returns a sentence for each rule with more offences than allowed, or with a pin that should be lowered. */
export function ratchetProblems(counts: Ratchet, allowed: Ratchet): readonly string[] {
  return [...new Set([...Object.keys(counts), ...Object.keys(allowed)])].sort().flatMap((rule) => {
    const count = counts[rule] ?? 0;
    const most = allowed[rule] ?? 0;
    if (count > most) return [`${rule}: ${count} offences, at most ${most} are allowed: rewrite what you added, as below`];
    if (count < most - SLACK) return [`${rule}: ${count} offences, ${most} are allowed: run \`node tools/word-ratchet.ts --tighten\``];
    return [];
  });
}

/** Returns the lowered pins: no number grows. */
export function tightened(counts: Ratchet, allowed: Ratchet): Ratchet {
  return Object.fromEntries(Object.entries(allowed).map(([rule, most]) => [rule, Math.min(most, counts[rule] ?? 0)]));
}

const path = "tools/word-ratchet.json";

async function git(...args: readonly string[]): Promise<string | undefined> {
  const { code, output } = await runCommand("git", args, { cwd: root });
  return code === 0 ? output : undefined;
}

/** Returns the places, as "file:line", that were added since a commit. */
async function linesAddedSince(commit: string): Promise<ReadonlySet<string>> {
  const places = new Set<string>();
  let file = "";
  for (const line of ((await git("diff", "-U0", commit, "--", "*.ts")) ?? "").split("\n")) {
    if (line.startsWith("+++ b/")) file = line.slice(6);
    const hunk = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk === null) continue;
    const [first, count] = [Number(hunk[1]), Number(hunk[2] ?? 1)];
    for (let offset = 0; offset < count; offset++) places.add(`${file}:${first + offset}`);
  }
  return places;
}

/** Returns every offence of the workspace, and the number of each rule's. Without the whole history, commit subjects are not judged. */
async function findOffences(allowed: Ratchet): Promise<{ readonly offences: readonly Offence[]; readonly counts: Ratchet }> {
  const listed = ((await git("ls-files", "--cached", "--others", "--exclude-standard", "*.ts")) ?? "").split("\n");
  const files = listed.filter((file) => file !== "" && existsSync(join(root, file)));
  const offences = files.flatMap((file) => wordOffencesIn(readFileSync(join(root, file), "utf8"), file));
  const isWholeHistory = (await git("rev-parse", "--is-shallow-repository"))?.trim() === "false";
  if (isWholeHistory) offences.push(...subjectOffencesIn(((await git("log", "--format=%s")) ?? "").trimEnd().split("\n")));
  else console.log("commit-opening: not judged, because this clone has no whole history");
  const counts: Record<string, number> = isWholeHistory ? {} : { "commit-opening": allowed["commit-opening"] ?? 0 };
  for (const { rule } of offences) counts[rule] = (counts[rule] ?? 0) + 1;
  return { offences, counts };
}

/** Returns a line for each rule whose number grew or whose pin should be lowered, then one for each offence added since the pins changed. */
export async function judgeWords(): Promise<readonly string[]> {
  const allowed = readRatchet();
  const { offences, counts } = await findOffences(allowed);
  const problems = ratchetProblems(counts, allowed);
  if (problems.length === 0) return [];
  const since = (await git("log", "-1", "--format=%H", "--", path))?.trim() || "HEAD";
  const added = await linesAddedSince(since);
  const subjects = Number((await git("rev-list", "--count", `${since}..HEAD`)) ?? 0);
  const fresh = offences.filter(({ file, line }) => (file === "git log" ? line <= subjects : added.has(`${file}:${line}`)));
  return [...problems, ...fresh.map(describeOffence)];
}

function readRatchet(): Ratchet {
  return JSON.parse(readFileSync(join(root, path), "utf8")) as Ratchet;
}

function describeOffence({ file, line, rule, message }: Offence): string {
  return `${file}:${line} ${rule}: ${message}`;
}

if (import.meta.main) {
  const allowed = readRatchet();
  if (process.argv.includes("--list")) for (const offence of (await findOffences(allowed)).offences) console.log(describeOffence(offence));
  else if (process.argv.includes("--tighten")) {
    const lowered = tightened((await findOffences(allowed)).counts, allowed);
    writeFileSync(join(root, path), `${JSON.stringify(lowered, null, 2)}\n`);
  } else for (const line of await judgeWords()) console.log(line);
}
