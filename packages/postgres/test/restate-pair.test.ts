import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINE_SCENARIOS, type EngineScenario } from "keelson/testing/engines";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed, tier } from "../../../test/tier.ts";
import { sample } from "../../runtime/test/crash/sample.ts";
import { inParallel } from "../../runtime/test/crash/scenario-child.ts";
import { type RestateServer, startRestateServer } from "../../restate/test/support/restate-server.ts";
import { isWithoutServer as isWithoutRestate, needsServer as needsRestate } from "../../restate/test/support/server-binary.ts";
import { type PostgresServer, startPostgresServer } from "./support/postgres-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";

const NAMES =
  tier === "soak"
    ? [
        "reads-marks-and-writes",
        "writes-side-by-side",
        "allowed",
        "waits-for-a-signal",
        "asks-children-side-by-side",
        "a-child-asks-people",
        "goes-on-in-its-session",
      ]
    : ["reads-marks-and-writes", "allowed", "asks-children-side-by-side"];
const SCENARIOS = ENGINE_SCENARIOS.filter(({ name }) => NAMES.includes(name));

describe.skipIf(isWithoutServer || isWithoutRestate)(
  `runs on Restate whose workers share a PostgreSQL, and no disk${needsServer}${needsRestate}`,
  { timeout: 3_600_000 },
  () => {
    let postgres: PostgresServer;
    let restate: RestateServer;
    let folder: string;
    let playWithCrash: typeof import("../../restate/test/support/play-with-crash.ts").playWithCrash;
    beforeAll(async () => {
      postgres = await startPostgresServer();
      process.env["KEELSON_TEST_STORES"] = join(import.meta.dirname, "support/directory-services.ts");
      process.env["KEELSON_TEST_POSTGRES"] = postgres.connectionString();
      // Loaded with these set: it opens what they name.
      ({ playWithCrash } = await import("../../restate/test/support/play-with-crash.ts"));
      folder = await mkdtemp(join(tmpdir(), "keelson-pair-"));
      restate = await startRestateServer(folder);
    }, 60_000);
    afterAll(async () => {
      delete process.env["KEELSON_TEST_STORES"];
      await restate?.kill();
      await postgres?.[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });

    it("come to the same where their worker is killed at a step boundary, with every write done once", async () => {
      const faults: string[] = [];
      const all: { readonly scenario: EngineScenario; readonly at: number }[] = [];
      await inParallel(
        SCENARIOS,
        async (scenario) => {
          const played = await playWithCrash(restate, scenario, undefined);
          faults.push(...played.faults.map((fault) => `${scenario.name}: ${fault}`));
          all.push(...played.places.map((_, at) => ({ scenario, at })));
        },
        2,
      );
      expect(faults).toEqual([]);
      const size = sampleSize(`the ${all.length} step boundaries on Restate over PostgreSQL at which a worker is killed`, {
        test: 2,
        ci: 6,
        soak: all.length,
      });
      await inParallel(
        sample(all, size),
        async ({ scenario, at }) => {
          const played = await playWithCrash(restate, scenario, { who: "worker", at });
          faults.push(
            ...played.faults.map((fault) => `${scenario.name}, killed at ${at} (${played.places.at(-1)}; seed ${seed}): ${fault}`),
          );
        },
        2,
      );
      expect(faults).toEqual([]);
    });
  },
);
