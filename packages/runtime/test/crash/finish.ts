import { type EventLog, type SessionId, sessionLog, type Wait } from "@keelson/protocol";
import type { Run, RunOutcome } from "../../src/agent/definition/run.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { HOUR_SAID } from "./asking-scenario.ts";
import { outputOf, SESSION } from "./scenario.ts";
import type { SideEffects } from "./side-effects.ts";

/** What a run that was ended somewhere came to. */
export interface Finished {
  readonly outcome: RunOutcome<unknown>;
  /** Tools about which a person was asked whether they had run. */
  readonly unknown: readonly string[];
  readonly resumes: number;
}

/** Plays the person who keeps the session going: resumes it, and answers what it asks, until it is over. `watch` is shown each run. */
export async function finish(
  runner: SingleRunner,
  log: EventLog,
  effects: SideEffects,
  watch?: (run: Run<unknown>) => void,
): Promise<Finished> {
  const unknown: string[] = [];
  for (let resumes = 0; resumes < 20; resumes++) {
    const isNew = (await log.head(sessionLog(SESSION as SessionId))) === 0;
    const run = isNew ? runner.run("Do the job.", { session: SESSION }) : await runner.resume(SESSION);
    watch?.(run);
    const outcome = await run.outcome;
    if (!outcome.reason.startsWith("awaiting-")) return { outcome, unknown, resumes };
    unknown.push(...(await answer(runner, effects, outcome.waits ?? [])));
  }
  throw new Error("the run did not end within 20 resumes");
}

/**
 * Allows what asks, and answers tools. Where nobody knows whether a write happened, looks at the world and says so.
 * @returns the tools of the latter kind
 */
export async function answer(runner: SingleRunner, effects: SideEffects, waits: readonly Wait[]): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (const wait of waits) {
    if (wait.type === "approval") await runner.approve(wait.token, { type: "allow" });
    else if (wait.type === "decision" && wait.asked !== undefined)
      await runner.approve(wait.token, wait.asked.schema === undefined ? { type: "allow" } : { type: "supply", output: HOUR_SAID });
    else if (wait.type === "decision") {
      unknown.push(wait.operation);
      const isDone = effects.read().some(({ tool }) => tool === wait.operation);
      await runner.approve(wait.token, isDone ? { type: "supply", output: outputOf(wait.operation) } : { type: "retry" });
    } else if (wait.type === "signal") await runner.signal(wait.session ?? SESSION, { kind: wait.name, payload: 7 }, { key: wait.name });
    else throw new Error(`nothing here waits for a ${wait.type}`);
  }
  return unknown;
}

/** What a session that waits says it waits for. */
export async function openWaits(log: EventLog): Promise<readonly Wait[]> {
  let waits: readonly Wait[] = [];
  for await (const { type, data } of log.read(sessionLog(SESSION as SessionId))) {
    waits = type === "run-suspend" ? (data["waits"] as unknown as readonly Wait[]) : [];
  }
  return waits;
}
