import { createAgent, createRunner, type AgentOptions, type RunnerOptions } from "keelson";
import { createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import {
  type BudgetLedger,
  type BudgetScope,
  LogError,
  type Reservation,
  type ReserveOptions,
  type SessionId,
  sessionLog,
  usd,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, watch } from "./support.ts";

/** A tenth of a cent for each token of output, nothing for input. */
const price = { input: "0", output: "1000", asOf: "2026-01-01" };
const saying = (outputTokens: number, more: object = {}): ScriptedTurn => ({
  text: "ok",
  usage: { inputTokens: 0, outputTokens },
  ...more,
});

function agentOf(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns, { price });
  return { model, agent: createAgent({ name: "a", model, settings: { maxTokens: 4096 }, ...options }) };
}

/** What a call of such an agent is taken to send, at most. */
async function boundOf(options: Partial<AgentOptions> = {}): Promise<number> {
  const log = createMemoryEventLog();
  await runnerOf(agentOf([saying(1)], options).agent, { log }).run("go", { session: "s" }).outcome;
  for await (const { type, data } of log.read(sessionLog("s" as SessionId))) if (type === "inference") return Number(data["inputBound"]);
  throw new Error("it made no call");
}

interface Asked {
  readonly key: string;
  readonly options: ReserveOptions | undefined;
  readonly reservation?: Reservation;
}

/** A ledger that remembers what it was asked, and tells who waits. */
function watchedLedger(ledger: BudgetLedger = createMemoryBudgetLedger(), before: (nth: number) => void = () => {}) {
  const asked: Asked[] = [];
  let told = (): void => {};
  let waits = 0;
  const watched: BudgetLedger = {
    ...ledger,
    async reserve(key, scopes, amount, options) {
      const at = asked.push({ key, options }) - 1;
      before(at);
      const reservation = await ledger.reserve(key, scopes, amount, options);
      asked[at] = { key, options, reservation };
      return reservation;
    },
    changed(scopes, options) {
      waits++;
      told();
      return ledger.changed(scopes, options);
    },
  };
  return {
    ledger: watched,
    asked,
    answers: () => asked.map(({ reservation }) => reservation?.type),
    waits: () => waits,
    waited: () => new Promise<void>((resolve) => (told = resolve)),
  };
}

/** A run that holds what it reserved until it is let go. */
async function holding(options: RunnerOptions, maxTokens: number, spends = 1) {
  let release = (): void => {};
  let begin = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const wait = (): Promise<void> => (begin(), released);
  const { outcome } = runnerOf(agentOf([saying(spends, { wait })], { settings: { maxTokens } }).agent, options).run("go");
  await begun;
  return async () => {
    release();
    return (await outcome).reason;
  };
}

describe("the output of a call under a limit of tokens", () => {
  it("is lowered to what is left of them, down to 1,024 and not below", async () => {
    const bound = await boundOf();
    const under = async (maxTokens: number) => {
      const { agent, model } = agentOf([saying(1)]);
      const { reason } = await runnerOf(agent, { budgets: [{ id: "b", maxTokens }] }).run("go").outcome;
      return [reason, model.requests[0]?.maxTokens];
    };
    expect(await under(bound + 5000)).toEqual(["complete", 4096]);
    expect(await under(bound + 3000)).toEqual(["complete", 3000]);
    expect(await under(bound + 1024)).toEqual(["complete", 1024]);
    expect(await under(bound + 1023)).toEqual(["budget-exhausted", undefined]);
  });

  it("is lowered to what others leave of them, without waiting", async () => {
    const bound = await boundOf();
    const { ledger, waits } = watchedLedger();
    const budgets = [{ id: "b", maxTokens: bound + 4096 + bound + 2000 }];
    const release = await holding({ ledger, budgets }, 4096);
    const { agent, model } = agentOf([saying(1)]);
    expect((await runnerOf(agent, { ledger, budgets }).run("go").outcome).reason).toBe("complete");
    expect([model.requests[0]?.maxTokens, waits()]).toEqual([2000, 0]);
    expect(await release()).toBe("complete");
  });

  it("may be asked for as less than 1,024 from the start", async () => {
    const settings = { maxTokens: 50 };
    const bound = await boundOf({ settings });
    const { agent, model } = agentOf([saying(1)], { settings });
    expect((await runnerOf(agent, { budgets: [{ id: "b", maxTokens: bound + 50 }] }).run("go").outcome).reason).toBe("complete");
    expect(model.requests[0]?.maxTokens).toBe(50);
  });

  it("is let alone by budgets that count neither money nor tokens", async () => {
    const { agent, model } = agentOf([saying(1)], { settings: {} });
    expect((await runnerOf(agent, { budgets: [{ id: "b", maxModelCalls: 1 }] }).run("go").outcome).reason).toBe("complete");
    expect(model.requests[0]?.maxTokens).toBeUndefined();
  });
});

describe("a call that a budget refuses", () => {
  it("for the number of calls is not made smaller first: the budget is asked once", async () => {
    const { ledger, asked, answers } = watchedLedger();
    const look = recordingTool("look", { effect: "read" });
    const { agent, model } = agentOf([{ toolCalls: [{ name: "look" }] }, "never"], { tools: [look] });
    const { events, outcome } = await watch(
      runnerOf(agent, { ledger, budgets: [{ id: "b", maxModelCalls: 1, maxCost: usd("100"), maxTokens: 900_000 }] }).run("go"),
    );
    expect([outcome.reason, model.requests.length]).toEqual(["budget-exhausted", 1]);
    const inferring = asked.filter(({ key }) => key.includes("/infer/"));
    expect(inferring.map(({ reservation }) => reservation?.type)).toEqual(["reserved", "refused"]);
    expect(answers()).toContain("refused");
    expect(ofType(events, "budget").filter(({ threshold }) => threshold === undefined)).toMatchObject([{ limit: "model-calls", max: 1 }]);
  });
});

describe("a call that must wait for its money", () => {
  const second = (options: RunnerOptions, turns: readonly ScriptedTurn[] = [saying(1)]) => {
    const { agent, model } = agentOf(turns, { debug: true });
    return { model, run: watch(runnerOf(agent, options).run("go")) };
  };

  it("asks first, then stands in the line under its runner's name, and tells who debugs it what it waits for", async () => {
    const { ledger, asked, waited } = watchedLedger();
    const budgets = [{ id: "b", maxCost: "4.5" }];
    const release = await holding({ ledger, budgets }, 4096);
    const waiting = waited();
    const before = asked.length;
    const { run, model } = second({ ledger, budgets });
    await waiting;
    expect(asked.slice(before).map(({ reservation, options }) => [reservation?.type, options?.inTurn])).toEqual([
      ["wait", false],
      ["wait", true],
    ]);
    expect(new Set(asked.map(({ options }) => typeof options?.owner))).toEqual(new Set(["string"]));
    expect(model.requests).toEqual([]);
    await release();
    const { events, outcome } = await run;
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "status").map(({ status }) => status)).toContainEqual(
      expect.stringMatching(/waits for the budget "b": 0\.404 dollars available/),
    );
  });

  it("asks for its whole output again once it is its turn, though it was ready to take less before", async () => {
    const { ledger, waited } = watchedLedger();
    const money: BudgetScope = { id: "money", maxCost: usd("7") };
    const more: BudgetScope = { id: "more", maxCost: usd("4.5") };
    const releases = [await holding({ ledger, budgets: [money] }, 4000), await holding({ ledger, budgets: [more] }, 4000)];
    const waiting = waited();
    const { run, model } = second({ ledger, budgets: [money, more] });
    await waiting;
    for (const release of releases) await release();
    expect((await run).outcome.reason).toBe("complete");
    expect(model.requests[0]?.maxTokens).toBe(4096);
  });

  it("does not ask again for what is spent", async () => {
    const { ledger, waited, asked } = watchedLedger();
    const spent: BudgetScope = { id: "spent", maxCost: usd("4") };
    const held: BudgetScope = { id: "held", maxCost: usd("4.5") };
    await (
      await holding({ ledger, budgets: [spent] }, 1500, 1000)
    )();
    const release = await holding({ ledger, budgets: [held] }, 4000);
    const waiting = waited();
    const before = asked.length;
    const { run, model } = second({ ledger, budgets: [spent, held] });
    await waiting;
    await release();
    expect((await run).outcome.reason).toBe("complete");
    expect(model.requests[0]?.maxTokens).toBe(3000);
    expect(asked.slice(before).map(({ reservation }) => reservation?.type)).toEqual(["refused", "wait", "wait", "reserved"]);
  });

  it("says for which count it waits where it is none of money", async () => {
    const { ledger, waited } = watchedLedger();
    const budgets = [{ id: "calls", maxModelCalls: 1 }];
    const release = await holding({ ledger, budgets: [...budgets] }, 100, 0);
    const waiting = waited();
    const { run } = second({ ledger, budgets });
    await waiting;
    await release();
    const { events, outcome } = await run;
    expect(outcome.reason).toBe("budget-exhausted");
    expect(ofType(events, "status").map(({ status }) => status)).toContainEqual(
      expect.stringMatching(/waits for the budget "calls": 0 model-calls available/),
    );
  });
});

describe("a ledger", () => {
  it("that fails interrupts the run, and is not taken for one that knows the call already", async () => {
    const failing = watchedLedger(createMemoryBudgetLedger(), () => {
      throw new LogError({ kind: "backend", message: "the ledger is away" } as never);
    });
    const { agent, model } = agentOf([saying(1)]);
    const { error } = await runnerOf(agent, { ledger: failing.ledger, budgets: [{ id: "b", maxCost: "9" }] }).run("go").outcome;
    expect(error?.failure).toMatchObject({ kind: "backend", message: expect.stringContaining("the ledger is away") });
    expect([failing.asked.length, model.requests.length]).toEqual([1, 0]);
  });

  it("that fails as a call is settled interrupts the run, and nothing is spent twice", async () => {
    const ledger = createMemoryBudgetLedger();
    let isAway = true;
    const failing: BudgetLedger = {
      ...ledger,
      settle: (key, actual) =>
        isAway
          ? ((isAway = false), Promise.reject(new LogError({ kind: "backend", message: "the ledger is away" } as never)))
          : ledger.settle(key, actual),
    };
    const { agent } = agentOf([saying(1)]);
    const { error } = await runnerOf(agent, { ledger: failing, budgets: [{ id: "b", maxCost: "9" }] }).run("go").outcome;
    expect(error?.failure).toMatchObject({ kind: "backend", message: expect.stringContaining("the ledger is away") });
    expect(await ledger.spent("b")).toBe("0");
  });

  it("that settled such a call in an earlier life, of which the log knows nothing, counts this one besides", async () => {
    const ledger = createMemoryBudgetLedger();
    const budgets = [{ id: "b", maxCost: usd("9") }];
    const { agent } = agentOf([saying(10)]);
    const run = createRunner({ agent, ledger, budgets }).run("go");
    const key = `${run.id}/t1/infer/0`;
    await ledger.reserve(key, budgets, usd("4.096"));
    await ledger.settle(key, usd("0.02"));
    expect((await run.outcome).reason).toBe("complete");
    expect(await ledger.spent("b")).toBe("0.03");
  });
});
