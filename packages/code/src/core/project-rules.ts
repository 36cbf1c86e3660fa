import { appendFile, readFile, truncate } from "node:fs/promises";
import { AgentError } from "@keelson/protocol";
import type { Home } from "./home.ts";

/** What a person allowed for good in one project: a pattern of an allow rule. */
export interface ProjectRule {
  /** Real path of the folder that it holds in. */
  readonly project: string;
  readonly pattern: string;
  /** Unix ms. */
  readonly allowedAt: number;
}

// Kept in the home folder, never in the project: what comes with a repository must not give itself rights. The file is only ever
// added to, a line for each change, so that processes side by side lose nothing of each other's.
type Line = { readonly project: string; readonly at: number } & ({ readonly allow: string } | { readonly remove: string });

/** What is allowed in a project; without one in all of them. @throws AgentError of kind `backend` when the file is damaged */
export async function readProjectRules({ permissions }: Pick<Home, "permissions">, project?: string): Promise<readonly ProjectRule[]> {
  const rules = new Map<string, ProjectRule>();
  for (const line of await readLines(permissions)) {
    if (project !== undefined && line.project !== project) continue;
    const pattern = "allow" in line ? line.allow : line.remove;
    const key = JSON.stringify([line.project, pattern]);
    if ("remove" in line) rules.delete(key);
    else rules.set(key, { project: line.project, pattern, allowedAt: line.at });
  }
  return [...rules.values()];
}

export async function allowInProject(
  home: Pick<Home, "permissions">,
  project: string,
  patterns: readonly string[],
  at: number,
): Promise<void> {
  await append(
    home.permissions,
    patterns.map((allow) => ({ project, allow, at })),
  );
}

/** @returns whether it was allowed until now */
export async function removeFromProject(home: Pick<Home, "permissions">, project: string, pattern: string, at: number): Promise<boolean> {
  const known = await readProjectRules(home, project);
  if (!known.some((rule) => rule.pattern === pattern)) return false;
  await append(home.permissions, [{ project, remove: pattern, at }]);
  return true;
}

async function append(path: string, lines: readonly Line[]): Promise<void> {
  // A line that a crash cut off must not swallow the next one.
  const text = await readText(path);
  if (text !== "" && !text.endsWith("\n")) await truncate(path, Buffer.byteLength(text.slice(0, text.lastIndexOf("\n") + 1)));
  await appendFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600, flush: true });
}

async function readLines(path: string): Promise<readonly Line[]> {
  return (await readText(path)).split("\n").flatMap((text, index, all) => {
    if (text === "") return [];
    const line = readLine(text);
    if (line !== undefined) return [line];
    // Cut off by a crash: whoever wrote it was never told that it is kept.
    if (index === all.length - 1) return [];
    throw new AgentError({
      kind: "backend",
      message: `Line ${index + 1} of ${path} can't be read, so what is allowed isn't known. Mend or remove that line, or the file; what it allowed is then asked about again.`,
    });
  });
}

function readLine(text: string): Line | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { project, at, allow, remove } = value as { readonly [name: string]: unknown };
  if (typeof project !== "string" || typeof at !== "number") return undefined;
  if (typeof allow === "string") return { project, at, allow };
  return typeof remove === "string" ? { project, at, remove } : undefined;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
