import { AgentError, type Decision, type OpenQuestion, type SessionId } from "@keelson/protocol";
import { runnerInternals, type Agents, type Runner } from "../../agent/index.ts";
import { foldSession } from "../../session/fold-session.ts";
import { lastTextOf } from "../../session/session-state.ts";
import { createScenarioRunner } from "./create-scenario-runner.ts";
import type { EngineScenario, ScenarioAct } from "./engine-scenario.ts";
import { scenarioClock } from "./scenario-clock.ts";
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
}

interface Play {
  readonly scenario: EngineScenario;
  readonly engine: ScenarioEngine;
  readonly runner: Runner<Agents>;
  readonly session: SessionId;
  readonly signal: AbortSignal;
  readonly onUnknown: OnUnknown | undefined;
}

/** Asked about a write of which nobody knows whether it ran, after a crash; it says what to do. */
export type OnUnknown = (question: OpenQuestion) => Promise<Decision>;

/**
 * Begins a scenario, does what happens from outside whenever nothing works on it, and reads what it came to.
 *
 * @param signal fires where it takes too long
 * @param onUnknown for engines whose processes end in the middle: without it, a run that asks that waits on
 */
export async function playScenario(
  scenario: EngineScenario,
  engine: ScenarioEngine,
  signal: AbortSignal,
  onUnknown?: OnUnknown,
): Promise<PlayedScenario> {
  const { log, blobs, directory } = engine.services;
  const session = scenario.name as SessionId;
  const play: Play = { scenario, engine, runner: createScenarioRunner(engine.services), session, signal, onUnknown };
  for (const [index, act] of [{ type: "run", input: scenario.input } as const, ...(scenario.acts ?? [])].entries()) {
    if (act.type === "run") await engine.begin(session, act.input, { agent: scenario.agent, id: `r_${session}-${index}` });
    else await perform(play, act);
    await settle(play);
  }
  const { run } = await foldSession(log, blobs, session);
  return {
    reason: run?.end?.reason ?? run?.suspendReason ?? "none",
    text: run?.end?.text ?? lastTextOf(run),
    output: run?.end?.output,
    records: await readSessionRecords(log, session),
    calls: countedCalls(directory, session),
  };
}

async function settle(play: Play): Promise<void> {
  const { runner, session, signal, engine, onUnknown } = play;
  for (;;) {
    await settleSession(runnerInternals(runner).services, session, signal);
    if (onUnknown === undefined) return;
    const unknown = (await runner.approvals.list()).filter(({ rootSession, type }) => rootSession === session && type === "decision");
    if (unknown.length === 0) return;
    for (const question of unknown) await runner.approve(question.token, await onUnknown(question));
    if (engine.services.orchestrator === undefined) await engine.wake(session);
  }
}

type ActFromOutside = Exclude<ScenarioAct, { readonly type: "run" }>;

async function perform(play: Play, act: ActFromOutside): Promise<void> {
  const { session, engine } = play;
  await tell(play, act);
  // An orchestrator wakes whom it tells something. Without one, children are worked in the turns of those above them.
  if (act.type !== "rewind" && (engine.services.orchestrator === undefined || letsTimePass(act))) await engine.wake(session);
}

/** Nobody is told then. */
function letsTimePass({ type }: Pick<ScenarioAct, "type">): boolean {
  return type === "pass" || type === "decide-too-late";
}

async function tell(play: Play, act: ActFromOutside): Promise<void> {
  const { runner, session, engine } = play;
  switch (act.type) {
    case "decide":
      await runner.approve((await questionAbout(play, act.tool)).token, act.decision);
      break;
    case "decide-too-late": {
      const { token } = await questionAbout(play, act.tool);
      scenarioClock(engine.services.directory).pass(EIGHT_DAYS_MS);
      await refused(runner.approve(token, act.decision), act.tool);
      break;
    }
    case "signal":
      await runner.signal(act.to === undefined ? session : await sessionOf(play, act.to), act.signal);
      break;
    case "steer":
      await runner.steer(session, act.message, { interrupt: act.interrupt ?? false });
      break;
    case "stop":
      await runner.stop(session);
      break;
    case "abort":
      await runner.abort(session, act.reason);
      break;
    case "rewind":
      await runner.sessions.rewind(session, act.turns);
      break;
    case "pass":
      scenarioClock(engine.services.directory).pass(act.ms);
      break;
  }
}

/** Longer than any token is good. */
const EIGHT_DAYS_MS = 8 * 24 * 3_600_000;

async function questionAbout({ runner, session }: Play, tool: string): Promise<OpenQuestion> {
  const open = (await runner.approvals.list()).filter(({ rootSession }) => rootSession === session);
  const found = open.find(({ operation }) => operation === tool);
  if (found === undefined)
    throw new Error(
      `Nobody asks about "${tool}" in session "${session}": open are ${JSON.stringify(open.map(({ operation }) => operation))}.`,
    );
  return found;
}

async function refused(deciding: Promise<unknown>, tool: string): Promise<void> {
  try {
    await deciding;
  } catch (error) {
    if (AgentError.is(error, "invalid-token")) return;
    throw error;
  }
  throw new Error(`A decision about "${tool}" was taken although its token had expired.`);
}

/** Of the newest child of this agent, at any depth. */
async function sessionOf({ engine, session }: Play, agent: string): Promise<SessionId> {
  const found = sessionsOf(await readSessionRecords(engine.services.log, session), agent).at(-1);
  if (found === undefined) throw new Error(`Session "${session}" has no child "${agent}".`);
  return found as SessionId;
}

function sessionsOf({ records, children }: SessionRecords, agent: string): readonly string[] {
  const own = records
    .filter(({ type, data }) => type === "child-start" && data["agent"] === agent)
    .map(({ data }) => data["session"] as string);
  return [...own, ...children.flatMap((child) => sessionsOf(child, agent))];
}
