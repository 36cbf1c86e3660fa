import { type EventLog, type LogRecord, type SessionId, sessionLog } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import type { RunOutcome } from "../../src/agent/definition/run.ts";
import { faultsOf } from "./normalised-log.ts";
import { sample } from "./sample.ts";
import { SESSION } from "./scenario.ts";
import { openBackground } from "./background-scenario.ts";
import { simulateLives, type SimulatedLives } from "./simulated-lives.ts";

async function recordsOf(log: EventLog, session: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(session as SessionId))) records.push(record);
  return records;
}

/** What is wrong with a session that crashes and resumes have led to its end. */
async function faultsAfter({ log, effects }: SimulatedLives, outcome: RunOutcome<unknown> | undefined) {
  const faults = [...(await faultsOf(log, SESSION))];
  if (outcome?.reason !== "complete" || outcome.text !== "Heard of 3.") faults.push(`it ended with ${outcome?.reason}: ${outcome?.text}`);
  for (const { meta } of outcome?.effects ?? []) if (meta?.outcome !== "done") faults.push(`the effect ${meta?.id} is ${meta?.outcome}`);
  const records = await recordsOf(log, SESSION);
  const said = JSON.stringify(records.filter(({ type }) => type === "message").map(({ data }) => data));
  for (const told of ["is done:\\nThe report is filed.", "is done:\\nindexed", "ended early (error): no such thing"])
    if (said.split(told).length !== 2) faults.push(`"${told}" is told ${said.split(told).length - 1} times`);
  const count = (type: string, kind?: string): number =>
    records.filter((record) => record.type === type && (kind === undefined || record.data["kind"] === kind)).length;
  for (const [type, kind, times] of [
    ["child-start", undefined, 1],
    ["child-end", undefined, 1],
    ["task", "started", 2],
    ["task", "completed", 1],
    ["task", "failed", 1],
  ] as const)
    if (count(type, kind) !== times) faults.push(`${type} ${kind ?? ""} stands ${count(type, kind)} times`);
  for (const tool of ["file_report", "index", "fail"]) {
    const done = effects.read().filter((act) => act.tool === tool);
    if (done.length === 0) faults.push(`${tool} was never done`);
    if (tool === "file_report" && done.length > 1) faults.push(`${tool} was done ${done.length} times`);
    if (new Set(done.map(({ key }) => key)).size > 1) faults.push(`${tool} was done under several keys`);
  }
  return faults;
}

describe("a run with an agent and tasks beside its turns that is killed", () => {
  it(
    "at any append, and around anything they do, goes on: the same children, the same keys, each result told once [DI-03, DI-09]",
    { timeout: 120_000 },
    async () => {
      const whole = simulateLives({ open: openBackground });
      const { passed, finished } = await whole.live();
      expect(await faultsAfter(whole, finished?.outcome)).toEqual([]);
      expect(passed.length).toBeGreaterThan(30);
      const faults: string[] = [];
      for (const place of passed) {
        const lives = simulateLives({ open: openBackground });
        await lives.live(place);
        const { finished: end } = await lives.live();
        for (const fault of await faultsAfter(lives, end?.outcome)) faults.push(`${place}: ${fault}`);
      }
      expect(faults).toEqual([]);
    },
  );

  it("again on its way, does the same", { timeout: 1_800_000 }, async () => {
    const { passed } = await simulateLives({ open: openBackground }).live();
    const pairs: { readonly first: string; readonly second: string }[] = [];
    for (const first of passed) {
      const lives = simulateLives({ open: openBackground });
      await lives.live(first);
      for (const second of (await lives.live()).passed) pairs.push({ first, second });
    }
    const faults: string[] = [];
    for (const { first, second } of sample(
      pairs,
      sampleSize(`pairs of ${pairs.length} kills with work beside the turns`, { test: 100, ci: 1000, soak: pairs.length }),
    )) {
      const lives = simulateLives({ open: openBackground });
      await lives.live(first);
      await lives.live(second);
      const { finished } = await lives.live();
      for (const fault of await faultsAfter(lives, finished?.outcome)) faults.push(`${first}, ${second} (seed ${seed}): ${fault}`);
    }
    expect(faults).toEqual([]);
  });
});
