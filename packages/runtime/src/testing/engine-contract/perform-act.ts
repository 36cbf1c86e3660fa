import { setTimeout as delay } from "node:timers/promises";
import { AgentError, LogError, type OpenQuestion, type SessionId } from "@keelson/protocol";
import type { Agents, Runner } from "../../agent/index.ts";
import type { EngineScenario, ScenarioAct } from "./engine-scenario.ts";
import { scenarioClock } from "./scenario-clock.ts";
import type { ScenarioEngine } from "./scenario-engine.ts";
import { readSessionRecords, type SessionRecords } from "./session-records.ts";

/** A scenario on its way, on an engine. */
export interface Play {
  readonly scenario: EngineScenario;
  readonly engine: ScenarioEngine;
  /** The suite's own, which works nothing. */
  readonly runner: Runner<Agents>;
  readonly session: SessionId;
}

export type ActFromOutside = Exclude<ScenarioAct, { readonly type: "run" }>;

/** Does what happens from outside, and has the engine know of it. */
export async function perform(play: Play, act: ActFromOutside): Promise<void> {
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
      await rewindOnceLeft(play, act.turns);
      break;
    case "pass":
      scenarioClock(engine.services.directory).pass(act.ms);
      break;
  }
}

/** A worker that has written the end of a run may hold the session a moment longer. */
async function rewindOnceLeft({ runner, session }: Play, turns: number): Promise<void> {
  const until = Date.now() + LEAVING_MS;
  for (;;) {
    try {
      await runner.sessions.rewind(session, turns);
      return;
    } catch (error) {
      const isHeld = AgentError.is(error, "session") && LogError.is(error.cause, "lease-held");
      if (!isHeld || Date.now() > until) throw error;
      await delay(20);
    }
  }
}

const LEAVING_MS = 10_000;

/** Longer than any token is good. */
const EIGHT_DAYS_MS = 8 * 24 * 3_600_000;

/** All that is asked of people, by the run or by any child below it. */
export async function openQuestions({ runner, session }: Play): Promise<readonly OpenQuestion[]> {
  return (await runner.approvals.list()).filter(({ rootSession }) => rootSession === session);
}

async function questionAbout(play: Play, tool: string): Promise<OpenQuestion> {
  const { session } = play;
  const open = await openQuestions(play);
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
