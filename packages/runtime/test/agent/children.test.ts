import { agentTool, createAgent, createRunner, usd, type Agent, type AgentEvent, type AgentOptions, type Run } from "keelson";
import { ruleAfter } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { operatorToTool } from "keelson/tools";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, watch } from "./support.ts";

const ask = (name = "helper", task = "look into it"): ScriptedTurn => ({ toolCalls: [{ name, input: { task } }] });
const price = { input: "1000", output: "1000", asOf: "2026-01-01" };

function helperWith(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns, { price });
  return { model, agent: createAgent({ name: "helper", model, ...options }) };
}

function parentOf(helper: ReturnType<typeof createAgent>, turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns, { price });
  return { model, agent: createAgent({ name: "lead", model, ...options, tools: [agentTool(helper), ...(options.tools ?? [])] }) };
}

describe("an agent as a tool", () => {
  it("runs as a child with its own log, told only its task; its response is the result [LA-14, AG-30, OR-05]", async () => {
    const helper = helperWith(["It is the lock."], { description: "Looks into things.", instructions: "You look." });
    const lead = parentOf(helper.agent, [ask(), "Fixed."], { instructions: "You lead." });
    const runner = runnerOf(lead.agent);
    const { events, outcome } = await watch(runner.run("go", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "complete", text: "Fixed." });
    expect(lead.model.requests[0]?.tools).toMatchObject([
      { name: "helper", description: "Looks into things.", inputSchema: { required: ["task"] } },
    ]);
    expect(helper.model.requests).toMatchObject([
      { system: "You look.", messages: [{ role: "user", content: [{ type: "text", text: "look into it" }] }] },
    ]);
    const result = ofType(events, "tool-result").find(({ path }) => path === undefined);
    expect(result).toMatchObject({ name: "helper", output: "It is the lock.", isError: false });
    expect(ofType(events, "tool-end").map(({ callId }) => callId)).toEqual([result?.callId]);
    const [start] = ofType(events, "child-start");
    expect(start).toMatchObject({ callId: result?.callId, agent: "helper", child: expect.stringMatching(/^r_/) });
    const child = await runner.sessions.get(start?.session ?? "");
    expect(child.run).toMatchObject({ id: start?.child, status: "ended", reason: "complete" });
    expect((await runner.sessions.list()).map(({ id }) => id)).toEqual(["s"]);
    expect((await runner.sessions.list({ children: true })).map(({ id }) => id).sort()).toEqual(["s", start?.session]);
    expect(lead.agent.subAgents).toEqual(["helper"]);
  });

  it("shows its events to the parent's watchers, with the path that leads to it [WE-02]", async () => {
    const deep = createAgent({ name: "deep", model: scriptedModel(["bottom"]) });
    const helper = helperWith([ask("deep"), "middle"], { tools: [agentTool(deep)] });
    const { events } = await watch(runnerOf(parentOf(helper.agent, [ask(), "top"]).agent).run("go"));
    const ends = ofType(events, "run-complete").map(({ path, text }) => [path, text]);
    expect(ends).toEqual([
      [["helper", "deep"], "bottom"],
      [["helper"], "middle"],
      [undefined, "top"],
    ]);
    const deltas = ofType(events, "text-delta").map(({ path, text }) => [path?.join("/") ?? "", text]);
    expect(deltas).toEqual([
      ["helper/deep", "bottom"],
      ["helper", "middle"],
      ["", "top"],
    ]);
    const own = events.filter((event) => event.path === undefined && "seq" in event).map((event) => (event as { seq: number }).seq);
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  });

  it("may say more than its parent is told: the rest can be read", async () => {
    const helper = helperWith(["x".repeat(200_000)]);
    const { events } = await watch(runnerOf(parentOf(helper.agent, [ask(), "Fixed."]).agent).run("go"));
    expect(ofType(events, "tool-result")).toMatchObject([{ name: "helper", blob: expect.stringMatching(/^sha256:/) }]);
  });

  it("counts in the parent's usage and cost [OP-11, LA-07]", async () => {
    const usage = { inputTokens: 1000, outputTokens: 0 };
    const helper = helperWith([{ text: "found", usage }]);
    const { events, outcome } = await watch(
      runnerOf(
        parentOf(helper.agent, [
          { ...(ask() as object), usage },
          { text: "done", usage },
        ]).agent,
      ).run("go"),
    );
    expect(outcome).toMatchObject({ usage: { inputTokens: 3000 }, cost: usd("3") });
    expect(ofType(events, "child-end")).toMatchObject([{ reason: "complete", usage: { inputTokens: 1000 }, cost: "1" }]);
  });

  it("never looks like an empty success when it failed or ended early: the model is told what happened, with what there was [OP-08, TE-01]", async () => {
    const cases: readonly (readonly [ReturnType<typeof helperWith>, RegExp])[] = [
      [helperWith([{ error: { kind: "authentication", message: "who are you?" } }]), /helper ended early: error[^]*who are you\?/],
      [
        helperWith([{ text: "so far", toolCalls: [{ name: "none" }] }], { limits: { maxTurns: 1 } }),
        /helper ended early: max-turns[^]*so far/,
      ],
      [helperWith([{ text: "not that", stopReason: "content-filter" }]), /helper ended early: safety-stop/],
      [
        helperWith([{ text: "Half of it.", toolCalls: [{ name: "none" }] }, { error: { kind: "billing", message: "no funds" } }]),
        /helper ended early: error[^]*no funds[^]*What it had so far:\nHalf of it\./,
      ],
      [helperWith(["", "", ""]), /helper ended early: error[^]*empty response/],
      [helperWith([{ toolCalls: [{ name: "none" }] }, "", " "]), /^\[helper ended without an output \(no-action\)/],
      [helperWith([{ text: "", stopReason: "stop-sequence" }]), /^\[helper ended without an output \(no-action\)/],
    ];
    for (const [helper, expected] of cases) {
      const { events, outcome } = await watch(runnerOf(parentOf(helper.agent, [ask(), "alone then"]).agent).run("go"));
      const result = ofType(events, "tool-result").find(({ path }) => path === undefined);
      expect(outcome).toMatchObject({ reason: "complete", text: "alone then" });
      expect(result?.output).toMatch(expected);
      expect(result?.isError).toBe(true);
    }
  });

  it("works beside others and beside leaves in one batch; results stand in call order [CE-24, LA-14]", async () => {
    const notes: string[] = [];
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const slow = createAgent({ name: "slow", model: scriptedModel([{ text: "slow answer", wait: gate }]) });
    const quick = createAgent({
      name: "quick",
      model: scriptedModel([{ text: "quick answer", wait: async () => void notes.push("quick") }]),
    });
    const look = recordingTool("look", { effect: "read", output: () => (notes.push("look"), release(), "seen") });
    const model = scriptedModel([
      { toolCalls: [{ name: "slow", input: { task: "a" } }, { name: "look" }, { name: "quick", input: { task: "b" } }] },
      "done",
    ]);
    const agent = createAgent({ name: "lead", model, tools: [agentTool(slow), agentTool(quick), look] });
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(notes.sort()).toEqual(["look", "quick"]);
    expect(
      ofType(events, "tool-result")
        .filter(({ path }) => path === undefined)
        .map(({ output }) => output),
    ).toEqual(["slow answer", "seen", "quick answer"]);
  });

  it("may be told more than a task, and be configured by the tool that stands for it [TL-06, OP-05]", async () => {
    const look = recordingTool("look", { effect: "read" });
    const other = recordingTool("other", { effect: "read" });
    const helper = helperWith([{ toolCalls: [{ name: "look" }] }, { toolCalls: [{ name: "other" }] }, "never"], {
      instructions: "You look.",
      tools: [look, other],
    });
    const tool = operatorToTool({
      name: "inspect",
      description: "Inspects a file.",
      operator: "helper",
      input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      config: { maxTurns: 2, allowedOperators: ["look"], systemAddendum: "Be quick." },
      message: (input) => `Inspect ${String((input as { path: string }).path)}.`,
    });
    const model = scriptedModel([{ toolCalls: [{ name: "inspect", input: { path: "a.ts" } }] }, "done"]);
    const lead = createAgent({ name: "lead", model, tools: [tool] });
    const runner = createRunner({ clock: impatientClock(), agents: { lead, helper: helper.agent } });
    const { events } = await watch(runner.run("go", { agent: "lead" }));
    expect(helper.model.requests[0]).toMatchObject({
      system: "You look.\n\nBe quick.",
      messages: [{ content: [{ text: "Inspect a.ts." }] }],
      tools: [{ name: "look" }],
    });
    expect([helper.model.requests.length, look.calls.length, other.calls.length]).toEqual([2, 1, 0]);
    expect(ofType(events, "child-end")[0]?.reason).toBe("max-turns");
    expect(ofType(events, "run-start").find(({ agent }) => agent === "helper")?.metadata).toEqual({ input: { path: "a.ts" } });
  });
});

describe("the authority of a child", () => {
  it("is its parent's, narrowed by its own rules and never widened [AG-19, AG-20]", async () => {
    const make = (parent: AgentOptions["permissions"], own: AgentOptions["permissions"]) => {
      const write = recordingTool("write", { effect: "write" });
      const erase = recordingTool("erase", { effect: "write" });
      const helper = helperWith([{ toolCalls: [{ name: "write" }, { name: "erase" }] }, "done"], {
        tools: [write, erase],
        ...(own && { permissions: own }),
      });
      return { write, erase, agent: parentOf(helper.agent, [ask(), "done"], parent && { permissions: parent }).agent };
    };
    const cases = [
      [{ mode: "plan-only" }, { mode: "bypass-all" }, [0, 0]],
      [
        { mode: "bypass-all", rules: [{ pattern: "erase", behavior: "deny" }] },
        { mode: "bypass-all", rules: [{ pattern: "erase", behavior: "allow" }] },
        [1, 0],
      ],
      [{ mode: "bypass-all" }, { rules: [{ pattern: "write", behavior: "deny" }] }, [0, 1]],
      [{ mode: "bypass-all" }, undefined, [1, 1]],
    ] as const;
    for (const [parent, own, ran] of cases) {
      const { write, erase, agent } = make(parent, own);
      const { events } = await watch(runnerOf(agent).run("go"));
      expect(ofType(events, "child-end")).toHaveLength(1);
      expect([write.calls.length, erase.calls.length]).toEqual(ran);
    }
  });

  it("lets it call no tool that its parent may not call [AG-09]", async () => {
    const look = recordingTool("look", { effect: "read" });
    const helper = helperWith([{ toolCalls: [{ name: "look" }] }, "done"], { tools: [look] });
    await runnerOf(parentOf(helper.agent, [ask(), "done"], { allowedTools: ["helper"] }).agent).run("go").outcome;
    expect([look.calls.length, helper.model.requests[0]?.tools]).toEqual([0, undefined]);
  });

  it("ends where agents are nested too deep: the model is told", async () => {
    const agents: Agent[] = [createAgent({ name: "a3", model: scriptedModel(["never"]) })];
    for (const name of ["a2", "a1", "a0"])
      agents.unshift(
        createAgent({ name, model: scriptedModel([ask(agents[0]?.name), `${name} done`]), tools: [agentTool(agents[0] as Agent)] }),
      );
    const { events, outcome } = await watch(runnerOf(agents[0] as never, { maxDepth: 2 }).run("go"));
    expect(outcome.text).toBe("a0 done");
    const refused = ofType(events, "tool-result").filter(({ isError }) => isError);
    expect(refused).toMatchObject([{ path: ["a1", "a2"], output: expect.stringContaining("limit of nested agents") }]);
  });
});

describe("a child that waits", () => {
  const deploying = () => {
    const deploy = recordingTool("deploy", { effect: "write", risk: "high" });
    const helper = helperWith([{ toolCalls: [{ name: "deploy" }] }, "deployed"], { tools: [deploy] });
    return { deploy, ...parentOf(helper.agent, [ask(), "all done"]) };
  };

  it("suspends its parent, which says who waits for what; decided, both go on under their ids [OP-08, AV-01]", async () => {
    const shared = sharedServices();
    const { agent, deploy } = deploying();
    const first = createRunner({ ...shared, agent }).run("go", { session: "s" });
    const { outcome } = await watch(first);
    expect(outcome).toMatchObject({ reason: "awaiting-approval", waits: [{ type: "approval", operation: "deploy", path: ["helper"] }] });
    const later = createRunner({ ...shared, agent });
    const token = (outcome.waits?.[0] as { readonly token: string }).token;
    const decided = await later.approve(token, { type: "allow" });
    expect(decided.session).not.toBe("s");
    const resumed = await later.resume("s");
    expect(resumed.id).toBe(first.id);
    const second = await watch(resumed);
    expect(second.outcome).toMatchObject({ reason: "complete", text: "all done" });
    expect(deploy.calls).toHaveLength(1);
    expect(ofType(second.events, "child-end")).toMatchObject([{ child: decided.runId, reason: "complete" }]);
  });

  it("has no result yet that rules could judge", async () => {
    const shared = sharedServices();
    const seen: unknown[] = [];
    const deploy = recordingTool("deploy", { effect: "write", risk: "high" });
    const helper = helperWith([{ toolCalls: [{ name: "deploy" }] }, "deployed"], { tools: [deploy] });
    const rules = [ruleAfter("execute-tool", "look", 0, ({ output }) => void seen.push(output))];
    const runner = createRunner({ ...shared, agent: parentOf(helper.agent, [ask(), "all done"], { rules }).agent });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    expect(seen).toEqual([]);
    await runner.approve((waits?.[0] as { readonly token: string }).token, { type: "allow" });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    expect(seen).toEqual([{ output: "deployed", isError: false }]);
  });

  it("ends with its parent, which is stopped before anybody decided", async () => {
    const shared = sharedServices();
    const { agent, deploy } = deploying();
    const runner = createRunner({ ...shared, agent });
    await runner.run("go", { session: "s" }).outcome;
    const run = await runner.resume("s");
    await run.stop();
    const { events, outcome } = await watch(run);
    expect([outcome.reason, deploy.calls.length]).toEqual(["stopped", 0]);
    expect(ofType(events, "child-end").map(({ reason }) => reason)).toEqual(["stopped"]);
    expect(
      ofType(events, "tool-result")
        .filter(({ path }) => path === undefined)
        .map(({ output }) => output),
    ).toEqual([expect.stringMatching(/^\[helper ended early: stopped\]/)]);
  });

  it("beside another that waits: the parent waits for both", async () => {
    const shared = sharedServices();
    const tools = ["one", "two"].map((name) => recordingTool(name, { effect: "write", risk: "high" }));
    const helpers = tools.map((tool, index) =>
      createAgent({
        name: `helper${index}`,
        model: scriptedModel([{ toolCalls: [{ name: tool.name }] }, `${tool.name} done`]),
        tools: [tool],
      }),
    );
    const model = scriptedModel([{ toolCalls: helpers.map(({ name }) => ({ name, input: { task: "t" } })) }, "both done"]);
    const agent = createAgent({ name: "lead", model, tools: helpers.map((helper) => agentTool(helper)) });
    const runner = createRunner({ ...shared, agent });
    const first = await runner.run("go", { session: "s" }).outcome;
    expect(first.waits?.map((wait) => [wait.path, "operation" in wait && wait.operation])).toEqual([
      [["helper0"], "one"],
      [["helper1"], "two"],
    ]);
    const [one, two] = first.waits as unknown as readonly { readonly token: string }[];
    await runner.approve(two?.token ?? "", { type: "allow" });
    const second = await (await runner.resume("s")).outcome;
    expect(second.waits).toMatchObject([{ path: ["helper0"], operation: "one" }]);
    await runner.approve(one?.token ?? "", { type: "deny" });
    expect(await (await runner.resume("s")).outcome).toMatchObject({ reason: "complete", text: "both done" });
    expect(tools.map(({ calls }) => calls.length)).toEqual([0, 1]);
  });
});

describe("stopping a parent", () => {
  async function during(act: (run: Run) => Promise<void>, grace?: number) {
    let run: Run | undefined;
    const work = recordingTool("work", { effect: "write" });
    let reason: unknown;
    work.execute = async (_input, { signal, stopping }) => {
      await act(run as Run);
      await new Promise<void>((resolve) => {
        for (const each of [signal, stopping]) {
          if (each.aborted) resolve();
          else each.addEventListener("abort", () => resolve(), { once: true });
        }
      });
      reason = signal.aborted ? "aborted" : "stopping";
      return "finished";
    };
    const helper = helperWith([{ toolCalls: [{ name: "work" }] }, "never"], { tools: [work] });
    run = createRunner({ ...(grace !== undefined && { stopGraceMs: grace }), agent: parentOf(helper.agent, [ask(), "never"]).agent }).run(
      "go",
    );
    const { events, outcome } = await watch(run);
    return {
      outcome,
      reason,
      helper,
      ends: ofType(events, "child-end").map((event: AgentEvent & { readonly reason?: unknown }) => event.reason),
    };
  }

  it("gracefully lets the child finish the call that runs, then stops both [RN-04, RN-10]", async () => {
    const { outcome, reason, ends, helper } = await during((run) => run.stop());
    expect([outcome.reason, reason, ends, helper.model.requests.length]).toEqual(["stopped", "stopping", ["stopped"], 1]);
  });

  it("at once aborts the child too [RN-05, RN-10]", async () => {
    const { outcome, reason, ends } = await during((run) => run.abort());
    expect([outcome.reason, reason, ends]).toEqual(["aborted", "aborted", ["aborted"]]);
  });
});
