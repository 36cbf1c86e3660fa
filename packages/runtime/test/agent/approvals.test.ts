import { createAgent, createRunner } from "keelson";
import { createEphemeralApprovalKeys, thresholdGate } from "keelson/agent";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { AgentError, type Approver, type Decision } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, types, watch } from "./support.ts";

const deploy = (input: object = { to: "staging" }): ScriptedTurn => ({ toolCalls: [{ name: "deploy", input: input as never }] });

function agentWith(turns: readonly ScriptedTurn[], options: Partial<Parameters<typeof createAgent>[0]> = {}) {
  const tool = recordingTool("deploy", { effect: "write", risk: "high", output: (input) => ({ deployed: input }) as never });
  const model = scriptedModel(turns);
  return { tool, model, agent: createAgent({ name: "a", model, tools: [tool], ...options }) };
}

const answer =
  (decision: Decision): Approver =>
  (request) =>
    request.type === "approval" ? decision : undefined;

describe("a call that must be asked about", () => {
  it("suspends the run when nobody can answer here, and goes on under the same id once somebody did [AV-01, OP-08, EV-19, RN-08]", async () => {
    const shared = sharedServices();
    const { agent, tool } = agentWith([deploy(), "done"]);
    const first = createRunner({ ...shared, agent }).run("go", { session: "s" });
    const { events, outcome } = await watch(first);
    expect(outcome.reason).toBe("awaiting-approval");
    expect(types(events).at(-1)).toBe("run-suspend");
    expect(tool.calls).toEqual([]);
    const [wait] = outcome.waits ?? [];
    expect(wait).toMatchObject({ type: "approval", operation: "deploy" });
    const [request] = ofType(events, "approval-request");
    expect(request).toMatchObject({ question: "approval", operation: "deploy", risk: "high", input: { to: "staging" } });

    const other = createRunner({ ...shared, agent: agent.with({}) });
    expect(await other.approve(request?.token ?? "", { type: "allow", by: "ada" })).toEqual({ session: "s", runId: first.id });
    const resumed = await other.resume("s");
    expect(resumed.id).toBe(first.id);
    const second = await watch(resumed);
    expect(second.outcome).toMatchObject({ reason: "complete", text: "done", turns: 2 });
    expect(types(second.events).slice(0, 2)).toEqual(["run-resume", "approval-decision"]);
    expect(ofType(second.events, "approval-decision")[0]?.decision).toEqual({ type: "allow", by: "ada" });
    expect(tool.calls).toEqual([{ to: "staging" }]);
  });

  it("suspends again when it is resumed without an answer, with the same token [AV-01]", async () => {
    const shared = sharedServices();
    const { agent } = agentWith([deploy(), "done"]);
    const runner = createRunner({ ...shared, agent });
    const one = await runner.run("go", { session: "s" }).outcome;
    const two = await (await runner.resume("s")).outcome;
    expect(two.reason).toBe("awaiting-approval");
    expect(two.waits).toEqual(one.waits);
  });

  it.each<[string, Decision, string]>([
    ["allow", { type: "allow" }, "ran"],
    ["deny", { type: "deny", reason: "too late today" }, "declined"],
    ["allow-always", { type: "allow-always" }, "ran"],
  ])("takes the decision %s of a callback [AV-02, AV-04]", async (_name, decision, what) => {
    const { agent, tool } = agentWith([deploy(), "done"]);
    const { events, outcome } = await watch(runnerOf(agent, { approvals: answer(decision) }).run("go"));
    expect(outcome.reason).toBe("complete");
    const [result] = ofType(events, "tool-result");
    if (what === "ran") expect(tool.calls).toHaveLength(1);
    else {
      expect(tool.calls).toEqual([]);
      expect(result).toMatchObject({ isError: true, output: expect.stringContaining("too late today") });
    }
  });

  it("allowed always is not asked about again in its session, also by the next run; other arguments are [AV-02]", async () => {
    let asked = 0;
    const { agent, tool } = agentWith([deploy({ n: 1 }), deploy({ n: 1 }), "done", deploy({ n: 1 }), deploy({ n: 2 }), "done"]);
    const runner = runnerOf(agent.with({ loopGuard: false }), { approvals: () => (asked++, { type: "allow-always" }) });
    await runner.run("go", { session: "s" }).outcome;
    expect([asked, tool.calls.length]).toEqual([1, 2]);
    await runner.run("again", { session: "s" }).outcome;
    expect([asked, tool.calls.length]).toEqual([2, 4]);
  });

  it("aborted ends the whole run, and nothing of the response runs [AV-02]", async () => {
    const { agent, tool } = agentWith([{ toolCalls: [{ name: "deploy" }, { name: "deploy", input: { n: 2 } }] }, "never"]);
    const outcome = await runnerOf(agent, { approvals: answer({ type: "abort" }) }).run("go").outcome;
    expect([outcome.reason, tool.calls.length]).toEqual(["aborted", 0]);
  });

  it("allowed with other arguments runs with those, after they are validated [AV-02]", async () => {
    const { agent, tool } = agentWith([deploy(), "done"]);
    await runnerOf(agent, { approvals: answer({ type: "allow-modified", input: { to: "test" } }) }).run("go").outcome;
    expect(tool.calls).toEqual([{ to: "test" }]);
  });

  it("edited into what is not valid is asked about again, at most three times [AV-02]", async () => {
    const strict = recordingTool("deploy", { effect: "write", risk: "high" });
    const typed = {
      ...strict,
      parse: (input: unknown) =>
        typeof (input as { to?: unknown }).to === "string" ? { value: input } : { issues: [{ message: "to must be a text" }] },
    };
    const agent = createAgent({ name: "a", model: scriptedModel([deploy(), "done"]), tools: [typed] });
    let asked = 0;
    const { events } = await watch(runnerOf(agent, { approvals: () => (asked++, { type: "allow-modified", input: { to: 5 } }) }).run("go"));
    expect(asked).toBe(3);
    expect(strict.calls).toEqual([]);
    expect(ofType(events, "tool-result")[0]).toMatchObject({ isError: true, output: expect.stringContaining("to must be a text") });
  });

  it("edited into what a rule denies does not run [AV-02, MC-15]", async () => {
    const { agent, tool } = agentWith([deploy(), "done"], {
      permissions: { rules: [{ pattern: 'deploy(*"production"*)', behavior: "deny" }] },
    });
    const { events } = await watch(
      runnerOf(agent, { approvals: answer({ type: "allow-modified", input: { to: "production" } }) }).run("go"),
    );
    expect(tool.calls).toEqual([]);
    expect(ofType(events, "tool-result")[0]?.output).toContain("Not permitted");
  });

  it("can be answered by whoever iterates run.approvals() [AV-01]", async () => {
    const { agent, tool } = agentWith([deploy(), "done"]);
    const run = runnerOf(agent, { clock: { now: () => 1, after: () => () => {} } }).run("go");
    const deciding = (async () => {
      for await (const pending of run.approvals()) {
        await pending.decide({ type: "allow" });
        await expect(pending.decide({ type: "deny" })).rejects.toThrow(/decided already/);
      }
    })();
    expect((await run.outcome).reason).toBe("complete");
    await deciding;
    expect(tool.calls).toHaveLength(1);
  });

  it("waits for run.approvals() only so long, then suspends [AV-01]", async () => {
    const { agent } = agentWith([deploy(), "done"]);
    const clock = impatientClock();
    const run = runnerOf(agent, { clock, approvalWaitMs: 1234 }).run("go");
    const questions = run.approvals()[Symbol.asyncIterator]();
    const first = questions.next();
    expect((await run.outcome).reason).toBe("awaiting-approval");
    expect((await first).done).toBe(false);
    expect(clock.waits).toContain(1234);
  });

  it("several in one response are asked about together, and all waits are named", async () => {
    const shared = sharedServices();
    const { agent, tool } = agentWith([{ toolCalls: [1, 2, 3].map((n) => ({ name: "deploy", input: { n } })) }, "done"]);
    const runner = createRunner({ ...shared, agent });
    const outcome = await runner.run("go", { session: "s" }).outcome;
    expect(outcome.waits).toHaveLength(3);
    const tokens = (outcome.waits ?? []).flatMap((wait) => ("token" in wait ? [wait.token] : []));
    await runner.approve(tokens[0] ?? "", { type: "allow" });
    await runner.approve(tokens[1] ?? "", { type: "deny" });
    const again = await (await runner.resume("s")).outcome;
    expect(again.waits).toHaveLength(1);
    await runner.approve(tokens[2] ?? "", { type: "allow" });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    expect(tool.calls).toEqual([{ n: 1 }, { n: 3 }]);
  });

  it("that is decided by a callback which throws ends the run as a panic [ET-06]", async () => {
    const { agent, tool } = agentWith([deploy(), "never"]);
    const outcome = await runnerOf(agent, {
      approvals: () => {
        throw new Error("no idea");
      },
    }).run("go").outcome;
    expect(outcome.error?.failure).toMatchObject({ kind: "panic", callback: "approvals" });
    expect(tool.calls).toEqual([]);
  });

  it("passes a threshold of risk without asking, and asks above it [AP-06, AP-07, AV-03]", async () => {
    let asked = 0;
    const gate = (risk: "high" | "medium") => thresholdGate(risk, () => (asked++, { type: "deny" }));
    const one = agentWith([deploy(), "done"]);
    await runnerOf(one.agent, { approvals: gate("high") }).run("go").outcome;
    expect([asked, one.tool.calls.length]).toEqual([0, 1]);
    const two = agentWith([deploy(), "done"]);
    await runnerOf(two.agent, { approvals: gate("medium") }).run("go").outcome;
    expect([asked, two.tool.calls.length]).toEqual([1, 0]);
  });
});

describe("an approval token", () => {
  async function asked(shared = sharedServices()) {
    const { agent, tool } = agentWith([deploy(), "done"]);
    const runner = createRunner({ ...shared, agent });
    const run = runner.run("go", { session: "s" });
    const { events } = await watch(run);
    return { shared, runner, tool, token: ofType(events, "approval-request")[0]?.token ?? "" };
  }
  const refused = (reason: string) => expect.objectContaining({ failure: expect.objectContaining({ kind: "invalid-token", reason }) });

  it("works once [AV-01]", async () => {
    const { runner, token } = await asked();
    await runner.approve(token, { type: "allow" });
    await expect(runner.approve(token, { type: "allow" })).rejects.toEqual(refused("used"));
    await expect(runner.approve(token, { type: "deny" })).rejects.toEqual(refused("used"));
  });

  it("works for exactly one of many who use it at once [AV-01]", async () => {
    const { runner, token } = await asked();
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => runner.approve(token, { type: "allow" })));
    expect(tries.filter((attempt) => attempt.status === "fulfilled")).toHaveLength(1);
  });

  it("that was edited, forged or cut is refused [AV-01]", async () => {
    const { runner, token } = await asked();
    const [prefix, key, claims = "", signature] = token.split(".");
    const edited = Buffer.from(Buffer.from(claims, "base64url").toString().replace("deploy", "delete")).toString("base64url");
    await expect(runner.approve([prefix, key, edited, signature].join("."), { type: "allow" })).rejects.toEqual(refused("forged"));
    await expect(runner.approve(token.slice(0, -4), { type: "allow" })).rejects.toEqual(refused("forged"));
    await expect(runner.approve("let me in", { type: "allow" })).rejects.toEqual(refused("malformed"));
    const foreign = await asked({ ...sharedServices() });
    await expect(runner.approve(foreign.token, { type: "allow" })).rejects.toEqual(refused("forged"));
  });

  it("expires [AV-01]", async () => {
    const { runner, token, shared } = await asked();
    (shared.clock as ReturnType<typeof impatientClock>).advance(8 * 24 * 60 * 60_000);
    await expect(runner.approve(token, { type: "allow" })).rejects.toEqual(refused("expired"));
  });

  it("whose key ended with its process is replaced by one that works, for the same decision [AV-01]", async () => {
    const { shared, token } = await asked();
    const { agent, tool } = agentWith([deploy(), "done"]);
    const later = createRunner({ ...shared, approvalKeys: createEphemeralApprovalKeys(), agent });
    await expect(later.approve(token, { type: "allow" })).rejects.toEqual(refused("forged"));
    const { waits } = await (await later.resume("s")).outcome;
    const [wait] = waits ?? [];
    if (wait?.type !== "approval") throw new Error("it does not wait for an approval");
    expect(wait.token).not.toBe(token);
    expect(await (await later.resume("s")).outcome).toMatchObject({ waits: [{ token: wait.token }] });
    await later.approve(wait.token, { type: "allow" });
    // Where the old key still is, its token is one for the decision that was taken.
    await expect(createRunner({ ...shared, agent }).approve(token, { type: "deny" })).rejects.toEqual(refused("used"));
    const model = scriptedModel(["done"]);
    const resumed = await createRunner({ ...shared, approvalKeys: createEphemeralApprovalKeys(), agent: agent.with({ model }) }).resume(
      "s",
    );
    expect(await resumed.outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(tool.calls).toEqual([{ to: "staging" }]);
  });

  it("of a run that is over is refused, and a decision that does not fit the question too [AV-02]", async () => {
    const { runner, token } = await asked();
    await expect(runner.approve(token, { type: "retry" })).rejects.toThrow(/Decide one of allow, deny/);
    await runner.approve(token, { type: "deny" });
    await (
      await runner.resume("s")
    ).outcome;
    await expect(runner.approve(token, { type: "allow" })).rejects.toEqual(refused("used"));
  });

  it("is bound to the tool as it was: a changed tool is asked about anew [AV-01]", async () => {
    const shared = sharedServices();
    const { agent } = agentWith([deploy(), "done"]);
    const { events } = await watch(createRunner({ ...shared, agent }).run("go", { session: "s" }));
    const token = ofType(events, "approval-request")[0]?.token ?? "";
    const changed = recordingTool("deploy", { effect: "write", risk: "high" });
    const later = createRunner({ ...shared, agent: agent.with({ tools: [{ ...changed, version: "2" }] }) });
    await later.approve(token, { type: "allow" });
    const resumed = await watch(await later.resume("s"));
    expect(changed.calls).toEqual([]);
    expect(resumed.outcome.reason).toBe("awaiting-approval");
    expect(types(resumed.events)).toContain("definition-change");
  });

  it.each<unknown>([
    undefined,
    null,
    {},
    [],
    "allow",
    { type: "perhaps" },
    { type: "other", raw: {} },
    { type: "allow-modified" },
    { type: "deny", reason: 5 },
  ])("refuses the decision %j, which leaves the question open [AV-02]", async (decision) => {
    const { runner, token, tool } = await asked();
    await expect(runner.approve(token, decision as Decision)).rejects.toMatchObject({
      failure: { kind: "invalid-option", option: "decision" },
    });
    expect((await (await runner.resume("s")).outcome).reason).toBe("awaiting-approval");
    expect(tool.calls).toEqual([]);
  });

  it.each<unknown>([{ type: "allow-modified" }, { type: "allow-always", rules: ["read"] }, { type: "deny", reason: 5 }])(
    "refuses the decision %j of a callback, and ends the run",
    async (decision) => {
      const { agent, tool } = agentWith([deploy(), "done"]);
      const { outcome } = await watch(runnerOf(agent, { approvals: answer(decision as Decision) }).run("go"));
      expect(outcome.error?.failure).toMatchObject({ kind: "panic", callback: "approvals" });
      expect(tool.calls).toEqual([]);
    },
  );

  it.each<unknown>([undefined, null, {}, { type: "perhaps" }])("refuses the decision %j of a watcher", async (decision) => {
    const { agent, tool } = agentWith([deploy(), "done"]);
    const run = runnerOf(agent, { clock: { now: () => 1, after: () => () => {} } }).run("go");
    for await (const question of run.approvals()) {
      await expect(question.decide(decision as Decision)).rejects.toMatchObject({
        failure: { kind: "invalid-option", option: "decision" },
      });
      await question.decide({ type: "deny" });
    }
    expect((await run.outcome).reason).toBe("complete");
    expect(tool.calls).toEqual([]);
  });

  it("is an AgentError that says what to do [ET-03]", async () => {
    const { runner } = await asked();
    const error: unknown = await runner.approve("x", { type: "allow" }).catch((caught: unknown) => caught);
    expect(AgentError.is(error, "invalid-token")).toBe(true);
  });
});
