import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sessionLog, type SessionId } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { listOf } from "../list-of.ts";
import { openBackground } from "./background-scenario.ts";
import { openChanging, type Change } from "./changing-scenario.ts";
import { openCompacting } from "./compaction-scenario.ts";
import { openDeciding } from "./deciding-scenario.ts";
import { openHooked } from "./hooks-scenario.ts";
import { openPlugged } from "./plugins-scenario.ts";
import { createPoints } from "./points.ts";
import { finish } from "./finish.ts";
import { inParallel, liveInProcess, waitInProcess, withFolder } from "./scenario-child.ts";
import { openFolder } from "./scenario-folder.ts";
import { digestOf } from "../../src/json/digest.ts";
import { beliedBy, rehearsed } from "./rehearsed.ts";
import { sample } from "./sample.ts";
import { type OpenRunner, openScenario, SESSION } from "./scenario.ts";
import { sideEffectsInMemory } from "./side-effects.ts";
import { simulateLives } from "./simulated-lives.ts";
import { openConstrained } from "./strategy-scenario.ts";

async function passedBy(open: OpenRunner): Promise<readonly string[]> {
  return (await simulateLives({ open }).live()).passed;
}

interface Stop {
  readonly before: OpenRunner;
  readonly place: string;
  /** The build that is deployed. */
  readonly after: OpenRunner;
  /** Whether all that the rehearsal wrote is to be found again. Default true. */
  readonly exactly?: boolean;
}

/** Stops a session at a place, rehearses it on another build, and holds what was said against what a resume there comes to. */
async function foretold({ before, place, after, exactly = true }: Stop) {
  const lives = simulateLives({ open: before });
  await lives.live(place);
  if ((await lives.log.head(sessionLog(SESSION as SessionId))) === 0) return undefined;
  const world = { points: createPoints(), effects: sideEffectsInMemory() };
  const rehearsal = await rehearsed(lives.look(after, world), SESSION);
  if (rehearsal === undefined) return undefined;
  const faults: string[] = [];
  const touched = [...world.points.passed, ...world.effects.read().map(({ tool }) => tool)];
  if (touched.length > 0) faults.push(`the rehearsal reached ${touched.join(", ")}`);
  const reason = await lives.resume(after).then(
    async ({ outcome }) => (await outcome).reason,
    () => undefined,
  );
  faults.push(...(await beliedBy(lives.log, rehearsal, { reason }, { exactly })));
  return { found: rehearsal.found, faults: faults.map((fault) => `${place}: ${fault}`) };
}

/** Of all files of a folder. */
async function bytesIn(folder: string): Promise<{ readonly [file: string]: string }> {
  const found: { [file: string]: string } = {};
  // What SQLite shares between processes while they look at a file is no part of what it holds.
  for (const file of await readdir(folder)) if (!file.endsWith("-shm")) found[file] = digestOf(await readFile(join(folder, file)));
  return found;
}

describe("a session in a file", () => {
  it(
    "is rehearsed after its process was killed, goes on then, and of its file no byte changes by the rehearsal",
    { timeout: 60_000 },
    async () => {
      await inParallel(["inferring#1", "mark/after#0", "post/after#0", "append#3"], (place) =>
        withFolder(async (folder) => {
          expect((await liveInProcess(folder, { place })).exit).toBe("SIGKILL");
          const points = createPoints();
          await using scenario = openFolder(folder, { points });
          await scenario.log.head(sessionLog(SESSION as SessionId));
          const before = await bytesIn(folder);
          const rehearsal = scenario.runner.rehearse();
          const [found] = await listOf(rehearsal);
          expect(found).toMatchObject({ session: SESSION, agent: "main", verdict: "goes-on", isSafe: true, changed: false });
          expect(rehearsal).toMatchObject({ totals: { "goes-on": 1, "refused": 0 }, isSafe: true });
          expect(await bytesIn(folder)).toEqual(before);
          expect(points.passed).toEqual([]);
          expect((await finish(scenario.runner, scenario.log, scenario.effects)).outcome.reason).toBe("complete");
        }),
      );
    },
  );

  it("is rehearsed while another process works on it, which notices nothing", { timeout: 60_000 }, async () => {
    await withFolder(async (folder) => {
      const other = await waitInProcess(folder, "mark/before#0");
      await using scenario = openFolder(folder, { points: createPoints() });
      const before = await bytesIn(folder);
      expect(await listOf(scenario.runner.rehearse())).toMatchObject([{ session: SESSION, verdict: "goes-on" }]);
      expect(await bytesIn(folder)).toEqual(before);
      other.goOn();
      expect(await other.life).toMatchObject({ reason: "awaiting-approval", exit: 0 });
      expect(await listOf(scenario.runner.rehearse())).toMatchObject([{ verdict: "waits", isSafe: true }]);
    });
  });
});

function compacting(beside: boolean): OpenRunner {
  return (services) => openCompacting(services, beside, () => {});
}

describe("a session that stopped at a step boundary", () => {
  it.each([
    ["a job with every kind of act", openScenario, ["asks", "goes-on", "waits"]],
    ["a run that decides", openDeciding, ["goes-on"]],
    ["a run with work beside its turns", openBackground, ["goes-on"]],
    ["a run whose conversation is shortened", compacting(false), ["goes-on"]],
    ["a run whose conversation is shortened beside its turns", compacting(true), ["goes-on"]],
    ["a run that is held to a state machine", openConstrained, ["asks", "goes-on", "waits"]],
  ] as const)(
    "goes on, on the same build, as its rehearsal foretold record for record: %s",
    { timeout: 120_000 },
    async (_, open, expected) => {
      const faults: string[] = [];
      const verdicts = new Set<string>();
      const places = await passedBy(open);
      const matrix = `${places.length} boundaries at which a session is rehearsed`;
      for (const place of sample(places, sampleSize(matrix, { test: 40, ci: places.length, soak: places.length }))) {
        const told = await foretold({ before: open, place, after: open });
        if (told === undefined) continue;
        const { verdict, isSafe, changed, reason } = told.found;
        verdicts.add(verdict);
        if (!isSafe || changed) faults.push(`${place}: ${verdict}, ${reason}`);
        faults.push(...told.faults);
      }
      expect(faults).toEqual([]);
      expect(expected).toEqual(expect.arrayContaining([...verdicts]));
    },
  );

  it.each([
    ["hooks at every point", openHooked],
    ["plugins and middleware", openPlugged],
  ] as const)("calls nothing of the user in a rehearsal, and goes on afterwards: %s", { timeout: 120_000 }, async (_, open) => {
    const faults: string[] = [];
    for (const place of await passedBy(open)) {
      const told = await foretold({ before: open, place, after: open, exactly: false });
      if (told === undefined) continue;
      if (!["goes-on", "ends"].includes(told.found.verdict)) faults.push(`${place}: ${told.found.verdict}, ${told.found.reason}`);
      faults.push(...told.faults);
    }
    expect(faults).toEqual([]);
  });

  it("comes, on any other build, to what its rehearsal foretold record for record", { timeout: 600_000 }, async () => {
    const shape = fc.record(
      {
        version: fc.constantFrom("1", "2"),
        effect: fc.constantFrom("read", "idempotent", "write"),
        takes: fc.constantFrom("anything", "to", "subject"),
        canTell: fc.boolean(),
      },
      { requiredKeys: ["effect"] },
    );
    const change: fc.Arbitrary<Change> = fc.record(
      {
        name: fc.constantFrom("changing", "changing", "changing", "changing", "another"),
        send: shape,
        post: shape,
        asksAbout: fc.constantFrom("send", "post", "helper"),
        instructions: fc.constantFrom("Old.", "New.", "asked for"),
        states: fc.constantFrom("start", "start", "start", "begin"),
        helper: fc.constantFrom("same", "without tools"),
        hook: fc.boolean(),
      },
      { requiredKeys: ["name"] },
    );
    const verdicts = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(change, change, fc.nat(), async (before, after, nth) => {
        const open = openChanging({ ...before, name: "changing" });
        const places = await passedBy(open);
        const place = places[nth % places.length] as string;
        const told = await foretold({ before: open, place, after: openChanging(after) });
        if (told === undefined) return;
        const { verdict, isSafe, changed } = told.found;
        const kind = `${verdict}${isSafe ? "" : ", not safe"}${changed ? ", changed" : ""}`;
        verdicts.set(kind, (verdicts.get(kind) ?? 0) + 1);
        expect(told.faults).toEqual([]);
      }),
      { numRuns: sampleSize("changes of a definition under a session", { test: 100, ci: 1_000, soak: 10_000 }), seed },
    );
    expect([...verdicts.keys()]).toEqual(
      expect.arrayContaining(["goes-on, changed", "refused, not safe", "asks, not safe, changed", "asks, changed"]),
    );
  });
});
