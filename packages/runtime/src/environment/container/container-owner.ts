import { hostname } from "node:os";
import { isAlive, processNamespace } from "../../platform/process-namespace.ts";
import type { DockerEngine } from "./docker-engine.ts";

/** The label of every container that is made here: the process that made it. */
export const OWNER_LABEL = "keelson.owner";

/** This process, among all that may use the same daemon. */
export async function thisOwner(): Promise<string> {
  return `${await here()}${process.pid}`;
}

/** Takes those containers away that processes of this machine left which are gone. */
export async function removeOrphans(engine: DockerEngine): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [OWNER_LABEL] }));
  const { body } = await engine.call("GET", `/containers/json?all=1&filters=${filters}`);
  // Process ids of another machine, or of another namespace, say nothing here.
  const own = await here();
  for (const { Id, Labels } of body as readonly { readonly Id: string; readonly Labels: Readonly<Record<string, string>> }[]) {
    const owner = Labels[OWNER_LABEL] ?? "";
    if (owner.startsWith(own) && !isAlive(Number(owner.slice(own.length)))) await removeContainer(engine, Id);
  }
}

/** With what runs in it, and its volumes. One that is gone, or is on its way, is no failure. */
export async function removeContainer(engine: DockerEngine, name: string): Promise<void> {
  await engine.call("DELETE", `/containers/${name}?force=1&v=1`, { expected: [404, 409] });
}

/** What the owners on this machine, in this namespace, begin with. */
async function here(): Promise<string> {
  return `${hostname()}/${await processNamespace()}/`;
}
