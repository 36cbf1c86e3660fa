import { join } from "node:path";
import { AgentError, type AgentEvent } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import type { Run } from "../../src/agent/definition/run.ts";
import { createMemoryBlobStore, createMemoryEventLog } from "../../src/state/index.ts";
import { openSqliteDatabase } from "../../src/state/sqlite/sqlite-database.ts";
import { randomNumbers } from "../processes/random-numbers.ts";
import { FAILURE_MODES, failingLog } from "./failing-log.ts";
import { finish, type Finished } from "./finish.ts";
import { faultsOf } from "./normalised-log.ts";
import { createPoints } from "./points.ts";
import { withFolder } from "./scenario-child.ts";
import { openFolder } from "./scenario-folder.ts";
import { openScenario, SESSION } from "./scenario.ts";
import { sideEffectsInMemory } from "./side-effects.ts";
import { faultsAfter, simulateLives, undisturbed } from "./simulated-lives.ts";

const expected = await undisturbed();
const ENDINGS: readonly AgentEvent["type"][] = ["run-suspend", "run-complete", "error", "detached"];

/** Collects what a watcher of a run sees. */
function watcher(): { readonly watch: (run: Run<unknown>) => void; readonly faults: () => Promise<readonly string[]> } {
  const streams: Promise<readonly string[]>[] = [];
  const collect = async (run: Run<unknown>): Promise<readonly string[]> => {
    const seen: AgentEvent["type"][] = [];
    for await (const event of run) if (!("path" in event)) seen.push(event.type);
    const endings = seen.filter((type) => ENDINGS.includes(type));
    return endings.length === 1 && ENDINGS.includes(seen.at(-1) as AgentEvent["type"])
      ? []
      : [`a watcher saw it end with ${endings.join(", ")}, and last with ${String(seen.at(-1))}`];
  };
  return { watch: (run) => void streams.push(collect(run)), faults: async () => (await Promise.all(streams)).flat() };
}

/** One life, in which a failing log may throw at whoever plays the person, too: what it threw must be an AgentError. */
async function lifeFaults(live: () => Promise<Finished>, kinds: readonly string[]): Promise<readonly string[]> {
  try {
    const { outcome } = await live();
    if (outcome.reason === "complete") return [];
    if (outcome.reason === "error" && outcome.error && kinds.includes(outcome.error.failure.kind)) return [];
    return [`it ended with ${outcome.reason}: ${String(outcome.error?.failure.kind)} ${outcome.error?.message}`];
  } catch (error) {
    return error instanceof AgentError ? [] : [`${String(error)} was thrown`];
  }
}

describe("a log that fails at one append", () => {
  for (const recovers of [true, false]) {
    it(
      `ends the run's part in this process with a typed error, and loses nothing, whichever append it is${recovers ? "" : " and though the later ones fail, too"} [EV-21]`,
      { timeout: 120_000 },
      async () => {
        const faults: string[] = [];
        for (const mode of FAILURE_MODES) {
          for (let at = 1, passed = false; !passed; at++) {
            const lives = simulateLives();
            const log = failingLog(lives.log, { at, mode, recovers });
            const { watch, faults: streamFaults } = watcher();
            const runner = openScenario({
              log,
              blobs: lives.blobs,
              effects: lives.effects,
              points: createPoints(),
              owner: "unlucky",
              now: () => 1_700_000_000_000,
            });
            const first = await lifeFaults(() => finish(runner, log, lives.effects, watch), ["backend"]);
            for (const fault of first) faults.push(`${mode} at ${at}: ${fault}`);
            for (const fault of await streamFaults()) faults.push(`${mode} at ${at}: ${fault}`);
            passed = log.asked < at;
            const { finished } = await lives.live();
            for (const fault of await faultsAfter(lives.log, lives.effects, finished, expected))
              faults.push(`${mode} at ${at}, afterwards: ${fault}`);
          }
        }
        expect(faults).toEqual([]);
      },
    );
  }
});

describe("a full disk", () => {
  it(
    "ends the run's part in this process with a typed error, loses nothing, and lets it go on once there is space",
    { timeout: 120_000 },
    async () => {
      const faults: string[] = [];
      let full = 0;
      for (let more = 0; more < 12; more++) {
        await withFolder(async (folder) => {
          await using scenario = openFolder(folder, { points: createPoints() });
          const database = openSqliteDatabase(join(folder, "sessions.db"));
          const pages = Number(database.connection.prepare("PRAGMA page_count").get()?.["page_count"]);
          database.connection.exec(`PRAGMA max_page_count = ${pages + more}`);
          const { watch, faults: streamFaults } = watcher();
          let ended = "";
          const first = await lifeFaults(async () => {
            const finished = await finish(scenario.runner, scenario.log, scenario.effects, watch);
            ended = finished.outcome.reason;
            return finished;
          }, ["backend"]);
          for (const fault of [...first, ...(await streamFaults())]) faults.push(`${more} pages: ${fault}`);
          if (ended !== "complete") full++;
          database.connection.exec("PRAGMA max_page_count = 100000");
          database.close();
          const finished = await finish(scenario.runner, scenario.log, scenario.effects);
          for (const fault of await faultsAfter(scenario.log, scenario.effects, finished, expected))
            faults.push(`${more} pages, afterwards: ${fault}`);
        });
      }
      expect(faults).toEqual([]);
      expect(full, "runs that met a full disk").toBeGreaterThan(2);
    },
  );
});

describe("a clock that jumps", () => {
  const HOUR_MS = 3_600_000;

  for (const maxDurationMs of [undefined, 60_000]) {
    it(
      `back and forth leaves a run to its ${maxDurationMs === undefined ? "end" : "end, or to its time limit"}, with one terminal event and times that never go back [EV-21]`,
      { timeout: 60_000 },
      async () => {
        const faults: string[] = [];
        const seeds = Array.from(
          { length: sampleSize("clocks that jump", { test: 20, ci: 200, soak: 2_000 }) },
          (_, index) => seed + index,
        );
        for (const jumps of seeds) {
          const random = randomNumbers(jumps);
          let now = 1_700_000_000_000;
          const clock = (): number => (now += random() < 0.3 ? Math.round((random() - 0.5) * 2 * HOUR_MS) : Math.round(random() * 10));
          const log = createMemoryEventLog({ now: clock });
          const effects = sideEffectsInMemory();
          const runner = openScenario({
            log,
            blobs: createMemoryBlobStore(),
            effects,
            points: createPoints(),
            now: clock,
            ...(maxDurationMs !== undefined && { maxDurationMs }),
          });
          const { watch, faults: streamFaults } = watcher();
          const finished = await finish(runner, log, effects, watch);
          const found =
            maxDurationMs === undefined
              ? await faultsAfter(log, effects, finished, expected)
              : [
                  ...(await faultsOf(log, SESSION)),
                  ...(["complete", "timeout"].includes(finished.outcome.reason) ? [] : [`it ended with ${finished.outcome.reason}`]),
                ];
          for (const fault of [...found, ...(await streamFaults())]) faults.push(`seed ${jumps}: ${fault}`);
          let last = 0;
          for await (const { at, seq } of log.read(`session/${SESSION}` as never)) {
            if (at < last) faults.push(`seed ${jumps}: record ${seq} is older than the one before it`);
            last = at;
          }
        }
        expect(faults).toEqual([]);
      },
    );
  }
});
