import { readFile, rename, writeFile } from "node:fs/promises";

const MAX_LINES = 500;

/** Lines typed before, newest first. A history that cannot be read is no reason not to talk. */
export async function readHistory(path: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text
    .split("\n")
    .flatMap((line) => decodeLine(line))
    .toReversed();
}

/** Each line is a JSON string, since what was pasted may have several. */
export async function writeHistory(path: string, newestFirst: readonly string[]): Promise<void> {
  const lines = newestFirst.slice(0, MAX_LINES).toReversed();
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });
  await rename(draft, path);
}

function decodeLine(line: string): string[] {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === "string" ? [value] : [];
  } catch {
    return [];
  }
}
