import { type EventLog, type SessionId, sessionLog } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { openModes, type SeenEfforts } from "./modes-scenario.ts";
import { normalisedLog } from "./normalised-log.ts";
import { sample } from "./sample.ts";
import { SESSION } from "./scenario.ts";
import { faultsAfter, simulateLives } from "./simulated-lives.ts";

const EFFORTS = ["medium", "high", "high", "medium", "medium", "low", "low", "low"];
const SWITCHES = [
  "permission-mode-switch default bypass-all",
  "effort-switch null high",
  "permission-mode-switch bypass-all plan-only",
  "effort-switch high null",
  "permission-mode-switch plan-only accept-edits",
  "effort-switch null low",
  "permission-mode-switch accept-edits plan-only",
];

/** The changes that the log says a run has read. They may be in another place beside the records of a turn, by the time at which they were read. */
async function switchesIn(log: EventLog): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { type, data } of log.read(sessionLog(SESSION as SessionId)))
    if (type === "permission-mode-switch" || type === "effort-switch") found.push(`${type} ${String(data["from"])} ${String(data["to"])}`);
  return found;
}

const efforts: SeenEfforts = new Map();
const undisturbed = simulateLives({ open: (services) => openModes(services, efforts) });
const { passed, finished } = await undisturbed.live();
const expected = { normalised: await normalisedLog(undisturbed.log, SESSION), effects: undisturbed.effects.read() };

async function faultsOfDying(...places: readonly string[]): Promise<readonly string[]> {
  const seen: SeenEfforts = new Map();
  const lives = simulateLives({ open: (services) => openModes(services, seen) });
  for (const place of places) await lives.live(place);
  const { finished: end } = await lives.live();
  const faults = [...(await faultsAfter(lives.log, lives.effects, end, expected))];
  const switches = await switchesIn(lives.log);
  if (switches.join("; ") !== SWITCHES.join("; ")) faults.push(`it switched ${switches.join("; ")}`);
  for (const [turn, found] of seen)
    if ([...found].join() !== EFFORTS[turn]) faults.push(`turn ${turn} asked with the efforts ${[...found].join()}, not ${EFFORTS[turn]}`);
  return faults.map((fault) => `${places.join(", ")} (seed ${seed}): ${fault}`);
}

describe("a permission mode and an effort that are set while a run is at work", () => {
  it("hold from the next response on, or from the one that streams: a loose mode asks nothing, a strict one refuses", async () => {
    expect(finished).toMatchObject({ outcome: { reason: "complete" }, unknown: [] });
    expect(expected.effects.map(({ tool }) => tool)).toEqual(["pay", "post"]);
    const results = expected.normalised.filter((line) => (line as { readonly type: string }).type === "tool-result");
    expect(results.map((line) => [(line as { name: string }).name, (line as { isError: boolean }).isError])).toEqual([
      ["change", false],
      ["pay", false],
      ["change", false],
      ["send", true],
      ["change", false],
      ["post", false],
      ["file_report", true],
    ]);
    expect(await switchesIn(undisturbed.log)).toEqual(SWITCHES);
    expect([...efforts.values()].map((found) => [...found].join())).toEqual(EFFORTS);
  });

  it("hold in the same way after a crash at each boundary [RN-01]", async () => {
    const faults: string[] = [];
    for (const place of passed) faults.push(...(await faultsOfDying(place)));
    expect(faults).toEqual([]);
  });

  it("hold in the same way after a second crash on the way", { timeout: 600_000 }, async () => {
    const pairs: (readonly [string, string])[] = [];
    for (const first of passed) {
      const lives = simulateLives({ open: (services) => openModes(services, new Map()) });
      await lives.live(first);
      for (const second of (await lives.live()).passed) pairs.push([first, second]);
    }
    const faults: string[] = [];
    const size = sampleSize(`pairs of ${pairs.length} boundaries of changed modes`, { test: 40, ci: 300, soak: pairs.length });
    for (const pair of sample(pairs, size)) faults.push(...(await faultsOfDying(...pair)));
    expect(faults).toEqual([]);
  });
});
