import { readlink } from "node:fs/promises";
import { hostname } from "node:os";
import type { DockerEngine } from "./docker-engine.ts";

/** The label of every container that is made here: the process that made it. */
export const OWNER_LABEL = "keelson.owner";

/** This process, among all that may use the same daemon. */
export async function thisOwner(): Promise<string> {
  return `${await processNamespace()}/${process.pid}`;
}

/** Takes those containers away that processes of this machine left which are gone. */
export async function removeOrphans(engine: DockerEngine): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [OWNER_LABEL] }));
  const { body } = await engine.call("GET", `/containers/json?all=1&filters=${filters}`);
  // Process ids of another machine, or of another namespace, say nothing here.
  const here = `${await processNamespace()}/`;
  for (const { Id, Labels } of body as readonly { readonly Id: string; readonly Labels: Readonly<Record<string, string>> }[]) {
    const owner = Labels[OWNER_LABEL] ?? "";
    if (owner.startsWith(here) && !isAlive(Number(owner.slice(here.length)))) await removeContainer(engine, Id);
  }
}

/** With what runs in it, and its volumes. One that is gone, or is on its way, is no failure. */
export async function removeContainer(engine: DockerEngine, name: string): Promise<void> {
  await engine.call("DELETE", `/containers/${name}?force=1&v=1`, { expected: [404, 409] });
}

async function processNamespace(): Promise<string> {
  const namespace = process.platform === "linux" ? /\d+/.exec(await readlink("/proc/self/ns/pid"))?.[0] : undefined;
  return `${hostname()}/${namespace ?? "0"}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
