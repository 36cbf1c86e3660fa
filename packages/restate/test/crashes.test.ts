import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINE_SCENARIOS, type EngineScenario } from "keelson/testing/engines";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../test/tier.ts";
import { sample } from "../../runtime/test/crash/sample.ts";
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

  async function crash(cases: readonly { readonly scenario: EngineScenario; readonly crash: Crash }[], atOnce: number): Promise<void> {
    const faults: string[] = [];
    let crashed = 0;
    await inParallel(
      cases,
      async ({ scenario, crash }) => {
        const came = await playWithCrash(server, scenario, crash);
        if (came.hasCrashed) crashed++;
        for (const fault of came.faults)
          faults.push(`${scenario.name}, ${crash.who} killed at ${crash.at} (${came.places.at(-1)}; seed ${seed}): ${fault}`);
      },
      atOnce,
    );
    expect(faults).toEqual([]);
    expect(await journalFaults(server)).toEqual([]);
    // A child may pass its places in another order than before, and the last of them after its run is over.
    expect(crashed).toBeGreaterThan(cases.length * 0.8);
  }

  it(
    "come to the same where their worker is killed at a step boundary, with every write done once [RN-01]",
    { timeout: 3_600_000 },
    async () => {
      const all = boundaries.flatMap(({ scenario, places }) =>
        places.map((_place, at) => ({ scenario, crash: { who: "worker", at } as const })),
      );
      const size = sampleSize(`the ${all.length} step boundaries on Restate at which a worker is killed`, {
        test: 8,
        ci: 12,
        soak: all.length,
      });
      await crash(sample(all, size), 2);
    },
  );

  it("come to the same where the server is killed while they work", { timeout: 3_600_000 }, async () => {
    const all = boundaries.flatMap(({ scenario, places }) =>
      places.map((_place, at) => ({ scenario, crash: { who: "server", at } as const })),
    );
    const size = sampleSize(`the ${all.length} step boundaries on Restate at which the server is killed`, { test: 3, ci: 6, soak: 100 });
    // One after the other: all of them are on this server.
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
