import { sessionLog, type EventLog, type SessionId } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { faultsOf, normalisedLog } from "./normalised-log.ts";
import { sample } from "./sample.ts";
import { SESSION } from "./scenario.ts";
import { effectFaults, simulateLives, type SimulatedLives } from "./simulated-lives.ts";
import { openWithSource, type Requests } from "./sources-scenario.ts";

interface World {
  readonly lives: SimulatedLives;
  readonly requests: Requests;
}

function world(grows: boolean): World {
  const requests: Requests = new Map();
  return { lives: simulateLives({ open: openWithSource({ requests, grows }) }), requests };
}

async function typesIn(log: EventLog): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { type } of log.read(sessionLog(SESSION as SessionId))) types.push(type);
  return types;
}

async function undisturbed() {
  const { lives, requests } = world(false);
  const { passed, finished } = await lives.live();
  if (finished?.outcome.reason !== "complete")
    throw new Error(`it ended with ${finished?.outcome.reason}: ${finished?.outcome.error?.message}`);
  return {
    passed,
    requests,
    normalised: await normalisedLog(lives.log, SESSION),
    types: await typesIn(lives.log),
    effects: lives.effects.read(),
  };
}
const expected = await undisturbed();

/** Whether each turn asked the same in every life that worked on it. */
function requestFaults({ requests }: World): readonly string[] {
  return [...requests].flatMap(([turn, seen]) => (seen.size === 1 ? [] : [`turn ${turn} made ${seen.size} different requests`]));
}

async function faultsAtEnd({ lives: { log, effects } }: World): Promise<readonly string[]> {
  const lines = (await normalisedLog(log, SESSION)).map((line) => JSON.stringify(line));
  const at = expected.normalised.findIndex((line, index) => lines[index] !== JSON.stringify(line));
  return [
    ...(await faultsOf(log, SESSION)),
    ...(at < 0 ? [] : [`line ${at} is ${lines[at]}, not ${JSON.stringify(expected.normalised[at])}`]),
    ...effectFaults(effects.read(), expected.effects),
  ];
}

async function live({ lives }: World, until?: string): Promise<readonly string[]> {
  const { finished } = await lives.live(until);
  if (until !== undefined || finished?.outcome.reason === "complete") return [];
  return [`it ended with ${finished?.outcome.reason}: ${finished?.outcome.error?.message ?? finished?.outcome.text}`];
}

describe("a run with tools of a source", () => {
  it("has them come, go, be found and be asked about, in the run that proves it", () => {
    expect(expected.types.filter((type) => type === "tools-offered")).toHaveLength(3);
    expect(expected.types).toContain("tools-loaded");
    expect(expected.effects.map(({ tool }) => tool)).toEqual(["mark", "send", "post", "pay"]);
    expect(expected.passed.filter((place) => place.startsWith("append#")).length).toBeGreaterThan(8);
  });

  it.each([false, true])(
    "asks the same and does each thing once wherever it is killed, also where each life is offered more: %s [RN-01, RN-08]",
    { timeout: 60_000 },
    async (grows) => {
      const faults: string[] = [];
      for (const place of expected.passed) {
        const here = world(grows);
        const told = [...(await live(here, place)), ...(await live(here)), ...requestFaults(here), ...(await faultsAtEnd(here))];
        for (const fault of told) faults.push(`${place}: ${fault}`);
      }
      expect(faults).toEqual([]);
    },
  );

  it("asks anew about a write that people had let run again, and whose tool is gone when that is cut off as well [RN-08]", async () => {
    const here = world(false);
    // It has not sent anything yet; then it has, and so the source has withdrawn the tool.
    for (const until of ["send/before#0", "send/after#0"]) await live(here, until);
    expect([...(await live(here)), ...(await faultsAtEnd(here))]).toEqual([]);
  });

  it("does so when it is killed a second time on its way", { timeout: 600_000 }, async () => {
    const pairs = expected.passed.flatMap((first, index) => expected.passed.slice(index).map((second) => ({ first, second })));
    const faults: string[] = [];
    for (const { first, second } of sample(
      pairs,
      sampleSize(`pairs of ${pairs.length} places in a run with a source`, { test: 60, ci: 500, soak: pairs.length }),
    )) {
      const here = world(true);
      const told: string[] = [];
      for (const until of [first, second, undefined]) told.push(...(await live(here, until)));
      for (const fault of [...told, ...requestFaults(here), ...(await faultsAtEnd(here))])
        faults.push(`${first}, ${second} (seed ${seed}): ${fault}`);
    }
    expect(faults).toEqual([]);
  });
});
