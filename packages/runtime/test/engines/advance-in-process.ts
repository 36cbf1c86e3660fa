import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { NextAdvance } from "keelson/agent";

const program = join(import.meta.dirname, "advance-turn.ts");
const compileCache = join(tmpdir(), "keelson-engines-compile-cache");

export interface AdvanceInProcessOptions {
  readonly childrenApart: boolean;
  readonly wake: (session: string) => Promise<void>;
  /** More arguments of the program. */
  readonly more?: readonly string[];
}

/** One turn of a session, in a process that knows nothing but the directory. One that is killed is followed by another. */
export async function advanceInProcess(directory: string, session: string, options: AdvanceInProcessOptions): Promise<NextAdvance> {
  const { childrenApart, wake, more = [] } = options;
  const args = ["--conditions=source", program, directory, session, ...(childrenApart ? ["--children-apart"] : []), ...more];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    // Most of a start is compiling.
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  const exited = once(child, "close");
  let next: NextAdvance | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { readonly wake?: string; readonly next?: NextAdvance };
    if (said.wake !== undefined) await wake(said.wake);
    next = said.next ?? next;
  }
  const [code, signal] = (await exited) as [number | null, string | null];
  if (signal === "SIGKILL") return { type: "now" };
  if (next === undefined) throw new Error(`The process that advanced session "${session}" ended with ${code ?? signal} and said nothing.`);
  return next;
}
