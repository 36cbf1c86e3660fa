import { relative } from "node:path/posix";
import { createDiskVfs, findSearchProblem } from "keelson/environment";
import type { Finding } from "./finding.ts";
import { printableLine } from "../text/printable.ts";

/** More files than this make each search take seconds. */
const MANY_FILES = 50_000;
const WAIT_MS = 10_000;

/** Says whether searches in a folder are fast, and if not, the reason and the remedy. */
export async function searchFinding(
  folder: string,
  {
    many = MANY_FILES,
    findProblem = findSearchProblem,
  }: { readonly many?: number; findProblem?(folder: string): Promise<string | undefined> } = {},
): Promise<Finding> {
  const what = "search";
  try {
    const [problem, size] = [await findProblem(folder), await describeSize(folder, many)];
    const detail = [problem, size].filter((part) => part !== undefined).join(" ");
    return detail === ""
      ? { what, state: "ok", detail: "files are searched with ripgrep" }
      : { what, state: "missing", detail: printableLine(detail) };
  } catch (error) {
    return { what, state: "broken", detail: printableLine(error instanceof Error ? error.message : String(error)) };
  }
}

/** Says that a folder has very many files, and which folder in it has most of them. */
async function describeSize(folder: string, many: number): Promise<string | undefined> {
  const files = createDiskVfs({ root: folder });
  const signal = AbortSignal.timeout(WAIT_MS);
  const found = await files.glob("**", { gitignore: true, leaveOut: ["node_modules"], limit: many + 1, signal }).catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });
  if (found === undefined) return `Listing the files of ${folder} takes more than ${WAIT_MS / 1000} s. ${REMEDY}`;
  if (found.length <= many) return undefined;
  const counts = new Map<string, number>();
  for (const { path } of found) {
    const top = relative(files.root, path).split("/")[0] as string;
    counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  const [largest] = [...counts].sort(([, a], [, b]) => b - a);
  return `A search looks at more than ${many.toLocaleString("en-US")} files, most of those counted in ${largest?.[0]}. ${REMEDY}`;
}

const REMEDY = "If they are generated, add their folder to .gitignore; else start in a folder of the project.";
