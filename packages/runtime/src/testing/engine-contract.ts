import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENGINE_SCENARIOS } from "./engine-contract/engine-scenarios.ts";
import type { EngineScenario } from "./engine-contract/engine-scenario.ts";
import { normaliseLog } from "./engine-contract/normalise-log.ts";
import { playScenario, type PlayedScenario } from "./engine-contract/play-scenario.ts";
import { openOneGo } from "./engine-contract/open-one-go.ts";
import type { CreateScenarioEngine, ScenarioEngine } from "./engine-contract/scenario-engine.ts";
import { writeFaults } from "./engine-contract/write-faults.ts";

export interface EngineContractOptions {
  /** Default: all of `ENGINE_SCENARIOS`. */
  readonly scenarios?: readonly EngineScenario[] | undefined;
  /** How long one may take on this engine. Default 30 s. */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 30_000;
/** For what is said of a scenario that took too long. */
const GRACE_MS = 5_000;

/**
 * The tests that every engine must pass: whatever has `runner.advance(session)` called, in one process or in many, a run comes to
 * the same, its tools that write run as often, and its log says the same as that of a run in one go in memory.
 */
export function describeEngine(name: string, create: CreateScenarioEngine, options: EngineContractOptions = {}): void {
  const { scenarios = ENGINE_SCENARIOS, timeoutMs = TIMEOUT_MS } = options;
  describe(`${name} keeps the contract of engines`, () => {
    let directory: string;
    let engine: ScenarioEngine;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "keelson-engine-"));
      engine = await create(directory);
    });
    afterAll(async () => {
      await engine?.close();
      await rm(directory, { recursive: true, force: true });
    });

    for (const scenario of timeGoesOn(scenarios)) {
      it(`${scenario.about}: ${scenario.name}`, { timeout: timeoutMs + GRACE_MS }, async () => {
        const expected = await playInOneGo(scenario);
        const played = await playScenario(scenario, engine, AbortSignal.timeout(timeoutMs));
        for (const { reason, text, output } of [expected, played]) expect({ reason, text, output }).toMatchObject(scenario.ends);
        expect(writeFaults(scenario, played.calls)).toEqual([]);
        expect(played.unknown).toEqual([]);
        expect(normaliseLog(played.records)).toEqual(normaliseLog(expected.records));
      });
    }
  });
}

/** What a scenario comes to in memory, worked by one runner in one go. */
async function playInOneGo(scenario: EngineScenario): Promise<PlayedScenario> {
  const directory = await mkdtemp(join(tmpdir(), "keelson-one-go-"));
  const engine = await openOneGo(directory);
  try {
    const played = await playScenario(scenario, engine, AbortSignal.timeout(TIMEOUT_MS));
    expect(writeFaults(scenario, played.calls)).toEqual([]);
    return played;
  } finally {
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Time only goes on: those that let it pass come last, so that no other waits for what is further away than its engine knows. */
function timeGoesOn(scenarios: readonly EngineScenario[]): readonly EngineScenario[] {
  const letsTimePass = ({ acts = [] }: EngineScenario): boolean =>
    acts.some((act) => act.type === "pass" || act.type === "decide-too-late");
  return [...scenarios.filter((scenario) => !letsTimePass(scenario)), ...scenarios.filter(letsTimePass)];
}
