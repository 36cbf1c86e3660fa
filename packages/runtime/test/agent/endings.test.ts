import { createAgent, usd, type AgentOptions, type Run, type RunOptions, type RunOutcome } from "keelson";
import { budgetGuard } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, sharedServices, watch } from "./support.ts";

const price = { input: "1000", output: "1000", asOf: "2026-01-01" };
const usage = { inputTokens: 100, outputTokens: 100 };
const look: ScriptedTurn = { toolCalls: [{ name: "look", input: {} }], usage };
const looks = (count: number): readonly ScriptedTurn[] => Array.from({ length: count }, () => look);

function agentOf(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  return createAgent({
    name: "a",
    model: scriptedModel(turns, { price }),
    tools: [recordingTool("look", { effect: "read" })],
    loopGuard: false,
    ...options,
  });
}

/** What the outcome says of its end, also when another process reads it off the log. */
async function endOf(
  turns: readonly ScriptedTurn[],
  options: Partial<AgentOptions>,
  { run: given = {}, act }: { readonly run?: RunOptions; act?(run: Run): void } = {},
): Promise<Pick<RunOutcome, "reason" | "why"> & { readonly limit?: unknown }> {
  const runner = runnerOf(agentOf(turns, options), sharedServices());
  const run = runner.run("go", { session: "s", ...given });
  act?.(run);
  const { events, outcome } = await watch(run);
  const { reason, limit, why } = outcome;
  const told = { reason, ...(limit && { limit }), ...(why !== undefined && { why }) };
  const [complete] = ofType(events, "run-complete");
  expect(complete).toMatchObject(told);
  const { reason: again, limit: sameLimit, why: sameWhy } = await (await runner.resume("s")).outcome;
  expect({ reason: again, ...(sameLimit && { limit: sameLimit }), ...(sameWhy !== undefined && { why: sameWhy }) }).toEqual(told);
  return told;
}

describe("an outcome names the limit that ended its run, and what was used", () => {
  it("of turns and of model calls [EV-18, ET-01]", async () => {
    expect(await endOf(looks(3), { limits: { maxTurns: 2 } })).toEqual({
      reason: "max-turns",
      limit: { name: "maxTurns", limit: 2, used: 2 },
    });
    expect(await endOf(looks(4), { limits: { maxModelCalls: 3 } })).toEqual({
      reason: "max-turns",
      limit: { name: "maxModelCalls", limit: 3, used: 3 },
    });
  });

  it("of dollars and of tokens, as amounts that nobody has to parse out of a text [EV-18, ET-05, ET-18]", async () => {
    expect(await endOf(looks(9), { limits: { maxCost: "1" }, settings: { maxTokens: 200 } })).toEqual({
      reason: "budget-exhausted",
      limit: { name: "maxCost", limit: "1", used: expect.stringMatching(/^0\.\d+$/) },
    });
    const spent = await endOf(looks(9), { limits: { maxTokens: 1_000 }, settings: { maxTokens: 200 } });
    expect(spent).toEqual({ reason: "budget-exhausted", limit: { name: "maxTokens", limit: 1_000, used: expect.any(Number) } });
    expect((spent.limit as { readonly used: number }).used % 200).toBe(0);
  });

  it("of a budget that it shares, by name [ET-05, ET-18]", async () => {
    const budgets = [{ id: "team", maxTurns: 1 }];
    expect(await endOf(looks(2), {}, { run: { budgets } })).toEqual({
      reason: "budget-exhausted",
      limit: { name: "maxTurns", limit: 1, used: 1, scope: "team" },
    });
  });

  it("of time, its own or its caller's", async () => {
    const services = sharedServices();
    const slow = recordingTool("look", { effect: "read", output: () => (services.clock.advance(700), "seen") });
    const runner = runnerOf(agentOf(looks(9), { tools: [slow], limits: { maxDurationMs: 1_000 } }), services);
    const own = await runner.run("go").outcome;
    expect([own.reason, own.limit]).toEqual(["timeout", { name: "maxDurationMs", limit: 1_000, used: 1_400 }]);
    const deadline = services.clock.now() + 900;
    const callers = await runner.run("go", { deadline }).outcome;
    expect([callers.reason, callers.limit]).toEqual(["timeout", { name: "deadline", limit: deadline, used: deadline + 500 }]);
  });

  it("of a guard among its rules [CE-13]", async () => {
    expect(await endOf(looks(3), { rules: [budgetGuard({ maxToolCalls: 1 })] })).toEqual({
      reason: "budget-exhausted",
      limit: { name: "maxToolCalls", limit: 1, used: 1 },
      why: "called 1 tools, the limit",
    });
    expect((await endOf(looks(3), { rules: [budgetGuard({ maxCost: usd("0.1") })] })).limit).toEqual({
      name: "maxCost",
      limit: "0.1",
      used: "0.2",
    });
  });
});

describe("an outcome tells the reason that was given", () => {
  const waiting = (): Partial<AgentOptions> => ({ tools: [recordingTool("look", { risk: "high" })] });

  it("for aborting it and for stopping it [EV-19, RN-04, RN-05]", async () => {
    expect(await endOf(looks(1), {}, { act: (run) => void run.abort("the customer hung up") })).toEqual({
      reason: "aborted",
      why: "the customer hung up",
    });
    expect(await endOf(looks(1), {}, { act: (run) => void run.stop("lunch") })).toEqual({ reason: "stopped", why: "lunch" });
    expect(await endOf(looks(1), {}, { act: (run) => void run.abort() })).toEqual({ reason: "aborted" });
  });

  it("by the caller's signal", async () => {
    expect(await endOf(looks(1), {}, { run: { signal: AbortSignal.abort("shutting down") } })).toEqual({
      reason: "aborted",
      why: "shutting down",
    });
  });

  it.each(["stop", "abort"] as const)("to %s a run that waits, by whoever goes on with it", async (act) => {
    const services = sharedServices();
    const agent = agentOf(looks(1), waiting());
    const run = runnerOf(agent, services).run("go", { session: "s" });
    expect((await run.outcome).reason).toBe("awaiting-approval");
    await run[act]("no answer came");
    const outcome = await (await runnerOf(agent, services).resume("s")).outcome;
    expect(outcome).toMatchObject({ reason: act === "stop" ? "stopped" : "aborted", why: "no answer came" });
  });

  it("by whoever was asked and ended the run instead [AV-02]", async () => {
    const services = sharedServices();
    const runner = runnerOf(agentOf(looks(1), waiting()), services);
    const asked = await runner.run("go", { session: "s" }).outcome;
    const [wait] = asked.waits ?? [];
    await runner.approve((wait as { readonly token: string }).token, { type: "abort", reason: "this is production" });
    expect(await (await runner.resume("s")).outcome).toMatchObject({ reason: "aborted", why: "this is production" });
  });
});

describe("a run that gets nowhere", () => {
  const failing = () =>
    recordingTool("look", {
      effect: "read",
      output: () => {
        throw new Error("no such shelf");
      },
    });

  it("ends when every call of so many turns in a row failed, and says what the last one said [OP-08]", async () => {
    expect(await endOf(looks(5), { tools: [failing()], limits: { maxFailedTurns: 3 } })).toEqual({
      reason: "circuit-breaker",
      limit: { name: "maxFailedTurns", limit: 3, used: 3 },
      why: 'every tool call of the last 3 turns failed; the last was look: The tool "look" failed: no such shelf',
    });
    expect(await endOf(looks(20), { tools: [failing()] })).toMatchObject({ limit: { limit: 10, used: 10 } });
  });

  it("goes on where a call of a turn succeeded in between, beside others that failed [OP-08]", async () => {
    const both: ScriptedTurn = { toolCalls: [{ name: "look" }, { name: "read" }] };
    const tools = [failing(), recordingTool("read", { effect: "read" })];
    const turns = [look, look, both, look, look, "done"];
    expect(await endOf(turns, { tools, limits: { maxFailedTurns: 3 } })).toEqual({ reason: "complete" });
  });

  it("ends when it repeats itself though the loop guard refuses it, with what the guard said [OP-08]", async () => {
    const ended = await endOf(looks(9), { loopGuard: true, limits: { maxFailedTurns: 3 } });
    expect(ended).toMatchObject({ reason: "circuit-breaker", limit: { used: 3 } });
    expect(ended.why).toContain("This exact call was made 2 times already");
  });

  it("is known by its log, whichever process goes on with it [OP-08]", async () => {
    const services = sharedServices();
    const wipe: ScriptedTurn = { toolCalls: [{ name: "wipe" }] };
    const tools = [failing(), recordingTool("wipe", { risk: "high" })];
    const agent = agentOf([look, look, wipe, "never"], { tools, limits: { maxFailedTurns: 3 } });
    const [wait] = (await runnerOf(agent, services).run("go", { session: "s" }).outcome).waits ?? [];
    const other = runnerOf(agent, services);
    await other.approve((wait as { readonly token: string }).token, { type: "deny", reason: "leave it" });
    const outcome = await (await other.resume("s")).outcome;
    expect(outcome).toMatchObject({ reason: "circuit-breaker", limit: { used: 3 }, why: expect.stringContaining("leave it") });
  });
});
