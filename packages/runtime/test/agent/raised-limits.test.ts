import { AgentError, type ApprovalRequest, type Decision, type OpenQuestion } from "@keelson/protocol";
import { agentTool, createAgent, createRunner, type Agent, type AgentOptions, type RunnerOptions } from "keelson";
import { summarise } from "keelson/context";
import { createMemoryBudgetLedger } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, sharedServices, types, watch } from "./support.ts";

/** A tenth of a cent for each token of output, nothing for input: a call may cost up to ten cents. */
const price = { input: "0", output: "1000", asOf: "2026-01-01" };
const looking = (outputTokens: number): ScriptedTurn => ({ toolCalls: [{ name: "look", input: {} }], usage: { outputTokens } });
const ended: ScriptedTurn = { text: "done", usage: { outputTokens: 80 } };
const SESSION = "s";

function agentOf(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns, { price });
  const look = recordingTool("look", { effect: "read" });
  const { limits, ...others } = options;
  const agent = createAgent({
    name: "a",
    model,
    tools: [look],
    loopGuard: false,
    settings: { maxTokens: 100 },
    limits: { maxCost: "0.2", onBudget: "ask", ...limits },
    ...others,
  });
  return { model, look, agent };
}

/** Runners that share what processes share, each with a ledger of its own in memory. */
function processes(agent: Agent, options: RunnerOptions = {}) {
  const services = sharedServices();
  return () => createRunner({ ...services, ledger: createMemoryBudgetLedger(), ...options, agent });
}

async function theQuestion(runner: { readonly approvals: { list(): Promise<readonly OpenQuestion[]> } }): Promise<OpenQuestion> {
  const [question, ...others] = await runner.approvals.list();
  expect(others).toEqual([]);
  return question as OpenQuestion;
}

describe("a run whose own budget is met", () => {
  it("ends without a question if nobody asked for one", async () => {
    const { agent } = agentOf([looking(80), looking(80), ended], { limits: { onBudget: undefined } });
    const { outcome, events } = await watch(createRunner({ ...sharedServices(), agent }).run("go"));
    expect(outcome).toMatchObject({ reason: "budget-exhausted", cost: "0.16", limit: { name: "maxCost", limit: "0.2", used: "0.16" } });
    expect(types(events)).not.toContain("approval-request");
  });

  it("suspends with a question, spends nothing meanwhile, and continues the same turn in another process once it is allowed", async () => {
    const { agent, model } = agentOf([looking(80), looking(80), ended]);
    const open = processes(agent);
    const first = open();
    const { outcome, events } = await watch(first.run("go", { session: SESSION }));
    expect(outcome).toMatchObject({ reason: "awaiting-approval", cost: "0.16", turns: 2 });
    expect(outcome.waits).toMatchObject([{ type: "approval", operation: "budget", budget: { unit: "cost", limit: "0.2", used: "0.16" } }]);
    expect(ofType(events, "approval-request")[0]?.summary).toBe(
      "The run has used $0.16 of its limit of $0.2, and the rest does not cover what comes next. Allow $0.2 more?",
    );
    expect(model.requests).toHaveLength(2);
    const second = open();
    const question = await theQuestion(second);
    expect(question.input).toEqual({ usd: "0.2" });
    await second.approve(question.token, { type: "allow" });
    const resumed = await watch(await second.resume(SESSION));
    expect(resumed.outcome).toMatchObject({ reason: "complete", text: "done", cost: "0.24", turns: 3 });
    expect(ofType(resumed.events, "turn-start")).toHaveLength(0);
    expect(model.requests).toHaveLength(3);
  });

  it("adds another amount to the limit if that is what was allowed, asks again at the new limit, and counts everything on the ledger", async () => {
    const ledger = createMemoryBudgetLedger();
    const { agent } = agentOf([looking(80), looking(80), looking(80), ended]);
    const asked: ApprovalRequest[] = [];
    const amounts = ["0.05", 0.1];
    const runner = createRunner({
      ...sharedServices(),
      ledger,
      agent,
      approvals(request) {
        asked.push(request);
        return { type: "allow-modified", input: { usd: amounts[asked.length - 1] ?? "1" } };
      },
    });
    const run = runner.run("go");
    const { outcome } = await watch(run);
    expect(outcome).toMatchObject({ reason: "complete", cost: "0.32" });
    expect(asked.map(({ budget }) => budget)).toEqual([
      { unit: "cost", limit: "0.2", used: "0.16" },
      { unit: "cost", limit: "0.25", used: "0.16" },
    ]);
    expect(new Set(asked.map(({ token }) => token)).size).toBe(2);
    expect(await ledger.spent(`run/${run.id}`)).toBe("0.32");
  });

  it("ends budget-exhausted with the limit and the reason if it is denied, and aborted if that is the answer", async () => {
    const decided = async (decision: Decision) => {
      const { agent } = agentOf([looking(80), looking(80), ended]);
      const runner = createRunner({ ...sharedServices(), agent, approvals: () => decision });
      return (await watch(runner.run("go"))).outcome;
    };
    expect(await decided({ type: "deny", reason: "too dear" })).toMatchObject({
      reason: "budget-exhausted",
      limit: { name: "maxCost", limit: "0.2", used: "0.16" },
      why: "too dear",
    });
    expect(await decided({ type: "abort", reason: "enough" })).toMatchObject({ reason: "aborted", why: "enough" });
  });

  it("refuses every answer that raises nothing, and stays open", async () => {
    const { agent } = agentOf([looking(80), looking(80), ended]);
    const runner = createRunner({ ...sharedServices(), agent });
    await runner.run("go", { session: SESSION }).outcome;
    const { token } = await theQuestion(runner);
    const wrong: readonly Decision[] = [
      { type: "allow-always" },
      { type: "retry" },
      { type: "supply", output: { usd: "1" } },
      { type: "fail" },
      ...[
        {},
        { usd: 0 },
        { usd: "-1" },
        { usd: "much" },
        { usd: null },
        { usd: [1] },
        { tokens: 5 },
        { usd: 1, tokens: 5 },
        "1",
        1,
        [],
        null,
      ].map((input): Decision => ({ type: "allow-modified", input: input as never })),
      { type: "allow-modified", input: { usd: "0.0000000000001" } },
      { type: "allow-modified", input: { usd: 1, scope: "team" } },
    ];
    for (const decision of wrong) {
      const error: unknown = await runner.approve(token, decision).catch((thrown: unknown) => thrown);
      expect([decision, AgentError.is(error, "invalid-option")]).toEqual([decision, true]);
    }
    await runner.approve(token, { type: "deny" });
    expect((await (await runner.resume(SESSION)).outcome).reason).toBe("budget-exhausted");
  });

  it("ends as a panic if the approvals callback answers with an amount that raises nothing", async () => {
    const { agent } = agentOf([looking(80), looking(80), ended]);
    const runner = createRunner({ ...sharedServices(), agent, approvals: () => ({ type: "allow-modified", input: { usd: 0 } }) });
    const { outcome } = await watch(runner.run("go"));
    expect(outcome).toMatchObject({ reason: "error", error: { failure: { kind: "panic", callback: "approvals" } } });
  });

  it("keeps its raised limit across a crash in the same turn, and never adds the amount twice", async () => {
    const broken: ScriptedTurn = { error: { kind: "server-error", retryable: true } as never };
    const { agent } = agentOf([looking(80), looking(80), broken, looking(80), ended], { limits: { maxRetries: 1 } });
    const open = processes(agent);
    await open().run("go", { session: SESSION }).outcome;
    const second = open();
    await second.approve((await theQuestion(second)).token, { type: "allow-modified", input: { usd: "0.1" } });
    const { outcome } = await watch(await second.resume(SESSION));
    expect(outcome).toMatchObject({ reason: "awaiting-approval", cost: "0.24" });
    const third = open();
    expect((await theQuestion(third)).budget).toEqual({ unit: "cost", limit: "0.3", used: "0.24" });
    await third.approve((await theQuestion(third)).token, { type: "allow" });
    expect(await (await third.resume(SESSION)).outcome).toMatchObject({ reason: "complete", cost: "0.32" });
  });

  it("asks about a limit of tokens as well, and adds tokens", async () => {
    const usage = { inputTokens: 10, outputTokens: 80 };
    const model = scriptedModel([
      { toolCalls: [{ name: "look", input: {} }], usage },
      { text: "done", usage },
    ]);
    const agent = createAgent({
      name: "a",
      model,
      tools: [recordingTool("look", { effect: "read" })],
      settings: { maxTokens: 100 },
      limits: { maxTokens: 700, onBudget: "ask" },
    });
    const runner = createRunner({ ...sharedServices(), agent });
    expect((await runner.run("go", { session: SESSION }).outcome).reason).toBe("awaiting-approval");
    const question = await theQuestion(runner);
    expect(question).toMatchObject({ budget: { unit: "tokens", limit: 700, used: 90 }, input: { tokens: 700 } });
    await runner.approve(question.token, { type: "allow-modified", input: { tokens: 5000 } });
    expect((await (await runner.resume(SESSION)).outcome).reason).toBe("complete");
  });

  it("tells of the thresholds of its raised limit again", async () => {
    const { agent } = agentOf([looking(80), looking(80), looking(80), ended]);
    const runner = createRunner({ ...sharedServices(), agent, approvals: () => ({ type: "allow" }) });
    const { events } = await watch(runner.run("go"));
    expect(ofType(events, "budget").map(({ max, threshold }) => [max, threshold])).toEqual([
      ["0.2", 0.5],
      ["0.2", 0.8],
      ["0.4", 0.5],
      ["0.4", 0.8],
    ]);
  });

  it("asks before a write that would start past the limit, and starts it once more is allowed", async () => {
    const put = recordingTool("put", { effect: "idempotent" });
    const dear: ScriptedTurn = { toolCalls: [{ name: "put", input: {} }], usage: { outputTokens: 250 } };
    const { agent } = agentOf([dear, ended], { tools: [put], permissions: { mode: "bypass-all" } });
    const open = processes(agent);
    const { outcome } = await watch(open().run("go", { session: SESSION }));
    expect(outcome).toMatchObject({ reason: "awaiting-approval", cost: "0.25" });
    expect(put.calls).toEqual([]);
    const second = open();
    await second.approve((await theQuestion(second)).token, { type: "allow-modified", input: { usd: "1" } });
    expect(await (await second.resume(SESSION)).outcome).toMatchObject({ reason: "complete" });
    expect(put.calls).toHaveLength(1);
  });

  it("asks before a summary of the conversation as well, and makes the summary once more is allowed", async () => {
    const summary: ScriptedTurn = { text: "It looked twice.", usage: { outputTokens: 80 } };
    const wordy = { ...(looking(80) as object), text: "word ".repeat(4000) };
    const { agent, model } = agentOf([wordy, wordy, wordy, wordy, summary, ended], {
      limits: { maxCost: "0.4" },
      compaction: { strategy: summarise({ keep: 1, maxTokens: 100 }), when: { maxMessages: 8 } },
    });
    const open = processes(agent);
    expect((await open().run("go", { session: SESSION }).outcome).reason).toBe("awaiting-approval");
    expect(model.requests).toHaveLength(4);
    const second = open();
    await second.approve((await theQuestion(second)).token, { type: "allow" });
    const { outcome, events } = await watch(await second.resume(SESSION));
    expect(outcome).toMatchObject({ reason: "complete", cost: "0.48" });
    expect(ofType(events, "compaction")[0]?.summary).toContain("It looked twice.");
  });

  it("takes the word of whoever starts the run on whether it asks, over that of the agent", async () => {
    const asking = agentOf([looking(80), looking(80), ended]);
    const first = createRunner({ ...sharedServices(), agent: asking.agent });
    expect((await first.run("go", { limits: { onBudget: "end" } }).outcome).reason).toBe("budget-exhausted");
    const ending = agentOf([looking(80), looking(80), ended], { limits: { onBudget: "end" } });
    const second = createRunner({ ...sharedServices(), agent: ending.agent });
    expect((await second.run("go", { limits: { onBudget: "ask" } }).outcome).reason).toBe("awaiting-approval");
  });
});

describe("a limit that is not the run's own", () => {
  it("is never raised: a shared budget ends the run without a question", async () => {
    const { agent } = agentOf([looking(80), looking(80), looking(80), ended], { limits: { maxCost: "5" } });
    const runner = createRunner({ ...sharedServices(), agent, budgets: [{ id: "team", maxCost: "0.2" }] });
    const { outcome, events } = await watch(runner.run("go"));
    expect(outcome).toMatchObject({ reason: "budget-exhausted", limit: { scope: "team", limit: "0.2" } });
    expect(types(events)).not.toContain("approval-request");
  });

  it("still ends a run whose own limit was raised past it", async () => {
    const { agent } = agentOf([looking(80), looking(80), looking(80), looking(80), ended]);
    const ledger = createMemoryBudgetLedger();
    const runner = createRunner({
      ...sharedServices(),
      ledger,
      agent,
      budgets: [{ id: "team", maxCost: "0.3" }],
      approvals: () => ({ type: "allow-modified", input: { usd: "100" } }),
    });
    const { outcome } = await watch(runner.run("go"));
    expect(outcome).toMatchObject({ reason: "budget-exhausted", limit: { scope: "team" } });
    expect(Number(await ledger.spent("team"))).toBeLessThanOrEqual(0.3);
  });

  it("is the parent's where a child asks: the child's raise leaves the parent's limit, which asks at the parent", async () => {
    const child = agentOf([looking(80), looking(80), ended, looking(80), looking(80), ended], {
      name: "child",
      limits: { maxCost: "0.2" },
    });
    const task: ScriptedTurn = { toolCalls: [{ name: "child", input: { task: "look" } }], usage: { outputTokens: 10 } };
    const parent = agentOf([task, { text: "over", usage: { outputTokens: 90 } }], {
      name: "parent",
      tools: [agentTool(child.agent)],
      limits: { maxCost: "0.3" },
    });
    const open = processes(parent.agent);
    const first = open();
    const { outcome } = await watch(first.run("go", { session: SESSION }));
    expect(outcome).toMatchObject({ reason: "awaiting-approval" });
    const ofChild = await theQuestion(first);
    expect(ofChild).toMatchObject({ budget: { limit: "0.2" }, rootSession: SESSION });
    expect(ofChild.session).not.toBe(SESSION);
    const second = open();
    await second.approve(ofChild.token, { type: "allow-modified", input: { usd: "50" } });
    expect((await (await second.resume(SESSION)).outcome).reason).toBe("awaiting-approval");
    const ofParent = await theQuestion(second);
    expect(ofParent).toMatchObject({ session: SESSION, budget: { limit: "0.3", used: "0.25" } });
    await second.approve(ofParent.token, { type: "allow" });
    expect(await (await second.resume(SESSION)).outcome).toMatchObject({ reason: "complete", text: "over", cost: "0.34" });
  });
});
