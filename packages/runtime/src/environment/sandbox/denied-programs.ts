import { realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/** Programs that begin each command. One file can be many programs, as busybox is. */
const NEEDED = ["/bin/sh", "/bin/bash", "/usr/bin/env", "/usr/bin/prlimit"];

/** Where the denied programs stand in the command's `PATH` and in the usual folders. A file without which no command begins is not among them. */
export async function deniedPrograms({ commands, environment }: SandboxPolicy): Promise<string[]> {
  const folders = [
    ...(environment?.set?.["PATH"] ?? process.env["PATH"] ?? "").split(":"),
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
  ];
  const found = new Set<string>();
  for (const program of commands?.denied ?? [])
    for (const path of isAbsolute(program) ? [program] : folders.filter(isAbsolute).map((folder) => join(folder, program))) {
      const real = await realpath(path).catch(() => undefined);
      if (real !== undefined) found.add(real);
    }
  if (found.size > 0) for (const path of NEEDED) found.delete(await realpath(path).catch(() => path));
  return [...found];
}
