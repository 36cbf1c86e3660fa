import { UNKNOWN_USAGE, type JsonObject } from "@keelson/protocol";
import type { Run, RunOutcome, SingleRunner } from "../../src/index.ts";
import type { Life } from "./life.ts";
import { summaryOf, type Scenario } from "./scenario.ts";

/** What readers see of the sessions of a scenario, those of its children included. */
export async function lookAt(runner: SingleRunner, { name, others = [] }: Scenario): Promise<JsonObject> {
  const views: { [id: string]: JsonObject } = {};
  for (const { id, ...listed } of await runner.sessions.list({ children: true })) {
    if (id !== name && !others.includes(id) && !id.startsWith(`${name}~`)) continue;
    const { updatedAt: _, ...metadata } = listed;
    const { messages, state, run } = await runner.sessions.get(id);
    views[id] = { metadata, messages, state, ...(run && { run }) } as unknown as JsonObject;
  }
  return views;
}

/** What becomes of a scenario in another life. @param open how its runner is made there */
export async function goOnWith(
  scenario: Scenario,
  life: Life,
  noted: JsonObject,
  open: Scenario["open"] = scenario.open,
): Promise<JsonObject> {
  const runner = open(life);
  const outcomes = scenario.goOn ? await scenario.goOn(runner, life, noted) : [await (await runner.resume(scenario.name)).outcome];
  return { outcomes: outcomes.map(summaryOf), done: life.done, asked: life.asked, views: await lookAt(runner, scenario) };
}

/** A runner whose runs an engine goes on with: turn by turn, and by another runner each time. */
export function engineOf(scenario: Scenario): Scenario["open"] {
  return (life) => {
    const advanceAll = async (session: string): Promise<RunOutcome<unknown>> => {
      for (;;) {
        const { next } = await scenario.open(life).advance(session);
        if (next.type === "done") return next.outcome;
        if (next.type !== "now") return { ...UNTOLD, reason: next.reason, waits: next.waits };
      }
    };
    const resume = async (session: string) => ({ outcome: advanceAll(session) }) as Run;
    return Object.assign(scenario.open(life), { resume });
  };
}

/** What `advance` does not say of a run that waits. */
const UNTOLD = { text: "", turns: 0, usage: UNKNOWN_USAGE, cost: null, effects: [] } as const;

/** A fork of each session at its last complete turn, and what a run in it comes to. */
export async function forkAll(scenario: Scenario, life: Life): Promise<JsonObject> {
  const runner = scenario.open(life);
  const forks: { [id: string]: JsonObject } = {};
  for (const id of [scenario.name, ...(scenario.others ?? [])]) {
    const fork = await runner.sessions.fork(id, { id: `${id}-again` });
    const { messages, state } = await runner.sessions.get(fork);
    const outcome = await runner.run("And now?", { session: fork }).outcome;
    forks[id] = { messages, state, outcome: summaryOf(outcome) } as unknown as JsonObject;
  }
  return forks;
}
