import { realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/** Programs that begin each command. One file can be many programs, as busybox is. */
const NEEDED = ["/bin/sh", "/bin/bash", "/usr/bin/env", "/usr/bin/prlimit"];

/** Returns the paths of denied programs in the command's `PATH` and in the usual folders, except files that every command needs to begin. */
export async function deniedPrograms({ commands, environment }: SandboxPolicy): Promise<string[]> {
  const found = new Set<string>();
  for (const program of commands?.denied ?? []) for (const path of await placesOf(program, environment)) found.add(path);
  if (found.size > 0) for (const path of NEEDED) found.delete(await realpath(path).catch(() => path));
  return [...found];
}

/** The names of the denied programs that a sandbox does hide, wherever they are installed. */
export async function hiddenNames(policy: SandboxPolicy): Promise<readonly string[]> {
  const denied = policy.commands?.denied ?? [];
  if (denied.length === 0) return [];
  const hidden = new Set(await deniedPrograms(policy));
  const places = await Promise.all(denied.map((program) => placesOf(program, policy.environment)));
  return denied.filter((_program, index) => {
    const paths = places[index] ?? [];
    return paths.length > 0 && paths.every((path) => hidden.has(path));
  });
}

/** The files of a program, with links followed. */
async function placesOf(program: string, environment: SandboxPolicy["environment"]): Promise<readonly string[]> {
  const folders = [
    ...(environment?.set?.["PATH"] ?? process.env["PATH"] ?? "").split(":"),
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
  ];
  const paths = isAbsolute(program) ? [program] : folders.filter(isAbsolute).map((folder) => join(folder, program));
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return real.filter((path) => path !== undefined);
}
