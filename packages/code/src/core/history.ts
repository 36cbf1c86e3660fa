import { appendFileSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";

const MAX_LINES = 500;

/** Returns the last lines typed before, newest first. A history that cannot be read is no reason not to talk. */
export async function readHistory(path: string): Promise<readonly string[]> {
  return (await readLines(path)).slice(-MAX_LINES).toReversed();
}

/**
 * Adds a line immediately, because a conversation may end at any moment, and others add theirs. It is a JSON string, since what was pasted may
 * have several lines.
 */
export function appendHistory(path: string, line: string): void {
  appendFileSync(path, encodeLine(line), { mode: 0o600 });
}

/** Removes the oldest lines of a history that has become long. */
export async function trimHistory(path: string): Promise<void> {
  const lines = await readLines(path);
  if (lines.length <= MAX_LINES) return;
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, lines.slice(-MAX_LINES).map(encodeLine).join(""), { mode: 0o600 });
  await rename(draft, path);
}

async function readLines(path: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").flatMap(decodeLine);
}

function encodeLine(line: string): string {
  return `${JSON.stringify(line)}\n`;
}

function decodeLine(line: string): string[] {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === "string" ? [value] : [];
  } catch {
    return [];
  }
}
