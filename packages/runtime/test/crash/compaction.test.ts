import { sessionLog, type EventLog, type LogRecord, type SessionId, type StateStore } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { createMemoryBudgetLedger, createMemoryStore } from "../../src/state/index.ts";
import { userFacts } from "../../src/memory/index.ts";
import { faultsOf } from "./normalised-log.ts";
import { SESSION, type ScenarioServices } from "./scenario.ts";
import { openCompacting } from "./compaction-scenario.ts";
import { simulateLives } from "./simulated-lives.ts";

async function recordsIn(log: EventLog): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(SESSION as SessionId))) records.push(record);
  return records;
}

/** What of a log would have somebody pay twice, or not at all. */
function unpaid(records: readonly LogRecord[]): readonly string[] {
  const faults: string[] = [];
  for (const { key, type } of records) {
    if (type !== "inference") continue;
    const usages = records.filter((record) => record.type === "usage" && record.key === `${key}/usage`).length;
    if (usages !== 1) faults.push(`${key} was settled ${usages} times`);
    if (records.filter((record) => record.type === "inference" && record.key === key).length !== 1) faults.push(`${key} was begun twice`);
  }
  return faults;
}

describe.each([
  { name: "before its turns", beside: false },
  { name: "beside its turns", beside: true },
])("a run that is compacted $name", async ({ beside }) => {
  let asked = 0;
  const open = (services: ScenarioServices): SingleRunner =>
    openCompacting({ ...services, ledger: createMemoryBudgetLedger() }, beside, () => void asked++);
  const lonely = simulateLives({ open });
  const { passed, finished } = await lonely.live();
  const summaries = asked;
  const compactions = (await recordsIn(lonely.log)).filter(({ type }) => type === "compaction").length;

  it("is, when it is left alone", () => {
    expect(finished?.outcome).toMatchObject({ reason: "complete", text: "Done." });
    expect(compactions).toBeGreaterThan(0);
    expect(summaries).toBeGreaterThanOrEqual(compactions);
  });

  it("comes to its end wherever it stops and goes on, and pays for each summary once [RN-01]", { timeout: 120_000 }, async () => {
    const faults: string[] = [];
    for (const place of passed) {
      asked = 0;
      const lives = simulateLives({ open });
      await lives.live(place);
      const { finished: over } = await lives.live();
      const records = await recordsIn(lives.log);
      if (over?.outcome.reason !== "complete")
        faults.push(`${place}: it ended with ${over?.outcome.reason}: ${over?.outcome.error?.message}`);
      const done = records.filter(({ type }) => type === "compaction");
      if (done.length < compactions - 1) faults.push(`${place}: ${done.length} compactions, not ${compactions}`);
      // One that was cut off may have been asked for in vain: it is not asked for again.
      const begun = records.filter(({ type, key }) => type === "inference" && key.endsWith("/summary")).length;
      if (asked > begun) faults.push(`${place}: asked for ${asked} summaries, ${begun} begun`);
      faults.push(...[...unpaid(records), ...(await faultsOf(lives.log, SESSION))].map((fault) => `${place}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  it(
    "has what it remembered in the store at the first of them, wherever it stops and goes on, and keeps its last correction",
    {
      timeout: 120_000,
    },
    async () => {
      const lonelyStore = await storeOfAda();
      const alone = simulateLives({ open: remembering(lonelyStore) });
      const { passed: places } = await alone.live();
      const records = await recordsIn(alone.log);
      const written = records.filter(({ type }) => type === "effect-done").map(({ seq }) => seq);
      const first = records.find(({ type }) => type === "compaction")?.seq ?? 0;
      expect([written.length, written.every((seq) => seq < first)]).toEqual([3, true]);
      const faults: string[] = [];
      for (const place of places) {
        const state = await storeOfAda();
        const lives = simulateLives({ open: remembering(state) });
        await lives.live(place);
        const { finished: over } = await lives.live();
        if (over?.outcome.reason !== "complete")
          faults.push(`${place}: it ended with ${over?.outcome.reason}: ${over?.outcome.error?.message}`);
        const texts = (await userFacts({ store: state, user: "ada" }).items()).map(({ text }) => text);
        if (texts.toSorted().join() !== "Ada likes tea.,Ada lives in Bern.") faults.push(`${place}: ${texts.join()}`);
        faults.push(...(await faultsOf(lives.log, SESSION)).map((fault) => `${place}: ${fault}`));
      }
      expect(faults).toEqual([]);
    },
  );

  function remembering(state: StateStore) {
    return (services: ScenarioServices): SingleRunner =>
      openCompacting({ ...services, ledger: createMemoryBudgetLedger() }, beside, () => {}, state);
  }
});

/** With one fact, of a place that was another one then. */
async function storeOfAda(): Promise<StateStore> {
  const store = createMemoryStore();
  await store.write({ type: "custom", namespace: "user", id: "ada" }, "memory/fact/0", "Ada lives in Oslo.");
  return store;
}
