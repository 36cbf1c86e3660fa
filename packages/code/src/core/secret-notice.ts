import { join } from "node:path";
import { findSecretFiles, type SecretFiles } from "keelson/environment";
import type { Policy } from "keelson/security";
import type { Home } from "./home.ts";
import { appendJsonLines, readJsonLines } from "./json-lines.ts";

const MAX_SHOWN = 20;

/** Sentences about the files that may hold secrets, for the model. */
export function secretLines({ hidden, tracked, isCut }: SecretFiles): readonly string[] {
  return [
    hidden.length === 0
      ? "Files that may hold secrets, such as .env and keys, are hidden from commands unless git tracks them."
      : `These files may hold secrets and are hidden from commands: ${listed(hidden)}. A command that needs one names it, or lists it in \`reveal\` of bash; a person decides.`,
    ...(tracked.length > 0 ? [`These may hold secrets, too, and can be read because git tracks them: ${listed(tracked)}.`] : []),
    ...(isCut ? ["The project has more folders than are searched for such files."] : []),
  ];
}

interface Line {
  readonly project: string;
  readonly file: string;
  readonly tracked: boolean;
}

/** Tells a person once which files of a project are hidden from commands, and which are not because git tracks them. @returns lines to show */
export async function secretNotices(home: Pick<Home, "path">, cwd: string, policy: Policy | undefined): Promise<readonly string[]> {
  if (policy?.sandbox.filesystem?.hideSecrets === false) return [];
  const { hidden, tracked } = findSecretFiles(cwd);
  if (hidden.length + tracked.length === 0) return [];
  const path = join(home.path, "notices.jsonl");
  const known = new Set((await readJsonLines(path, readLine, UNKNOWN)).filter((line) => line.project === cwd).map(keyOf));
  const lines = [
    ...hidden.map((file): Line => ({ project: cwd, file, tracked: false })),
    ...tracked.map((file): Line => ({ project: cwd, file, tracked: true })),
  ].filter((line) => !known.has(keyOf(line)));
  if (lines.length === 0) return [];
  await appendJsonLines(path, lines);
  const fresh = (isTracked: boolean): readonly string[] => lines.filter((line) => line.tracked === isTracked).map(({ file }) => file);
  const [hiddenNow, trackedNow] = [fresh(false), fresh(true)];
  return [
    ...(hiddenNow.length > 0
      ? [`Commands do not see ${listed(hiddenNow)}, which may hold secrets. --allow 'reveal(${hiddenNow[0]})' shows it to them.`]
      : []),
    ...(trackedNow.length > 0 ? [`Commands can read ${listed(trackedNow)}, which may hold secrets, because git tracks it.`] : []),
  ];
}

function listed(files: readonly string[]): string {
  const shown = files.slice(0, MAX_SHOWN).join(", ");
  return files.length > MAX_SHOWN ? `${shown} and ${files.length - MAX_SHOWN} more` : shown;
}

const UNKNOWN = "it is not known which files were named before. Remove that line, or the file.";

function readLine({ project, file, tracked }: { readonly [name: string]: unknown }): Line | undefined {
  return typeof project === "string" && typeof file === "string" && typeof tracked === "boolean" ? { project, file, tracked } : undefined;
}

function keyOf({ file, tracked }: Line): string {
  return `${String(tracked)} ${file}`;
}
