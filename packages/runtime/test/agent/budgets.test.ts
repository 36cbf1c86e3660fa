import { agentTool, createAgent, createRunner, usd, type AgentOptions, type Run, type RunnerOptions } from "keelson";
import { createEphemeralApprovalKeys } from "keelson/agent";
import { agentOperator, createLocalOrchestrator } from "keelson/orchestration";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import {
  authorityCodec,
  type BudgetLedger,
  type EventLog,
  type LifecycleEvent,
  type LogRecord,
  type OperatorId,
  type Reservation,
  type SessionId,
  sessionLog,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, watch } from "./support.ts";

/** A tenth of a cent for each token of output, nothing for input. */
const price = { input: "0", output: "1000", asOf: "2026-01-01" };
const free = { ...price, output: "0" };
const spending = (outputTokens: number, more: object = {}): ScriptedTurn => ({ text: "ok", usage: { outputTokens }, ...more });
const looking = (outputTokens: number): ScriptedTurn => ({ toolCalls: [{ name: "look", input: {} }], usage: { outputTokens } });
const repeated = (turn: ScriptedTurn, times = 100): readonly ScriptedTurn[] => Array.from({ length: times }, () => turn);

/** An agent whose calls may cost up to ten cents each. */
function agentWith(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns, { price });
  const look = recordingTool("look", { effect: "read" });
  return {
    model,
    look,
    agent: createAgent({ name: "a", model, tools: [look], loopGuard: false, settings: { maxTokens: 100 }, ...options }),
  };
}

async function recordsOf(log: EventLog, session: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(session as SessionId))) records.push(record);
  return records;
}

/** A call that is held until it is let go. */
function gate() {
  let open = (): void => {};
  let begin = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const begun = new Promise<void>((resolve) => (begin = resolve));
  return {
    begun,
    open: () => open(),
    wait: () => {
      begin();
      return opened;
    },
  };
}

/** A ledger that says what it answered. */
function watchedLedger(ledger: BudgetLedger = createMemoryBudgetLedger()) {
  const reservations: (Reservation & { readonly key: string })[] = [];
  const waits: string[] = [];
  let told = (): void => {};
  const watched: BudgetLedger = {
    ...ledger,
    async reserve(key, ...rest) {
      const reservation = await ledger.reserve(key, ...rest);
      reservations.push({ ...reservation, key });
      return reservation;
    },
    changed(scopes, options) {
      waits.push(options.key ?? "");
      told();
      return ledger.changed(scopes, options);
    },
  };
  return { ledger: watched, answers: reservations, waits, waited: () => new Promise<void>((resolve) => (told = resolve)) };
}

describe("a budget that many runs share", () => {
  it("is kept by all of them together, and what is spent refuses whoever comes [LA-07, AG-17]", async () => {
    const ledger = createMemoryBudgetLedger();
    const runner = runnerOf(agentWith(repeated(looking(80))).agent, { ledger, budgets: [{ id: "team", maxCost: "1" }] });
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => watch(runner.run("go"))));
    expect(outcomes.map(({ outcome }) => outcome.reason)).toEqual(Array.from({ length: 5 }, () => "budget-exhausted"));
    expect(await ledger.spent("team")).toBe("0.96");
    const total = outcomes.reduce((sum, { outcome }) => sum + Number(outcome.cost), 0);
    expect(total).toBeCloseTo(0.96);
    for (const { events } of outcomes) {
      const [refusal] = ofType(events, "budget").filter(({ threshold }) => threshold === undefined);
      expect(refusal).toMatchObject({ limit: "cost", max: "1", scope: "team" });
      // Ten cents are the least that its call could have come to.
      expect(Number(refusal?.used)).toBeGreaterThan(0.9);
    }
  });

  it("may be named by a run, beside those of the runner; each limit of the same name holds", async () => {
    const ledger = createMemoryBudgetLedger();
    const runner = runnerOf(agentWith(repeated(looking(80))).agent, { ledger, budgets: [{ id: "team", maxCost: "9" }] });
    const { outcome } = await watch(
      runner.run("go", {
        budgets: [
          { id: "user", maxCost: "5" },
          { id: "team", maxCost: 0.2 },
        ],
      }),
    );
    expect(outcome).toMatchObject({ reason: "budget-exhausted", cost: "0.16" });
    expect([await ledger.spent("team"), await ledger.spent("user")]).toEqual(["0.16", "0.16"]);
  });

  it("bounds tokens, turns, calls of tools and of models as well", async () => {
    const runWith = async (budget: object, turns = repeated(looking(80))) => {
      const { agent, look } = agentWith(turns);
      const ledger = createMemoryBudgetLedger();
      const { events, outcome } = await watch(runnerOf(agent, { ledger, budgets: [{ id: "b", ...budget }] }).run("go"));
      const refusal = ofType(events, "budget").find(({ threshold }) => threshold === undefined);
      return { outcome, refusal, look, used: await ledger.used("b"), events };
    };
    expect(await runWith({ maxTurns: 3 })).toMatchObject({
      outcome: { reason: "budget-exhausted", turns: 3 },
      refusal: { limit: "turns", used: 3, max: 3, scope: "b" },
      used: { turns: 3 },
    });
    expect(await runWith({ maxModelCalls: 2 })).toMatchObject({
      outcome: { reason: "budget-exhausted", turns: 2 },
      refusal: { limit: "model-calls", used: 2, max: 2 },
    });
    const tokens = await runWith({ maxTokens: 1000 });
    expect(tokens.outcome.reason).toBe("budget-exhausted");
    expect(tokens.refusal).toMatchObject({ limit: "tokens", max: 1000 });
    expect(tokens.used.tokens).toBeLessThanOrEqual(1000);
    expect(tokens.used.tokens).toBe((tokens.outcome.usage.inputTokens ?? 0) + (tokens.outcome.usage.outputTokens ?? 0));
    // The model is told, and may respond with what it has.
    const tools = await runWith({ maxToolCalls: 2 }, [looking(1), looking(1), looking(1), "enough"]);
    expect(tools).toMatchObject({ outcome: { reason: "complete", text: "enough" }, used: { toolCalls: 2 } });
    expect(tools.look.calls).toHaveLength(2);
    expect(ofType(tools.events, "tool-result")[2]).toMatchObject({ isError: true, output: expect.stringContaining("budget-exhausted") });
  });

  it("of one unit leaves runs alone that do not use it up", async () => {
    const { agent } = agentWith([looking(5), spending(5)]);
    const { outcome } = await watch(runnerOf(agent, { budgets: [{ id: "b", maxTurns: 2, maxToolCalls: 1, maxModelCalls: 2 }] }).run("go"));
    expect(outcome).toMatchObject({ reason: "complete", turns: 2 });
  });

  it("is refused as an option where it is none, by name", () => {
    const { agent } = agentWith([]);
    const make = (budget: object) => () => createRunner({ agent, budgets: [budget as never] });
    expect(make({ id: "" })).toThrow(/budgets\[0\]\.id/);
    expect(make({ id: "run/r_1" })).toThrow(/budgets\[0\]\.id must not begin with "run\/"/);
    expect(make({ id: "a", maxCost: "much" })).toThrow(/budgets\[0\]\.maxCost is no amount/);
    expect(make({ id: "a", maxCost: -1 })).toThrow(/budgets\[0\]\.maxCost must not be negative/);
    expect(make({ id: "a", maxTokens: 1.5 })).toThrow(/budgets\[0\]\.maxTokens must be a whole number/);
    expect(make({ id: "a", unknownPrice: "maybe" })).toThrow(/budgets\[0\]\.unknownPrice must be "refuse" or "allow"/);
    expect(() => createRunner({ agent }).run("go", { budgets: [{ id: "a", maxTurns: -1 }] })).toThrow(/budgets\[0\]\.maxTurns/);
  });
});

describe("a run that is resumed", () => {
  it("keeps the budgets that it was begun with, and takes on those of the runner that resumes it", async () => {
    const clock = impatientClock();
    const log = createMemoryEventLog({ now: () => clock.now() });
    const ledger = createMemoryBudgetLedger();
    const services = { clock, log, ledger, blobs: createMemoryBlobStore(), approvalKeys: createEphemeralApprovalKeys() };
    const { agent } = agentWith([looking(50), looking(50), looking(50)], {
      permissions: { rules: [{ pattern: "look", behavior: "ask" }] },
    });
    const first = await runnerOf(agent, { ...services, budgets: [{ id: "old", maxCost: "5" }] }).run("go", {
      session: "s",
      budgets: [{ id: "user", maxCost: "0.16" }],
      limits: { maxTokens: 90_000 },
    }).outcome;
    expect(first.reason).toBe("awaiting-approval");
    const later = runnerOf(agent, { ...services, budgets: [{ id: "new", maxCost: "5" }], approvals: () => ({ type: "allow" }) });
    for (const wait of first.waits ?? []) if (wait.type === "approval") await later.approve(wait.token, { type: "allow" });
    const outcome = await (await later.resume("s")).outcome;
    expect(outcome).toMatchObject({ reason: "budget-exhausted", cost: "0.1" });
    // Each counted what was spent while it held.
    expect([await ledger.spent("old"), await ledger.spent("user"), await ledger.spent("new")]).toEqual(["0.1", "0.1", "0.05"]);
  });
});

describe("limits of an agent", () => {
  it("bound the tokens of a run, and lower the output of a call before they refuse it", async () => {
    const { agent, model } = agentWith(repeated(looking(1000)), { settings: { maxTokens: 4096 }, limits: { maxTokens: 6000 } });
    const { outcome, events } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("budget-exhausted");
    expect((outcome.usage.inputTokens ?? 0) + (outcome.usage.outputTokens ?? 0)).toBeLessThanOrEqual(6000);
    const asked = model.requests.map(({ maxTokens }) => maxTokens ?? 0);
    expect(asked[0]).toBe(4096);
    expect(asked.at(-1)).toBeLessThan(4096);
    expect(asked.at(-1)).toBeGreaterThanOrEqual(1024);
    expect(ofType(events, "budget").at(-1)).toMatchObject({ limit: "tokens", max: 6000 });
    expect((await watch(runnerOf(agentWith([spending(5)]).agent).run("go", { limits: { maxTokens: 50 } }))).outcome.reason).toBe(
      "budget-exhausted",
    );
  });

  it("are refused where they are none, by name", () => {
    const make = (limits: object) => () => agentWith([], { limits: limits as never });
    expect(make({ maxTokens: 0.5 })).toThrow(/limits\.maxTokens must be a whole number/);
    expect(make({ unknownPrice: "free" })).toThrow(/limits\.unknownPrice must be "refuse" or "allow"/);
    expect(make({ budgetThresholds: [0] })).toThrow(/limits\.budgetThresholds must be parts of the limits above 0/);
    expect(make({ budgetThresholds: [1.5] })).toThrow(/limits\.budgetThresholds/);
  });

  it("that are not there cost nothing: no ledger is asked", async () => {
    const untouchable = new Proxy({} as BudgetLedger, {
      get(_target, name) {
        throw new Error(`the ledger was asked for ${String(name)}`);
      },
    });
    const { agent } = agentWith([looking(5), spending(5)]);
    expect((await runnerOf(agent, { ledger: untouchable }).run("go").outcome).reason).toBe("complete");
  });
});

describe("a call of which no usage is told", () => {
  const untold = (more: object = {}): ScriptedTurn => ({ text: "ok", usage: { inputTokens: null, outputTokens: null }, ...more });
  const broken: ScriptedTurn = { text: "half", error: { kind: "server-error", message: "it broke" } };

  it("counts as all that was reserved for it, whole or broken, and the outcome says how many were", async () => {
    const { agent } = agentWith([broken, untold()]);
    const ledger = createMemoryBudgetLedger();
    const { outcome, events } = await watch(runnerOf(agent, { ledger, budgets: [{ id: "b", maxCost: "9" }] }).run("go"));
    // Ten cents each: a hundred tokens.
    expect(outcome).toMatchObject({ cost: "0.2", estimated: { modelCalls: 2, cost: "0.2", withoutUsage: "reserve" } });
    expect(await ledger.spent("b")).toBe("0.2");
    expect(ofType(events, "usage")).toMatchObject([{ estimated: true, usage: { outputTokens: 100 } }, { estimated: true }]);
    expect(ofType(events, "run-complete")).toMatchObject([{ estimated: { modelCalls: 2 } }]);
    const told = await runnerOf(agentWith([spending(5)]).agent, { budgets: [{ id: "b", maxCost: "9" }] }).run("go").outcome;
    expect(told).not.toHaveProperty("estimated");
  });

  it("counts as what was sent and seen where that was chosen, by name in the outcome", async () => {
    const limits = { maxCost: "9", withoutUsage: "estimate" } as const;
    const { outcome } = await watch(runnerOf(agentWith([broken, untold()], { limits }).agent).run("go"));
    expect(outcome.estimated).toMatchObject({ modelCalls: 2, withoutUsage: "estimate" });
    expect(Number(outcome.cost)).toBeLessThan(0.05);
    const chosen = await runnerOf(agentWith([untold()]).agent).run("go", { limits }).outcome;
    expect(chosen.estimated).toMatchObject({ modelCalls: 1, withoutUsage: "estimate" });
  });

  it("is held strictly where one of its limits is: no choice opens another's", async () => {
    const loose = { maxCost: "9", withoutUsage: "estimate" } as const;
    const costOf = async (options: Partial<AgentOptions>, runner: RunnerOptions = {}, limits: object = {}) =>
      (await runnerOf(agentWith([untold()], options).agent, runner).run("go", { limits }).outcome).cost;
    expect(Number(await costOf({ limits: loose }))).toBeLessThan(0.05);
    expect(await costOf({ limits: loose }, { budgets: [{ id: "b", maxCost: "9" }] })).toBe("0.1");
    expect(await costOf({ limits: loose }, { budgets: [{ id: "b", maxTokens: 90_000 }] })).toBe("0.1");
    expect(await costOf({ limits: loose }, {}, { withoutUsage: "reserve" })).toBe("0.1");
    expect(await costOf({ limits: { withoutUsage: "reserve" } }, {}, loose)).toBe("0.1");
    expect(
      Number(
        await costOf(
          { limits: loose },
          {
            budgets: [
              { id: "b", ...loose },
              { id: "c", maxTurns: 5 },
            ],
          },
        ),
      ),
    ).toBeLessThan(0.05);
  });

  it("of a child is told by whoever started it", async () => {
    const helper = agentWith([untold()], { name: "helper" });
    const lead = agentWith([{ toolCalls: [{ name: "helper", input: { task: "help" } }], usage: { outputTokens: 1 } }, spending(1)], {
      name: "lead",
      limits: { maxCost: "9" },
      tools: [agentTool(helper.agent)],
    });
    const { outcome, events } = await watch(runnerOf(lead.agent).run("go"));
    expect(outcome).toMatchObject({ cost: "0.102", estimated: { modelCalls: 1, cost: "0.1", withoutUsage: "reserve" } });
    expect(ofType(events, "child-end")).toMatchObject([{ estimated: { modelCalls: 1 } }]);
  });

  it("is reserved at all that the model can write where nothing that is sent bounds it, and who is refused is told why", async () => {
    const { model } = agentWith([spending(5)]);
    const unbounded = Object.assign(Object.create(model) as typeof model, { outputBound: () => null, name: "scripted/endless" });
    const agent = createAgent({ name: "a", model: unbounded, settings: { maxTokens: 100 }, limits: { maxCost: "100" } });
    const { outcome, events } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("budget-exhausted");
    expect(ofType(events, "status").map(({ status }) => status)).toContainEqual(
      expect.stringMatching(/bounds what .* writes and thinks, so that all it can write is reserved: 2000000 tokens/),
    );
    expect((await runnerOf(agent.with({ limits: { maxCost: "2000" } })).run("go").outcome).reason).toBe("complete");
  });
});

describe("children", () => {
  const ask = { toolCalls: [{ name: "helper", input: { task: "help" } }], usage: { outputTokens: 10 } };
  const familyOf = (helperTurns: readonly ScriptedTurn[], limits: object, helperLimits: object = {}) => {
    const helper = agentWith(helperTurns, { name: "helper", limits: helperLimits });
    const lead = agentWith([ask, ask, ask, spending(10)], { name: "lead", limits, tools: [agentTool(helper.agent)] });
    return { helper, lead };
  };

  it("spend the money of all above them: their own limit, their parent's, and what is shared [LA-07, AG-17]", async () => {
    const { lead } = familyOf([looking(80), spending(80), ...repeated(looking(80))], { maxCost: "0.5" });
    const ledger = createMemoryBudgetLedger();
    const runner = runnerOf(lead.agent, { ledger, budgets: [{ id: "team", maxCost: "9" }] });
    const run = runner.run("go");
    const { events, outcome } = await watch(run);
    expect(outcome).toMatchObject({ reason: "budget-exhausted", cost: "0.42" });
    const [spentByRun, spentByTeam] = [await ledger.spent(`run/${run.id}`), await ledger.spent("team")];
    expect([spentByRun, spentByTeam]).toEqual(["0.42", "0.42"]);
    const ends = ofType(events, "child-end").map(({ reason }) => reason);
    expect(ends).toEqual(["complete", "budget-exhausted"]);
    const refusals = ofType(events, "budget").filter(({ threshold }) => threshold === undefined);
    expect(refusals.map(({ scope, path }) => [scope, path])).toEqual([
      [`run/${run.id}`, ["helper"]],
      [undefined, undefined],
    ]);
  });

  it("may be held tighter, never looser, by limits of their own", async () => {
    const { lead } = familyOf(repeated(looking(80)), { maxCost: "5" }, { maxCost: "0.2" });
    const { events } = await watch(runnerOf(lead.agent).run("go"));
    const costs = ofType(events, "child-end").map(({ reason, cost }) => [reason, cost]);
    expect(costs).toEqual(Array.from({ length: 3 }, () => ["budget-exhausted", "0.16"]));
    const wide = familyOf(repeated(looking(80)), { maxCost: "0.3" }, { maxCost: "50" });
    expect(Number((await runnerOf(wide.lead.agent).run("go").outcome).cost)).toBeLessThanOrEqual(0.3);
  });

  it("count their turns, tools and model calls on budgets that are shared", async () => {
    const { lead } = familyOf([looking(1), spending(1), looking(1), spending(1), looking(1), spending(1)], {});
    const ledger = createMemoryBudgetLedger();
    const shared = { id: "b", maxTurns: 6, maxToolCalls: 50, maxModelCalls: 50 };
    const { outcome } = await watch(runnerOf(lead.agent, { ledger, budgets: [shared] }).run("go"));
    expect(outcome.reason).toBe("budget-exhausted");
    expect(await ledger.used("b")).toMatchObject({ turns: 6, modelCalls: 6, toolCalls: 4 });
  });

  it("have the budgets above them in their terms, as the codec of authorities reads them", async () => {
    const clock = impatientClock();
    const log = createMemoryEventLog({ now: () => clock.now() });
    const { lead } = familyOf(repeated(spending(5)), { maxCost: "5", maxTokens: 900_000 }, { maxCost: "1" });
    const run = runnerOf(lead.agent, { clock, log, blobs: createMemoryBlobStore(), budgets: [{ id: "team", maxCost: "9" }] }).run("go", {
      session: "s",
      budgets: [{ id: "user", maxTurns: 50 }],
    });
    const { events } = await watch(run);
    const budgetsIn = async (session: string) => {
      const terms = (await recordsOf(log, session)).find(({ type }) => type === "run-terms");
      return authorityCodec.decode(terms?.data["authority"]).budgets;
    };
    const own = { id: `run/${run.id}`, maxCost: "5", maxTokens: 900_000 };
    const shared = [
      { id: "team", maxCost: "9" },
      { id: "user", maxTurns: 50 },
    ];
    expect(await budgetsIn("s")).toEqual([own, ...shared]);
    const [child] = ofType(events, "child-start");
    expect(await budgetsIn(child?.session as string)).toEqual([own, ...shared, { id: `run/${child?.child as string}`, maxCost: "1" }]);
  });
});

describe("a call for which others hold the money", () => {
  const holder = (held: ReturnType<typeof gate>, outputTokens = 10) => agentWith([spending(outputTokens, { wait: held.wait })]).agent;

  it("asks for less output, though not for less than 1,024 tokens, before it waits [AG-17]", async () => {
    const { ledger } = watchedLedger();
    const budgets = [{ id: "b", maxCost: "6" }];
    const held = gate();
    const large = createAgent({
      name: "l",
      model: scriptedModel([spending(10, { wait: held.wait })], { price }),
      settings: { maxTokens: 4096 },
    });
    const first = runnerOf(large, { ledger, budgets }).run("go");
    await held.begun;
    const model = scriptedModel([spending(10)], { price });
    const small = createAgent({ name: "s", model, settings: { maxTokens: 4096 } });
    expect((await runnerOf(small, { ledger, budgets }).run("go").outcome).reason).toBe("complete");
    expect(model.requests[0]?.maxTokens).toBe(6000 - 4096);
    held.open();
    await first.outcome;
  });

  it("waits until they settle, and is not refused [LA-07]", async () => {
    const { ledger, waited, waits } = watchedLedger();
    const budgets = [{ id: "b", maxCost: "0.15" }];
    const held = gate();
    const first = runnerOf(holder(held), { ledger, budgets }).run("go");
    await held.begun;
    const waiting = waited();
    const { agent, model } = agentWith([spending(10)]);
    const second = runnerOf(agent, { ledger, budgets }).run("go");
    await waiting;
    expect(model.requests).toHaveLength(0);
    held.open();
    expect([(await first.outcome).reason, (await second.outcome).reason]).toEqual(["complete", "complete"]);
    expect(waits).toHaveLength(1);
  });

  it("has its turn in the order of its coming, behind the large one that waits, and wakes nobody else", async () => {
    const { ledger, answers: reservations, waited } = watchedLedger();
    const budgets = [{ id: "b", maxCost: "1" }];
    const held = gate();
    const first = runnerOf(holder(held), { ledger, budgets }).run("go");
    await held.begun;
    const order: string[] = [];
    const start = async (name: string, maxTokens: number): Promise<Run<undefined>> => {
      const waiting = waited();
      const model = scriptedModel([() => (order.push(name), spending(1) as { text: string })], { price });
      const run = runnerOf(createAgent({ name, model, settings: { maxTokens } }), { ledger, budgets }).run("go");
      await waiting;
      return run;
    };
    const runs = [await start("large", 950), await start("small", 10)];
    for (let n = 0; n < 10; n++) runs.push(await start(`next-${n}`, 10));
    const before = reservations.length;
    held.open();
    const reasons = await Promise.all([first, ...runs].map(async (run) => (await run.outcome).reason));
    expect(new Set(reasons)).toEqual(new Set(["complete"]));
    expect(order).toEqual(["large", "small", ...Array.from({ length: 10 }, (_, n) => `next-${n}`)]);
    // Each was asked again when its turn came, not whenever anything changed.
    expect(reservations.length - before).toBeLessThanOrEqual(2 * runs.length);
  });

  it.each([
    ["aborted", (run: Run<undefined>) => run.abort()],
    ["stopped", (run: Run<undefined>) => run.stop()],
  ] as const)("stops waiting when its run is %s, and leaves the line", async (reason, end) => {
    const { ledger, waited } = watchedLedger();
    const budgets = [{ id: "b", maxCost: "0.15" }];
    const held = gate();
    const first = runnerOf(holder(held), { ledger, budgets }).run("go");
    await held.begun;
    const waiting = waited();
    const second = runnerOf(agentWith([spending(10)]).agent, { ledger, budgets }).run("go");
    await waiting;
    await end(second);
    expect((await second.outcome).reason).toBe(reason);
    // Nobody stands in the line any more: who comes now gets what is left.
    expect(await ledger.reserve("other", [{ id: "b", maxCost: usd("0.15") }], usd("0.05"))).toEqual({ type: "reserved" });
    held.open();
    await first.outcome;
  });

  it("is not in the way of its own run: what an earlier life reserved under its name, and never used, is given back", async () => {
    const ledger = createMemoryBudgetLedger();
    const { agent } = agentWith([spending(10)]);
    const run = runnerOf(agent, { ledger, budgets: [{ id: "b", maxCost: "0.15" }] }).run("go");
    await ledger.reserve(`${run.id}/t1/infer/0`, [{ id: "b", maxCost: usd("0.15") }], usd("0.14"));
    expect((await run.outcome).reason).toBe("complete");
    expect(await ledger.spent("b")).toBe("0.01");
    expect(await ledger.reserve("rest", [{ id: "b", maxCost: usd("0.15") }], usd("0.14"))).toEqual({ type: "reserved" });
  });

  it("stops waiting at the deadline of its run", async () => {
    const { ledger } = watchedLedger();
    const budgets = [{ id: "b", maxCost: "0.15" }];
    const held = gate();
    const first = runnerOf(holder(held), { ledger, budgets }).run("go");
    await held.begun;
    const { agent } = agentWith([spending(10)], { limits: { maxDurationMs: 5 } });
    expect((await createRunner({ agent, ledger, budgets }).run("go").outcome).reason).toBe("timeout");
    held.open();
    await first.outcome;
  });
});

describe("budget events", () => {
  it("tell once for each limit and run when half, four fifths and all of it are used up", async () => {
    const turns = [...repeated(looking(10), 9), spending(10)];
    const { agent } = agentWith(turns, {
      limits: { maxCost: "0.19", maxTokens: 100_000, maxTurns: 10, maxToolCalls: 9, maxModelCalls: 10, budgetThresholds: [0.5, 0.9] },
    });
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("complete");
    const told = ofType(events, "budget").map(({ limit, threshold, used, max, scope }) => [limit, threshold, used, max, scope]);
    expect(told.toSorted()).toEqual([
      ["cost", 0.5, "0.1", "0.19", undefined],
      ["model-calls", 0.5, 5, 10, undefined],
      ["model-calls", 0.9, 9, 10, undefined],
      ["tool-calls", 0.5, 5, 9, undefined],
      ["tool-calls", 0.9, 9, 9, undefined],
      ["turns", 0.5, 5, 10, undefined],
      ["turns", 0.9, 9, 10, undefined],
    ]);
  });

  it("come by default at 50, 80 and 100 %, of shared budgets too, and not at all where nobody set a limit", async () => {
    const of = async (options: Partial<AgentOptions>, runnerOptions: RunnerOptions = {}) => {
      const { agent } = agentWith([...repeated(looking(10), 9), spending(10)], options);
      const { events } = await watch(runnerOf(agent, runnerOptions).run("go"));
      return ofType(events, "budget").map(({ limit, threshold, scope }) => [limit, threshold, scope].join(" ").trim());
    };
    expect(await of({ limits: { maxTurns: 10 } })).toEqual(["turns 0.5", "turns 0.8", "turns 1"]);
    expect(await of({}, { budgets: [{ id: "b", maxModelCalls: 10 }] })).toEqual([
      "model-calls 0.5 b",
      "model-calls 0.8 b",
      "model-calls 1 b",
    ]);
    expect(await of({ limits: { maxTurns: 10, budgetThresholds: [] } })).toEqual([]);
    expect(await of({})).toEqual([]);
  });

  it("tell of time, too", async () => {
    const clock = impatientClock();
    const look = recordingTool("look", { effect: "read", output: () => clock.advance(1000) });
    const { agent } = agentWith([looking(1), looking(1), spending(1)], { tools: [look], limits: { maxDurationMs: 3000 } });
    const { events } = await watch(runnerOf(agent, { clock }).run("go"));
    expect(ofType(events, "budget")).toMatchObject([{ limit: "duration", threshold: 0.5, used: 2000, max: 3000 }]);
  });

  it("are told to whoever manages runs, who may notify, adjust or end the run [LE-01]", async () => {
    const told: unknown[] = [];
    const { agent } = agentWith(repeated(looking(40)), { limits: { maxCost: "1" } });
    const run = runnerOf(agent, {
      onLifecycleEvent(event, source) {
        told.push([event.type, event.type === "budget" && event.threshold, source.id]);
        if (event.type === "budget" && event.threshold === 0.8) void source.abort();
      },
    }).run("go");
    const { outcome } = await watch(run);
    expect(outcome.reason).toBe("aborted");
    expect(Number(outcome.cost)).toBeLessThan(0.9);
    expect(told).toEqual([
      ["budget", 0.5, run.id],
      ["budget", 0.8, run.id],
    ]);
  });

  it("are told among the other facts that telemetry wants: retries, other models, and limits of vendors [LE-03]", async () => {
    const told: LifecycleEvent[] = [];
    const overloaded = { error: { kind: "server-error", message: "overloaded", retryAfterMs: 7 } } as const;
    const clock = impatientClock();
    const log = createMemoryEventLog({ now: () => clock.now() });
    const agent = createAgent({
      name: "a",
      model: scriptedModel([overloaded, overloaded], { name: "scripted/first" }),
      fallbackModel: scriptedModel(["done"], { name: "scripted/second" }),
      limits: { maxRetries: 1 },
    });
    const { events, outcome } = await watch(runnerOf(agent, { clock, log, onLifecycleEvent: (event) => void told.push(event) }).run("go"));
    expect(outcome.reason).toBe("complete");
    const facts = events.flatMap((event) => (event.type === "retry" || event.type === "model-switch" ? [[event.type, event.at]] : []));
    expect(facts.map(([type]) => type)).toEqual(["retry", "model-switch", "retry"]);
    expect(told.map((event) => event.type === "observable" && [event.name, event.at])).toEqual(facts);
    expect(told[1]).toMatchObject({ attributes: { from: "scripted/first", to: "scripted/second", reason: "server-error" } });
  });

  it("reach an orchestrator, which cancels the dispatch; a listener that throws harms nobody [LE-01]", async () => {
    const { agent } = agentWith(repeated(looking(40)), { limits: { maxCost: "1" } });
    const runner = runnerOf(agent, {
      onLifecycleEvent() {
        throw new Error("no");
      },
    });
    const told: unknown[] = [];
    const orchestrator = createLocalOrchestrator({
      operators: { a: agentOperator(runner as never, "a") },
      onEvent(event, { id, operator }) {
        if (event.type !== "budget") return;
        told.push([operator, event.limit, event.threshold]);
        void orchestrator.cancel(id, "stop");
      },
    });
    const output = await orchestrator.dispatch("a" as OperatorId, {
      message: [{ type: "text", text: "go" }],
      trigger: "task",
      metadata: {},
    });
    expect(output.exitReason).toEqual({ type: "stopped" });
    expect(told).toEqual([["a", "cost", 0.5]]);
  });
});

describe("a model whose price nobody knows", () => {
  const unpriced = (options: Partial<AgentOptions> = {}) =>
    createAgent({ name: "a", model: scriptedModel(["hi"], { name: "nobody/knows" }), ...options });

  it("is not called under a limit of money, and the error names the choice [LA-07]", async () => {
    expect(() => createRunner({ agent: unpriced({ limits: { maxCost: "1" } }) })).toThrow(/limits\.unknownPrice to "allow"/);
    expect(() => createRunner({ agent: unpriced(), budgets: [{ id: "team", maxCost: "1" }] })).toThrow(
      /budget "team" can't hold.*`unknownPrice` to "allow"/,
    );
    expect(createRunner({ agent: unpriced(), budgets: [{ id: "team", maxTokens: 99_999 }] })).toBeDefined();
    const late = await runnerOf(unpriced()).run("go", { limits: { maxCost: "1" } }).outcome;
    expect(late.error?.failure).toMatchObject({ kind: "invalid-option", option: "limits.maxCost" });
    expect(late.error?.message).toMatch(/limits\.unknownPrice to "allow"/);
    const shared = await runnerOf(unpriced()).run("go", { budgets: [{ id: "team", maxCost: "1" }] }).outcome;
    expect(shared.error?.failure).toMatchObject({ kind: "invalid-option", option: "budgets" });
  });

  it("is called where the limit allows it: it counts nothing, and the cost is unknown", async () => {
    const ledger = createMemoryBudgetLedger();
    const runner = runnerOf(unpriced({ limits: { maxCost: "1", unknownPrice: "allow" } }), {
      ledger,
      budgets: [{ id: "team", maxCost: "1", unknownPrice: "allow" }],
    });
    const { outcome, events } = await watch(runner.run("go"));
    expect(outcome).toMatchObject({ reason: "complete", cost: null });
    expect(await ledger.spent("team")).toBe("0");
    expect(ofType(events, "usage")[0]).toMatchObject({ cost: null });
    const chosen = await runnerOf(unpriced()).run("go", { limits: { maxCost: "1", unknownPrice: "allow" } }).outcome;
    expect(chosen).toMatchObject({ reason: "complete", cost: null });
  });

  it("is not called where one of the limits above it refuses, whatever it says itself", async () => {
    const helper = createAgent({
      name: "helper",
      model: scriptedModel(["hi"], { name: "nobody/knows" }),
      limits: { maxCost: "1", unknownPrice: "allow" },
    });
    const model = scriptedModel([{ toolCalls: [{ name: "helper", input: { task: "x" } }] }, "told"], { price: free });
    const lead = createAgent({ name: "lead", model, limits: { maxCost: "1" }, tools: [agentTool(helper)] });
    const { events } = await watch(runnerOf(lead).run("go"));
    expect(ofType(events, "tool-result").find(({ path }) => path === undefined)).toMatchObject({
      isError: true,
      output: expect.stringContaining("price of nobody/knows is unknown"),
    });
    const strict = await runnerOf(unpriced({ limits: { unknownPrice: "refuse" } })).run("go", {
      limits: { maxCost: "1", unknownPrice: "allow" },
    }).outcome;
    expect(strict.reason).toBe("error");
  });
});
