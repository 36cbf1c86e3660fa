import type { JsonObject } from "@keelson/protocol";
import type { SingleRunner } from "../../src/index.ts";
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

/** What becomes of a scenario in another life. */
export async function goOnWith(scenario: Scenario, life: Life, noted: JsonObject): Promise<JsonObject> {
  const runner = scenario.open(life);
  const outcomes = scenario.goOn ? await scenario.goOn(runner, life, noted) : [await (await runner.resume(scenario.name)).outcome];
  return { outcomes: outcomes.map(summaryOf), done: life.done, asked: life.asked, views: await lookAt(runner, scenario) };
}

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
