import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  ENGINE_SCENARIOS,
  normaliseLog,
  playScenario,
  writeFaults,
  type CreateScenarioEngine,
  type EngineScenario,
  type PlayedScenario,
} from "keelson/testing/engines";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { sample } from "../crash/sample.ts";
import { randomNumbers } from "../processes/random-numbers.ts";
import { inParallel } from "../crash/scenario-child.ts";
import { memoryEngine } from "./memory-engine.ts";
import { newProcessEngine } from "./new-process-engine.ts";
import { hasDied, steppingLog, stepsDone } from "./stepping-log.ts";

const TIMEOUT_MS = 120_000;

/** A scenario by itself, in an empty directory. */
async function playAlone(
  scenario: EngineScenario,
  create: CreateScenarioEngine,
  look: (directory: string) => void = () => {},
): Promise<PlayedScenario> {
  const directory = await mkdtemp(join(tmpdir(), "keelson-killed-"));
  try {
    const engine = await create(directory);
    const played = await playScenario(scenario, engine, AbortSignal.timeout(TIMEOUT_MS)).finally(() => engine.close());
    // Whoever worked the last turn is gone by now.
    look(directory);
    return played;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const living = { die: () => Promise.reject(new Error("nothing kills this process")) };

/** How many steps a scenario takes that nothing disturbs. */
async function stepsOf(scenario: EngineScenario, childrenApart: boolean): Promise<number> {
  let steps = 0;
  await playAlone(
    scenario,
    memoryEngine(childrenApart, (log, directory) => steppingLog(log, directory, living)),
    (directory) => {
      steps = stepsDone(directory);
    },
  );
  return steps;
}

// What a call costs whose process died is not known, so that a budget ends such a run earlier.
const scenarios = ENGINE_SCENARIOS.filter(({ about, writes }) => writes !== undefined && about !== "budgets");
const named = (name: string): EngineScenario => ENGINE_SCENARIOS.find((scenario) => scenario.name === name) as EngineScenario;

/** The scenarios whose writes run side by side: a death leaves as many of them unknown. */
const SIDE_BY_SIDE: ReadonlySet<string> = new Set(["writes-side-by-side", "fails-beside-others", "asks-children-side-by-side"]);

describe("a worker that is killed at any step", () => {
  it(
    "is followed by one that brings the run to the same end, with no write done twice: where nobody knows whether one happened, people are asked [RN-08]",
    { timeout: 3_600_000 },
    async () => {
      const count = sampleSize("steps of scenarios at which a worker is killed", { test: 3, ci: 6, soak: 300 });
      const faults: string[] = [];
      const random = randomNumbers(seed);
      const rounds = Math.ceil((2 * count) / scenarios.length);
      const candidates = Array.from({ length: rounds }, () => scenarios).flat();
      const drawn = sample(
        candidates.map((scenario) => ({ scenario, childrenApart: random() < 0.5, part: random() })),
        count,
      );
      await inParallel(drawn, async ({ scenario, childrenApart, part }) => {
        const steps = await stepsOf(scenario, childrenApart);
        const step = 1 + Math.floor(part * steps);
        const where = `${scenario.name}${childrenApart ? ", children apart" : ""}, step ${step} of ${steps} (seed ${seed})`;
        const { reason, text, calls, unknown } = await playAlone(
          scenario,
          newProcessEngine(childrenApart, [`--kill-at=${step}`]),
          (directory) => {
            if (!hasDied(directory)) faults.push(`${where}: nothing was killed`);
          },
        );
        const { ends } = scenario;
        if (reason !== ends.reason || text !== (ends.text ?? text)) faults.push(`${where}: it came to ${reason}, "${text}"`);
        for (const fault of writeFaults(scenario, calls)) faults.push(`${where}: ${fault}`);
        const most = SIDE_BY_SIDE.has(scenario.name) ? Object.values(scenario.writes ?? {}).reduce((sum, count) => sum + count, 0) : 1;
        if (unknown.length > most) faults.push(`${where}: people were asked about ${unknown.join(", ")}`);
      });
      expect(faults).toEqual([]);
    },
  );

  it("leaves a write unknown that had run and was not recorded, and says so", { timeout: TIMEOUT_MS }, async () => {
    const { unknown, calls, reason } = await playAlone(named("writes-once"), newProcessEngine(false, ["--kill-before=tool-result"]));
    expect({ unknown, reason, faults: writeFaults(named("writes-once"), calls) }).toEqual({
      unknown: ["send"],
      reason: "complete",
      faults: [],
    });
  });
});

describe("the ledger of tool calls, taken out on purpose,", () => {
  it("is missed by the counters where a worker is killed: the write runs twice", { timeout: TIMEOUT_MS }, async () => {
    const { calls, unknown } = await playAlone(
      named("writes-once"),
      newProcessEngine(false, ["--kill-before=tool-result", "--without-ledger"]),
    );
    expect(unknown).toEqual([]);
    expect(writeFaults(named("writes-once"), calls)).toContain("send ran 2 times, not 1");
  });

  it("is missed by the comparison of logs although nothing died", async () => {
    const whole = await playAlone(named("writes-once"), memoryEngine(false));
    const without = await playAlone(
      named("writes-once"),
      memoryEngine(false, (log, directory) => steppingLog(log, directory, { ...living, withoutLedger: true })),
    );
    expect(normaliseLog(without.records)).not.toEqual(normaliseLog(whole.records));
  });
});
