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
 * the same, its tools that write run as often, and its log says the same as that of a run in one go in memory. What may differ is
 * listed in `ERASURES` of `keelson/testing/engines`.
 *
 * `create` opens an engine on an empty directory. Its workers make their runner with `createScenarioRunner`, which holds the agents of
 * all scenarios, and share the log, the blobs, the ledger and the directory.
 *
 * ```ts
 * describeEngine("my queue", async (directory) => {
 *   const services = { directory, log, blobs: log.blobs, ledger: log.ledger, orchestrator };
 *   const runner = createScenarioRunner(services);
 *   return {
 *     services,
 *     begin: async (session, input, options) => {
 *       await runner.begin(session, input, options);
 *       await queue.push(session);
 *     },
 *     wake: (session) => queue.push(session),
 *     close: () => queue.close(),
 *   };
 * });
 * ```
 *
 * Timers are a fraction of a second away by `scenarioClock(directory)`, which the runners go by. Time that a scenario lets pass is
 * over at once there, and the engine is woken then.
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

    const compare = async (scenario: EngineScenario, played: ScenarioEngine): Promise<void> => {
      const expected = await playInOneGo(scenario);
      const found = await playScenario(scenario, played, AbortSignal.timeout(timeoutMs));
      for (const { reason, text, output } of [expected, found]) expect({ reason, text, output }).toMatchObject(scenario.ends);
      expect(writeFaults(scenario, found.calls)).toEqual([]);
      expect(found.unknown).toEqual([]);
      expect(normaliseLog(found.records)).toEqual(normaliseLog(expected.records));
    };

    for (const scenario of timeGoesOn(scenarios))
      it(`${scenario.about}: ${scenario.name}`, { timeout: timeoutMs + GRACE_MS }, () => compare(scenario, engine));

    it("works a run once that is begun twice, and woken more often than it has to be", { timeout: timeoutMs + GRACE_MS }, () =>
      compare(
        { ...(ENGINE_SCENARIOS.find((scenario) => scenario.name === "allowed") as EngineScenario), name: "allowed-once" },
        insisting(engine),
      ),
    );
  });
}

/** Says everything twice. */
function insisting(engine: ScenarioEngine): ScenarioEngine {
  return {
    ...engine,
    async begin(session, input, options) {
      await engine.begin(session, input, options);
      await engine.begin(session, input, options);
      await engine.wake(session);
    },
    async wake(session) {
      await engine.wake(session);
      await engine.wake(session);
    },
  };
}

/** What a scenario comes to in memory, worked by one runner in one go. */
async function playInOneGo(scenario: EngineScenario): Promise<PlayedScenario> {
  const directory = await mkdtemp(join(tmpdir(), "keelson-one-go-"));
  const engine = await openOneGo(directory, [scenario]);
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
