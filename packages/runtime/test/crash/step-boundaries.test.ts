import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { EventLog } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { answer, finish, openWaits } from "./finish.ts";
import { createPoints } from "./points.ts";
import { inParallel, liveInProcess, lostRecords, withFolder } from "./scenario-child.ts";
import { openFolder } from "./scenario-folder.ts";
import { openScenario } from "./scenario.ts";
import { sample } from "./sample.ts";
import { effectFaults, faultsAfter, simulateLives, undisturbed } from "./simulated-lives.ts";

const expected = await undisturbed();

describe("a run that stops for good at a step boundary", () => {
  it("passes every kind of boundary: appends, inferences, instructions, and each tool before and after its effect", () => {
    const places = new Set(expected.passed.map((place) => place.replace(/#.*/, "")));
    for (const place of [
      "append",
      "appended",
      "inferring",
      "inferred",
      "instructions",
      ...["look", "mark", "send", "post", "pay", "file_report"].flatMap((tool) => [`${tool}/before`, `${tool}/after`]),
    ]) {
      expect([...places]).toContain(place);
    }
  });

  it(
    "goes on from each of them to the same end, with every write done once, by a runner that knows nothing but the log [RN-01, RN-08]",
    { timeout: 60_000 },
    async () => {
      const faults: string[] = [];
      for (const place of expected.passed) {
        const lives = simulateLives();
        await lives.live(place);
        const { finished } = await lives.live();
        for (const fault of await faultsAfter(lives.log, lives.effects, finished, expected)) faults.push(`${place}: ${fault}`);
      }
      expect(faults).toEqual([]);
    },
  );

  it("goes on from there when it stops at a second one on its way", { timeout: 1_800_000 }, async () => {
    const pairs: { readonly first: string; readonly second: string }[] = [];
    for (const first of expected.passed) {
      const lives = simulateLives();
      await lives.live(first);
      for (const second of (await lives.live()).passed) pairs.push({ first, second });
    }
    const faults: string[] = [];
    for (const { first, second } of sample(
      pairs,
      sampleSize(`pairs of ${pairs.length} boundaries`, { test: 100, ci: 1_000, soak: pairs.length }),
    )) {
      const lives = simulateLives();
      await lives.live(first);
      await lives.live(second);
      const { finished } = await lives.live();
      for (const fault of await faultsAfter(lives.log, lives.effects, finished, expected))
        faults.push(`${first}, ${second} (seed ${seed}): ${fault}`);
    }
    expect(faults).toEqual([]);
  });

  it("asks people about a write that nobody can know about, and only about such a one", { timeout: 60_000 }, async () => {
    const asked: { [place: string]: readonly string[] } = {};
    for (const place of expected.passed.filter((name) => /^(send|post|pay|file_report|mark|look)\//.test(name))) {
      const lives = simulateLives();
      await lives.live(place);
      const { finished } = await lives.live();
      if (finished !== undefined && finished.unknown.length > 0) asked[place] = finished.unknown;
    }
    expect(asked).toEqual({ "send/before#0": ["send"], "send/after#0": ["send"], "pay/before#0": ["pay"], "pay/after#0": ["pay"] });
  });

  it("does a write twice when the ledger of tool calls is taken out", { timeout: 60_000 }, async () => {
    for (const tool of ["send", "post", "pay", "file_report"]) {
      const lives = simulateLives({ withoutLedger: true });
      await lives.live(`${tool}/after#0`);
      await lives.live();
      expect(effectFaults(lives.effects.read(), expected.effects), tool).toContain(`${tool} was done 2 times`);
    }
  });
});

it("asks the log to keep on disk what must outlast a power cut: reservations of writes, people's decisions, endings; and no more than it must", async () => {
  const lives = simulateLives();
  const kept: { readonly types: readonly string[]; readonly durability: string | undefined }[] = [];
  const log: EventLog = {
    ...lives.log,
    append(id, expectedSeq, records, options) {
      const types = records.map(({ type, data }) => (type === "tool-reserved" ? `reserved ${String(data["tool"])}` : type));
      kept.push({ types, durability: options?.durability });
      return lives.log.append(id, expectedSeq, records, options);
    },
  };
  await finish(
    openScenario({ log, blobs: lives.blobs, effects: lives.effects, points: createPoints(), now: () => 1_700_000_000_000 }),
    log,
    lives.effects,
  );
  const must = [
    "reserved send",
    "reserved post",
    "reserved pay",
    "reserved file_report",
    "approval-decision",
    "decision",
    "run-suspend",
    "run-complete",
  ];
  for (const { types, durability } of kept) {
    // The verdict of `instructions` is asked for again if it is lost, with all that followed from it.
    const isNeeded = types.some((type) => must.includes(type) && !(type === "decision" && types.includes("instructions")));
    if (isNeeded) expect({ types, durability }).toEqual({ types, durability: "power" });
    if (
      types.every((type) =>
        ["turn-start", "inference", "message", "usage", "answer", "tool-calls-start", "reserved mark", "reserved helper"].includes(type),
      )
    )
      expect({ types, durability }).toEqual({ types, durability: "process" });
  }
  expect(kept.filter(({ durability }) => durability === "process").length).toBeGreaterThan(5);
});

describe("a process that kills itself at a step boundary", () => {
  it(
    "leaves a session that another process brings to the same end, with every record it printed and every write done once",
    { timeout: 600_000 },
    async () => {
      await withFolder(async (base) => {
        // Two processes work on an undisturbed run: one until it waits for a person, one after the person's word.
        const before = join(base, "before");
        const waiting = join(base, "waiting");
        await mkdir(before);
        await mkdir(waiting);
        const passed = { before: await passedIn(before), waiting: [] as readonly string[] };
        await cp(before, waiting, { recursive: true });
        await using decided = openFolder(waiting, { points: createPoints() });
        await answer(decided.runner, decided.effects, await openWaits(decided.log));
        await decided[Symbol.asyncDispose]();
        const probe = join(base, "probe");
        await cp(waiting, probe, { recursive: true });
        passed.waiting = await passedIn(probe);

        const places = [
          ...passed.before.map((place) => ({ from: undefined, place })),
          ...passed.waiting.map((place) => ({ from: waiting, place })),
        ];
        const chosen = sample(
          places,
          sampleSize("step boundaries at which a process is killed", { test: 12, ci: places.length, soak: places.length }),
        );
        const faults: string[] = [];
        await inParallel(chosen, ({ from, place }) =>
          withFolder(async (folder) => {
            if (from !== undefined) await cp(from, folder, { recursive: true });
            const { printed, exit } = await liveInProcess(folder, { place });
            const where = `${place}${from === undefined ? "" : ", after the approval"}`;
            if (exit !== "SIGKILL") faults.push(`${where}: the process ended with ${exit}`);
            await using scenario = openFolder(folder, { points: createPoints() });
            for (const lost of await lostRecords(scenario.log, printed)) faults.push(`${where}: ${JSON.stringify(lost)} is lost`);
            const finished = await finish(scenario.runner, scenario.log, scenario.effects);
            for (const fault of await faultsAfter(scenario.log, scenario.effects, finished, expected)) faults.push(`${where}: ${fault}`);
          }),
        );
        expect(faults).toEqual([]);
      });
    },
  );

  it("does a write twice when the ledger of tool calls is taken out of its log", { timeout: 60_000 }, async () => {
    await withFolder(async (folder) => {
      expect((await liveInProcess(folder, { place: "send/after#0", withoutLedger: true })).exit).toBe("SIGKILL");
      await using scenario = openFolder(folder, { points: createPoints() });
      await finish(scenario.runner, scenario.log, scenario.effects);
      expect(effectFaults(scenario.effects.read(), expected.effects)).toContain("send was done 2 times");
    });
  });
});

/** What a life in this folder passes until it ends or waits. */
async function passedIn(folder: string): Promise<readonly string[]> {
  const points = createPoints();
  await using scenario = openFolder(folder, { points });
  const { outcome } =
    (await scenario.log.head("session/crash" as never)) === 0
      ? scenario.runner.run("Do the job.", { session: "crash" })
      : await scenario.runner.resume("crash");
  await outcome;
  return points.passed;
}
