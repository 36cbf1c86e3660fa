import type { RunId, SessionId } from "@keelson/protocol";
import { foldSession } from "../../session/fold-session.ts";
import { atAgentBoundary } from "../../session/log-failure.ts";
import type { Agent } from "../definition/agent.ts";
import type { BeginOptions, RunInput, RunOrigin } from "../definition/run.ts";
import type { RunnerInternals } from "./runner-internals.ts";
import { startRun } from "./start-run.ts";

/** Writes the first records of a run, and works nothing of it. */
export async function beginOnly(
  runner: RunnerInternals,
  agent: Agent<unknown>,
  session: string,
  input: RunInput,
  { id: given, ...options }: BeginOptions,
  origin: RunOrigin = {},
): Promise<RunId> {
  const { log, blobs, newId } = runner.services;
  const id = (given ?? `r_${newId()}`) as RunId;
  const isBegun = async (): Promise<boolean> => given !== undefined && (await foldSession(log, blobs, session as SessionId)).run?.id === id;
  return atAgentBoundary(session, async () => {
    if (await isBegun()) return id;
    const run = startRun(runner, agent, input, { ...options, session }, { ...origin, id, turns: 0 });
    await run.outcome;
    // Somebody else may have begun it in between, and work on it already.
    if (run.failure !== undefined && !(await isBegun())) throw run.failure;
    return id;
  });
}
