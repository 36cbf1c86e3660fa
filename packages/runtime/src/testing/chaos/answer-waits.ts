import type { Decision, EventLog, JsonValue, SessionId, Wait } from "@keelson/protocol";
import type { SingleRunner } from "../../agent/runner/runner.ts";
import { foldSession } from "../../session/fold-session.ts";
import { sessionLogs } from "../../session/session-logs.ts";
import type { RunWorld, StartedProcess } from "./chaos-process.ts";
import type { Execution } from "./witness.ts";

/** A tool of which somebody was asked whether it had taken effect, and what was said. */
export interface AskedAbout {
  readonly tool: string;
  readonly answer: "supply" | "retry" | "fail" | "own";
}

/** What people and programs outside did for the runs that wait. */
export interface Answered {
  /** Whether something is there now that was waited for. */
  readonly isNew: boolean;
  readonly unknown: readonly AskedAbout[];
}

/**
 * Answers, from a process of their own, what the runs of all sessions wait for; lets time pass where nothing else is waited for.
 * @param answered what they answered before: nobody answers twice
 */
export async function answerWaits(world: RunWorld, desk: StartedProcess, answered: Set<string>): Promise<Answered> {
  const { scene, stores, clock } = world;
  const { runner } = desk.process;
  const unknown: AskedAbout[] = [];
  let isNew = false;
  const times: number[] = [];
  for (const { session, seq, wait } of await openWaits(stores.log, world)) {
    if (wait.type === "timer") {
      times.push(wait.at);
      continue;
    }
    // A second wait for the same is another one.
    const name = "token" in wait ? wait.token : `${session} ${seq} ${JSON.stringify(wait)}`;
    if (wait.type === "child" || answered.has(name)) continue;
    answered.add(name);
    isNew = true;
    const answer = async (): Promise<void> => {
      const isOwn = (await scene.answer?.(wait, runner)) === true;
      const said = isOwn ? "own" : await answerOne(world, runner, session, wait);
      if (wait.type === "decision" && said !== undefined) unknown.push({ tool: wait.operation, answer: said });
    };
    await desk.disturbance.pass("answer", `${wait.type} of ${session}`, answer);
  }
  const ms = Math.min(...times) - clock.now();
  if (isNew || times.length === 0 || ms <= 0) return { isNew, unknown };
  clock.pass(ms);
  return { isNew: true, unknown };
}

async function answerOne(
  world: RunWorld,
  runner: SingleRunner<unknown>,
  session: SessionId,
  wait: Wait,
): Promise<AskedAbout["answer"] | undefined> {
  if (wait.type === "approval") await runner.approve(wait.token, { type: "allow" });
  else if (wait.type === "signal") {
    const kind = wait.name === "*" ? "chaos" : wait.name;
    await runner.signal(wait.session ?? session, { kind, payload: null });
  } else if (wait.type === "decision") {
    const executions = world.witness.executionsOf(session, wait.callId);
    const done = executions
      .map(({ end }) => end)
      .find((end): end is Extract<Execution["end"], { output: unknown }> => end !== undefined && "output" in end);
    const decision = decisionAbout(executions.length, done?.output);
    await runner.approve(wait.token, decision);
    return decision.type;
  }
  return undefined;
}

/** By what was seen: it never began, it came to its end with this output, or nobody saw it end. */
function decisionAbout(executions: number, output: JsonValue | undefined): Extract<Decision, { type: AskedAbout["answer"] }> {
  if (executions === 0) return { type: "retry" };
  return output === undefined ? { type: "fail", reason: "chaos: it broke off, and nobody knows where" } : { type: "supply", output };
}

interface OpenWait {
  readonly session: SessionId;
  /** Where its log ends. */
  readonly seq: number;
  readonly wait: Wait;
}

/** Of all runs that are suspended, each for itself. */
async function openWaits(log: EventLog, { stores }: RunWorld): Promise<readonly OpenWait[]> {
  const found: OpenWait[] = [];
  for await (const { session } of sessionLogs(log)) {
    const { run, seq } = await foldSession(log, stores.blobs, session);
    if (run?.status !== "suspended") continue;
    for (const wait of run.waits) if (wait.path === undefined) found.push({ session, seq, wait });
  }
  return found;
}
