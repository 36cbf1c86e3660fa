import { chaos, chaosFaults, scriptedModel, type ChaosEngine, type ChaosFault } from "keelson/testing";
import { createAgent, createRunner } from "keelson";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { agentOf, call, deed, everything, newWorld, payer } from "./scenes.ts";

const runs = (title: string): number => sampleSize(title, { test: 80, ci: 300, soak: 10_000 });

describe("an agent among faults", () => {
  for (const engine of ["resume", "advance"] as const) {
    it(`that acts plainly is led to the same end by ${engine}, whatever befalls it at whatever step`, { timeout: 120_000 }, async () => {
      const report = await chaos(payer, { engine });
      expect(report.failures).toEqual([]);
      expect(report.leftOut).toBe(0);
      expect(report.asked).toBeGreaterThan(0);
      expect(report.runs).toBeGreaterThan(4 * report.steps.length);
    });

    it(`that uses all there is is led to the same end by ${engine}`, { timeout: 600_000 }, async () => {
      const report = await chaos(everything, { engine, seed, maxRuns: runs(`faults of an agent that uses all there is, by ${engine}`) });
      expect(report.failures, String(report)).toEqual([]);
      const seams = new Set(report.steps.map((step) => step.seam));
      expect([...seams]).toEqual(
        expect.arrayContaining(["acquire", "append", "read", "put", "get", "reserve", "settle", "model", "tool", "deliver", "answer"]),
      );
      if (engine === "advance") expect([...seams]).toEqual(expect.arrayContaining(["start", "wake"]));
    });

    it(`is led there by ${engine} when two things befall it in one run`, { timeout: 120_000 }, async () => {
      const pairs = sampleSize(`pairs of faults, by ${engine}`, { test: 40, ci: 200, soak: 3_000 });
      const report = await chaos(payer, { engine, seed, pairs, maxRuns: 10_000 });
      expect(report.failures, String(report)).toEqual([]);
    });
  }

  it("ends as its own limits say, and the report tells of it as what it is", async () => {
    const fragile = () => ({ ...payer(), agent: agentOf("hasty", ["Done."], { limits: { maxRetries: 0 } }) });
    const report = await chaos(fragile, { faults: [chaosFaults.rateLimited] });
    expect(report.failures).toEqual([]);
    expect(report.explained).toMatchObject([{ name: "429 at model#1", why: expect.stringContaining('does not get over "429 at"') }]);
    expect(String(report)).toContain("1 runs ended otherwise, with a reason:");
  });

  it("may not know of a write that broke off, and somebody is asked", async () => {
    const report = await chaos(payer, { faults: [chaosFaults.crashAfter], only: "crash after tool#2" });
    expect(report).toMatchObject({ failures: [], runs: 1, asked: 1 });
  });
});

describe("the runs of the kit", () => {
  it("are the same runs, step for step, under the same seed", async () => {
    const options = { engine: "advance", seed: 7, pairs: 5, maxRuns: 30 } as const;
    const [first, second] = [await chaos(everything, options), await chaos(everything, options)];
    expect(second.steps).toEqual(first.steps);
    expect(String(second)).toBe(String(first));
  });

  it("are told by one line each, with what the step was about and how to repeat it", async () => {
    const broken: ChaosFault = { name: "broken at", seams: ["tool"], act: () => Promise.reject(new Error("the tool is broken")) };
    const report = await chaos(payer, { faults: [broken] });
    // A read that fails is told to the model, and nothing comes of it; a payment is missed.
    expect(report.failures).toMatchObject([{ name: "broken at tool#2", step: expect.stringMatching(/^c_\S+ of `pay`$/) }]);
    expect(report.failures[0]?.problems.join()).toContain('`pay` with {"to":"Ada"} was done in 0 calls, and in 1 of the undisturbed run');
    const [failure] = report.failures;
    expect(String(report)).toContain(`chaos(scene, { only: "broken at tool#2", seed: 1 })`);
    const again = await chaos(payer, { faults: [broken], only: failure?.name ?? "" });
    expect(again.failures).toEqual(report.failures);
    await expect(chaos(payer, { only: "earthquake at tool#2" })).rejects.toMatchObject({
      failure: { kind: "invalid-option", option: "only" },
    });
  });

  it("ask the models once, unless they are to be asked each time", async () => {
    let asked = 0;
    const scene = () => {
      const model = scriptedModel(Array.from({ length: 9 }, () => () => ({ text: `Answer ${++asked}.` })));
      return { agent: createAgent({ name: "a", model }), input: "Hello." };
    };
    const report = await chaos(scene, { faults: [chaosFaults.crashBefore, chaosFaults.serverError] });
    expect(report.failures).toEqual([]);
    expect(asked).toBe(1);
    expect((await chaos(scene, { faults: [chaosFaults.crashBefore], models: "asked" })).failures).not.toEqual([]);
  });
});

describe("an engine of one's own", () => {
  it("is tried as those of the kit are", async () => {
    const twoByTwo = (): ChaosEngine => ({
      async work({ runner, session, input, runId, deliver }) {
        await deliver("begin", () => runner.begin(session, input, { id: runId }));
        for (;;) {
          const { next } = await deliver("turn", () => runner.advance(session));
          if (next.type !== "now") return;
        }
      },
    });
    const report = await chaos(payer, { engine: twoByTwo });
    expect(report.failures, String(report)).toEqual([]);
    expect(report.steps.filter(({ seam }) => seam === "deliver").map(({ about }) => about)).toEqual(["begin", "turn", "turn", "turn"]);
  });

  it("that loses what it was to do is told of", async () => {
    let isBegun = false;
    const forgetful = (): ChaosEngine => {
      isBegun = false;
      return {
        async work({ runner, session, input }) {
          if (isBegun) return;
          isBegun = true;
          await runner.run(input, { session }).outcome;
        },
      };
    };
    const report = await chaos(payer, { engine: forgetful, faults: [chaosFaults.crashBefore] });
    expect(report.failures.map(({ name }) => name)).toContain("crash before append#3");
    expect(report.failures[0]?.problems.join()).toMatch(/nobody would wake it|nothing was begun/);
  });

  it("that begins anew what it should go on with is told of, with what was done twice", async () => {
    const again = (): ChaosEngine => {
      let times = 0;
      return {
        async work({ runner, session, input }) {
          const name = times++ === 0 ? `${session}-first` : session;
          await runner.run(input, { session: name }).outcome;
          if (name !== session) await runner.run("Nothing more.", { session }).outcome;
        },
      };
    };
    const report = await chaos(payer, { engine: again, faults: [chaosFaults.crashAfter] });
    expect(report.failures.flatMap(({ problems }) => problems).join("\n")).toMatch(/`pay` with .* was done in \d calls/);
  });

  it("is given runners that are made by hand, with what they need beside", async () => {
    const report = await chaos(
      () => {
        const world = newWorld();
        const agent = agentOf("clerk", [call("file", { n: 1 }), "Filed."], { tools: [deed(world, "file", "write")] });
        return {
          runner: (services, disturbed) => createRunner({ ...services, agent: disturbed(agent), budgets: [{ id: "team", maxCost: 1 }] }),
          input: "File it.",
          world: () => world.deeds,
        };
      },
      { maxRuns: 200 },
    );
    expect(report.failures, String(report)).toEqual([]);
    expect(report.steps.map(({ seam }) => seam)).toContain("reserve");
  });
});

it("refuses what it does not know", async () => {
  await expect(chaos(payer, { engnie: "resume" } as never)).rejects.toMatchObject({
    failure: { kind: "invalid-option", option: "engnie" },
  });
  await expect(chaos({ ...payer(), wrld: () => 1 } as never)).rejects.toThrow('did you mean "world"?');
  await expect(chaos({ input: "Go." })).rejects.toThrow("`agent`");
});
