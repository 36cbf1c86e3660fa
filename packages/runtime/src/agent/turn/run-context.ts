import type { RunContext } from "../definition/run-context.ts";
import { runOf, sessionOf, type Loop } from "./loop.ts";

export function runContext(loop: Loop, retryCount: number): RunContext {
  const session = sessionOf(loop);
  return {
    session: session.id,
    runId: runOf(loop).id,
    model: runOf(loop).model,
    retryCount,
    cumulativeCost: session.totals.cost,
    metadata: runOf(loop).metadata,
    ...(loop.agent.options.cwd !== undefined && { cwd: loop.agent.options.cwd }),
    ...(loop.agent.options.env && { env: loop.agent.options.env }),
  };
}
