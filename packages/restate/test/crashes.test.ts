import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINE_SCENARIOS, type EngineScenario } from "keelson/testing/engines";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../test/tier.ts";
import { sample, sampleOfEach } from "../../runtime/test/crash/sample.ts";
import { inParallel } from "../../runtime/test/crash/scenario-child.ts";
import { journalFaults } from "./support/journal-faults.ts";
import { playWithCrash, type Crash } from "./support/play-with-crash.ts";
import { startRestateServer, type RestateServer } from "./support/restate-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binary.ts";

const SCENARIOS: readonly EngineScenario[] = [
  "reads-marks-and-writes",
  "writes-side-by-side",
  "allowed",
  "one-question-after-another",
  "waits-for-a-moment",
  "waits-for-a-signal",
  "asks-children-side-by-side",
  "a-child-asks-people",
  "a-plugin-keeps-a-diary",
  "goes-on-in-its-session",
].map((wanted) => {
  const found = ENGINE_SCENARIOS.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`There is no scenario "${wanted}".`);
  return found;
});

describe.skipIf(isWithoutServer)(`runs on Restate${needsServer}`, () => {
  let folder: string;
  let server: RestateServer;
  /** Of each scenario, what a worker passes that nothing happens to. */
  const boundaries: { readonly scenario: EngineScenario; readonly places: readonly string[] }[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "keelson-restate-"));
    server = await startRestateServer(folder);
    await inParallel(
      SCENARIOS,
      async (scenario) => {
        const { faults, places } = await playWithCrash(server, scenario, undefined);
        expect({ scenario: scenario.name, faults }).toEqual({ scenario: scenario.name, faults: [] });
        boundaries.push({ scenario, places });
      },
      2,
    );
  }, 120_000);
  afterAll(async () => {
    await server?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  /** A scenario and the process that is killed at one of its places. */
  interface Case {
    readonly scenario: EngineScenario;
    readonly crash: Crash;
  }

  /** Returns a case for each place of each scenario. */
  const casesOf = (who: Crash["who"]): readonly Case[] =>
    boundaries.flatMap(({ scenario, places }) => places.map((_place, at) => ({ scenario, crash: { who, at } })));

  /** Plays a case until its process was killed. A play may pass fewer places than the one that counted them: then the last of these is taken. */
  async function playUntilKilled({ scenario, crash: { who, at } }: Case): Promise<readonly string[]> {
    for (let place = at, plays = 0; plays < 4; plays++) {
      const { faults, hasCrashed, places } = await playWithCrash(server, scenario, { who, at: place });
      const found = faults.map((fault) => `${scenario.name}, ${who} killed at ${place} (${places.at(-1)}; seed ${seed}): ${fault}`);
      if (hasCrashed || found.length > 0) return found;
      place = places.length - 1;
    }
    return [`${scenario.name}: the ${who} was never killed at ${at} or before (seed ${seed})`];
  }

  async function crash(cases: readonly Case[], concurrency: number): Promise<void> {
    const faults: string[] = [];
    await inParallel(cases, async (drawn) => void faults.push(...(await playUntilKilled(drawn))), concurrency);
    expect(faults).toEqual([]);
    expect(await journalFaults(server)).toEqual([]);
  }

  it(
    "come to the same where their worker is killed at a step boundary, with every write done once [RN-01]",
    { timeout: 3_600_000 },
    async () => {
      const all = casesOf("worker");
      const size = sampleSize(`the ${all.length} step boundaries on Restate at which a worker is killed`, {
        test: SCENARIOS.length,
        ci: 14,
        soak: all.length,
      });
      const drawn = sampleOfEach(all, ({ scenario }) => scenario.name, size);
      expect(new Set(drawn.map(({ scenario }) => scenario.name)).size).toBe(SCENARIOS.length);
      await crash(drawn, 2);
    },
  );

  it("come to the same where the server is killed while they work", { timeout: 3_600_000 }, async () => {
    const all = casesOf("server");
    const size = sampleSize(`the ${all.length} step boundaries on Restate at which the server is killed`, { test: 3, ci: 6, soak: 100 });
    // One after the other, because all of them are on this server.
    await crash(sample(all, size), 1);
  });

  it(
    "ask about a write of which nobody knows whether it ran, and do it twice where the ledger of tool calls is taken out",
    { timeout: 60_000 },
    async () => {
      const scenario = ENGINE_SCENARIOS.find(({ name }) => name === "writes-once") as EngineScenario;
      const { places } = await playWithCrash(server, scenario, undefined);
      const at = places.findIndex((place) => place.startsWith("before ") && place.includes("tool-result"));
      const known = await playWithCrash(server, scenario, { who: "worker", at });
      expect(known).toMatchObject({ faults: [], hasCrashed: true, unknown: ["send"] });
      const forgotten = await playWithCrash(server, scenario, { who: "worker", at }, "--without-ledger");
      expect(forgotten.faults).toContain("send ran 2 times, not 1");
    },
  );
});
