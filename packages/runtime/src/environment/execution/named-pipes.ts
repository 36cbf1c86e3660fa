import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Both ends of a pipe of the kernel, as descriptors of this process. */
export interface Pipe {
  readonly reading: number;
  readonly writing: number;
}

/**
 * Pipes to give to programs. What Node makes for its children are sockets: who writes to one that nobody reads is told something else than
 * programs expect of a pipe.
 */
export async function openPipes(count: number): Promise<readonly Pipe[]> {
  if (count === 0) return [];
  const folder = await mkdtemp(join(tmpdir(), "keelson-pipes-"));
  try {
    const paths = Array.from({ length: count }, (_, index) => join(folder, String(index)));
    await promisify(execFile)("mkfifo", paths);
    return paths.map(openBothEnds);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function openBothEnds(path: string): Pipe {
  // To open one end waits for somebody at the other, whom this one stands in for.
  const both = openSync(path, constants.O_RDWR);
  try {
    return { reading: openSync(path, constants.O_RDONLY), writing: openSync(path, constants.O_WRONLY) };
  } finally {
    closeSync(both);
  }
}
