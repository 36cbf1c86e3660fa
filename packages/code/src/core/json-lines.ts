import { appendFile, readFile, truncate } from "node:fs/promises";
import { AgentError } from "@keelson/protocol";

// Files in the home folder that are only ever added to, a JSON object a line, so that processes side by side lose nothing of each other's.

/** Adds lines that are kept once this resolves. */
export async function appendJsonLines(path: string, lines: readonly object[]): Promise<void> {
  // A line that a crash cut off must not swallow the next one.
  const text = await readText(path);
  if (text !== "" && !text.endsWith("\n")) await truncate(path, Buffer.byteLength(text.slice(0, text.lastIndexOf("\n") + 1)));
  await appendFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600, flush: true });
}

/**
 * All lines, in order; none without the file.
 * @throws AgentError of kind `backend` for a line that is not understood, with `unknown` and what to do
 */
export async function readJsonLines<Line>(
  path: string,
  read: (value: { readonly [name: string]: unknown }) => Line | undefined,
  unknown: string,
): Promise<readonly Line[]> {
  return (await readText(path)).split("\n").flatMap((text, index, all) => {
    if (text === "") return [];
    const value = parsed(text);
    const line = value && read(value);
    if (line !== undefined) return [line];
    // Cut off by a crash: whoever wrote it was never told that it is kept.
    if (index === all.length - 1) return [];
    throw new AgentError({ kind: "backend", message: `Line ${index + 1} of ${path} can't be read, so ${unknown}` });
  });
}

function parsed(text: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as { readonly [name: string]: unknown }) : undefined;
  } catch {
    return undefined;
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
