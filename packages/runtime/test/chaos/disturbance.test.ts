import { LogError } from "@keelson/protocol";
import { createRunner, type Agent, type RunnerOptions } from "keelson";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { createDisturbance, type ProcessDisturbance } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { agentOf, call, deed, newWorld, type World } from "./scenes.ts";

const payer = (world: World): Agent =>
  agentOf("payer", [call("pay", { to: "Ada" }), "Paid.", "Paid."], {
    tools: [deed(world, "pay", "write")],
    limits: { maxTokens: 1_000_000 },
  });

/** A runner of a process of somebody's own, on stores of theirs. */
function runnerAmid(disturbance: ProcessDisturbance, stores: Required<Pick<RunnerOptions, "log" | "blobs">>, world: World) {
  return createRunner({
    agent: disturbance.agent(payer(world)),
    log: disturbance.log(stores.log as never),
    blobs: disturbance.blobs(stores.blobs as never),
    ledger: disturbance.ledger(createMemoryBudgetLedger()),
    leaseTtlMs: 1,
  });
}

const stores = () => ({ log: createMemoryEventLog(), blobs: createMemoryBlobStore() });

describe("the faults of the kit by themselves", () => {
  it("count the steps of any process", async () => {
    const disturbance = createDisturbance();
    const world = newWorld();
    const { reason } = await runnerAmid(disturbance, stores(), world).run("Pay.", { session: "s" }).outcome;
    expect(reason).toBe("complete");
    expect(disturbance.steps.map(({ seam }) => seam)).toEqual(
      expect.arrayContaining(["acquire", "append", "read", "model", "tool", "reserve", "settle"]),
    );
    expect(disturbance.steps.find(({ id }) => id === "tool#1")?.about).toMatch(/^c_\S+ of `pay`$/);
    expect(disturbance.problems).toEqual([]);
  });

  it("fail what the plan says, and the run is gone on with by whoever comes next", async () => {
    const own = stores();
    const world = newWorld();
    const disturbance = createDisturbance({ plan: "lost acknowledgement of append#2" });
    const { error } = await runnerAmid(disturbance, own, world).run("Pay.", { session: "s" }).outcome;
    expect(error?.failure.kind).toBe("backend");
    expect(LogError.is(error?.cause, "unavailable")).toBe(true);
    const { text } = await (await runnerAmid(createDisturbance(), own, world).resume("s")).outcome;
    expect(text).toBe("Paid.");
    expect(world.deeds).toEqual(['pay {"to":"Ada"}']);
  });

  it("crash a process: nothing of it goes on, and whoever waits for it is told", async () => {
    const own = stores();
    const world = newWorld();
    const disturbance = createDisturbance({ plan: "crash before tool#1" });
    const run = runnerAmid(disturbance, own, world).run("Pay.", { session: "s" });
    const first = await Promise.race([run.outcome.then(() => "ended"), disturbance.stopped.then(() => "crashed")]);
    expect(first).toBe("crashed");
    expect(world.deeds).toEqual([]);
  });

  it("end the process by the means that it is given", async () => {
    const killed: string[] = [];
    const disturbance = createDisturbance({ plan: "crash after append#1", die: () => killed.push("SIGKILL") });
    void runnerAmid(disturbance, stores(), newWorld()).run("Pay.", { session: "s" }).outcome;
    await disturbance.stopped;
    expect(killed).toEqual(["SIGKILL"]);
  });

  it("set a clock, and put off what is told until it is caught up with", async () => {
    const woken: string[] = [];
    const disturbance = createDisturbance({ plan: "clock a day forward before deliver#1, late wake#1" });
    const clock = disturbance.clock({ now: () => 1_000, after: () => () => {} });
    await disturbance.deliver("turn", async () => {});
    expect(clock.now()).toBe(86_401_000);
    const orchestrator = disturbance.orchestrator({ wake: async (session: string) => void woken.push(session) } as never) as {
      wake(session: string): Promise<void>;
    };
    await orchestrator.wake("s");
    expect(woken).toEqual([]);
    await disturbance.catchUp();
    expect(woken).toEqual(["s"]);
  });

  it("refuse a plan that names none of them", () => {
    expect(() => createDisturbance({ plan: "earthquake at tool#1" })).toThrow('There is no fault as in "earthquake at tool#1"');
  });
});
