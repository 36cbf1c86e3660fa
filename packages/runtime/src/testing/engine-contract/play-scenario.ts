import type { Decision, OpenQuestion, SessionId } from "@keelson/protocol";
import { runnerInternals } from "../../agent/index.ts";
import { foldSession } from "../../session/fold-session.ts";
import { lastTextOf } from "../../session/session-state.ts";
import { createScenarioRunner } from "./create-scenario-runner.ts";
import type { EngineScenario } from "./engine-scenario.ts";
import { openQuestions, perform, type Play } from "./perform-act.ts";
import type { ScenarioEngine } from "./scenario-engine.ts";
import { readSessionRecords, type SessionRecords } from "./session-records.ts";
import { settleSession } from "./settle-session.ts";
import { countedCalls, type CountedCall } from "./tool-counters.ts";

/** What a scenario came to on an engine. */
export interface PlayedScenario {
  /** How its last run ended, or why it waits. */
  readonly reason: string;
  readonly text: string;
  readonly output: unknown;
  readonly records: SessionRecords;
  /** What its tools did, in order. */
  readonly calls: readonly CountedCall[];
  /** The tools of which nobody knew whether they had run, so that people were asked. None, unless a process died. */
  readonly unknown: readonly string[];
}

/** Asked about a write of which nobody knows whether it ran, after a crash; it says what to do. */
export type OnUnknown = (question: OpenQuestion) => Promise<Decision>;

/**
 * Begins a scenario, does what happens from outside whenever nothing works on it, and reads what it came to.
 *
 * @param signal fires where it takes too long
 * @param onUnknown default: looks at what the tools left outside of the process, and says so
 */
export async function playScenario(
  scenario: EngineScenario,
  engine: ScenarioEngine,
  signal: AbortSignal,
  onUnknown: OnUnknown = (question) => lookAtCounters(engine.services.directory, question),
): Promise<PlayedScenario> {
  const { log, blobs, directory } = engine.services;
  const session = scenario.name as SessionId;
  const play: Play = { scenario, engine, runner: createScenarioRunner(engine.services, {}, [scenario]), session };
  const unknown: string[] = [];
  for (const [index, act] of [{ type: "run", input: scenario.input } as const, ...(scenario.acts ?? [])].entries()) {
    if (act.type === "run") await engine.begin(session, act.input, { agent: scenario.agent, id: `r_${session}-${index}` });
    else await perform(play, act);
    unknown.push(...(await settle(play, signal, onUnknown)));
  }
  const { run } = await foldSession(log, blobs, session);
  return {
    reason: run?.end?.reason ?? run?.suspendReason ?? "none",
    text: run?.end?.text ?? lastTextOf(run),
    output: run?.end?.output,
    records: await readSessionRecords(log, session),
    calls: countedCalls(directory, session),
    unknown,
  };
}

/** @returns the tools that people were asked about, whether they had run */
async function settle(play: Play, signal: AbortSignal, onUnknown: OnUnknown): Promise<readonly string[]> {
  const { runner, engine, session } = play;
  const asked: string[] = [];
  for (;;) {
    await settleSession(runnerInternals(runner).services, session, signal);
    const unknown = (await openQuestions(play)).filter(({ type, asked }) => type === "decision" && asked === undefined);
    if (unknown.length === 0) return asked;
    for (const question of unknown) await runner.approve(question.token, await onUnknown(question));
    asked.push(...unknown.map(({ operation }) => operation));
    if (engine.services.orchestrator === undefined) await engine.wake(session);
  }
}

async function lookAtCounters(directory: string, { session, callId, operation }: OpenQuestion): Promise<Decision> {
  const ran = countedCalls(directory, session).find((call) => call.callId === callId);
  if (ran === undefined) return { type: "retry" };
  return ran.failure === undefined ? { type: "supply", output: `${operation} is done` } : { type: "fail", reason: ran.failure };
}
