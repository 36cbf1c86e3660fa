import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";

/** A file below the project's folder, with `/`, and its SHA-256. */
export type NamedFile = readonly [path: string, digest: string];

/**
 * The files of a project that command lines name, each with its digest: whoever changes such a script changes what is run.
 * @param folder where the commands start. Default: the project
 */
export async function namedFiles(project: string, lines: readonly string[], folder: string = project): Promise<readonly NamedFile[]> {
  const words = new Set(lines.flatMap((line) => line.split(/[\s"'`;|&()<>=]+/).filter((word) => word !== "")));
  const found = new Map<string, string>();
  for (const word of words) {
    const path = resolve(folder, word);
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || !real.startsWith(project + sep) || !(await stat(real)).isFile()) continue;
    found.set(relative(project, path).split(sep).join("/"), await digestOf(real));
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest("hex");
}
