import { expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { randomNumbers } from "../processes/random-numbers.ts";
import { answer, finish, openWaits } from "./finish.ts";
import { createPoints } from "./points.ts";
import { inParallel, liveInProcess, lostRecords, withFolder } from "./scenario-child.ts";
import { openFolder } from "./scenario-folder.ts";
import { faultsAfter, undisturbed } from "./simulated-lives.ts";

const KILLS = Number(process.env["KEELSON_KILLS"] ?? sampleSize("kills at random points", { test: 8, ci: 80, soak: 2000 }));
/** A turn that crashes again and again ends its run (`circuit-breaker`), so that a session dies this often at most. */
const KILLS_PER_SESSION = 2;
/** A little more than the appends of a process that is left alone. */
const MOST_LINES = 16;
/** Steps of the golden ratio spread any number of kills evenly: a few that are drawn at random may all come when the process has ended. */
const STEP = (Math.sqrt(5) - 1) / 2;

const expected = await undisturbed();

it(
  `loses no record that an append had resolved, and comes to the same end with every write done once, wherever its processes are killed (${KILLS} kills, seed ${seed})`,
  { timeout: 60_000 + KILLS * 3_000 },
  async () => {
    const faults: string[] = [];
    const sessions = Array.from({ length: Math.ceil(KILLS / KILLS_PER_SESSION) }, (_, index) => index);
    const start = randomNumbers(seed)();
    let killed = 0;
    await inParallel(sessions, async (session) => {
      await withFolder(async (folder) => {
        for (let life = 0; life < KILLS_PER_SESSION; life++) {
          const point = (start + (session * KILLS_PER_SESSION + life) * STEP) % 1;
          const { printed, reason, exit } = await liveInProcess(folder, { killAfter: 1 + Math.floor(point * MOST_LINES) });
          const place = `seed ${seed}, session ${session}, life ${life}, killed after ${printed.length} lines`;
          if (exit === "SIGKILL") killed++;
          else if (exit !== 0) faults.push(`${place}: it ended with ${exit}`);
          await using scenario = openFolder(folder, { points: createPoints() });
          for (const lost of await lostRecords(scenario.log, printed)) faults.push(`${place}: ${JSON.stringify(lost)} is lost`);
          if (reason?.startsWith("awaiting-") === true) await answer(scenario.runner, scenario.effects, await openWaits(scenario.log));
        }
        await using scenario = openFolder(folder, { points: createPoints() });
        const finished = await finish(scenario.runner, scenario.log, scenario.effects);
        for (const fault of await faultsAfter(scenario.log, scenario.effects, finished, expected))
          faults.push(`seed ${seed}, session ${session}: ${fault}`);
      });
    });
    expect(faults).toEqual([]);
    expect(killed, "kills that came in time").toBeGreaterThan(KILLS / 4);
  },
);
