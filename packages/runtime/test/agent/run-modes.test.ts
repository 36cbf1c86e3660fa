import { AgentError, inboxLog, type PermissionMode } from "@keelson/protocol";
import { agentTool, createAgent, createModelRegistry, createRunner, type Run, type SingleRunner, type Tool } from "keelson";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, sharedServices, types, watch } from "./support.ts";

const calling = (...names: readonly string[]): ScriptedTurn => ({ toolCalls: names.map((name) => ({ name, input: {} })) });

/** A tool that does something with the run that calls it. */
function acting(name: string, act: () => Promise<unknown> | undefined): Tool {
  const tool = recordingTool(name, { effect: "read" });
  return { ...tool, execute: async () => (await act(), "done") };
}

/** A run of an agent with the tools `switch`, which sets a mode, and `deploy`, which is dangerous. */
function modesRun(
  modes: readonly PermissionMode[],
  turns: readonly ScriptedTurn[],
  options: Partial<Parameters<typeof createAgent>[0]> = {},
  services = sharedServices(),
) {
  let run: Run | undefined;
  const left = [...modes];
  const deploy = recordingTool("deploy", { effect: "write", risk: "high" });
  const agent = createAgent({
    name: "a",
    model: scriptedModel(turns),
    tools: [acting("switch", () => run?.setPermissionMode(left.shift() as PermissionMode)), deploy],
    ...options,
  });
  const runner = runnerOf(agent, services) as SingleRunner;
  return { deploy, runner, services, agent, start: (given = {}) => (run = runner.run("go", { session: "s", ...given })) };
}

describe("the permission mode of a run", () => {
  it("that is set judges the calls of later responses, and not those of the response in which it was set", async () => {
    const { deploy, start } = modesRun(["bypass-all"], [calling("switch", "deploy"), calling("deploy"), "done"], {
      permissions: { mode: "plan-only" },
    });
    const { events, outcome } = await watch(start());
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "tool-result").map(({ name, isError }) => [name, isError])).toEqual([
      ["switch", false],
      ["deploy", true],
      ["deploy", false],
    ]);
    expect(deploy.calls).toHaveLength(1);
    const [switched] = ofType(events, "permission-mode-switch");
    expect([switched?.openCalls, switched?.from, switched?.to]).toEqual([undefined, "plan-only", "bypass-all"]);
  });

  it("that is set while a response streams judges the calls of that response, and the log says so", async () => {
    let run: Run | undefined;
    const deploy = recordingTool("deploy", { effect: "write", risk: "high" });
    const model = scriptedModel([
      async () => {
        await run?.setPermissionMode("plan-only");
        return { toolCalls: [{ name: "deploy", input: {} }] };
      },
      "done",
    ]);
    const agent = createAgent({ name: "a", model, tools: [deploy], permissions: { mode: "bypass-all" } });
    run = runnerOf(agent, sharedServices()).run("go");
    const { events } = await watch(run);
    expect(ofType(events, "tool-result")).toMatchObject([{ isError: true, output: expect.stringContaining("plan-only") }]);
    expect(deploy.calls).toEqual([]);
    expect(ofType(events, "permission-mode-switch")).toMatchObject([{ from: "bypass-all", to: "plan-only", openCalls: true }]);
  });

  it("that is set does not lift a rule that denies, nor one that asks", async () => {
    for (const behavior of ["deny", "ask"] as const) {
      const { deploy, start } = modesRun(["bypass-all"], [calling("switch"), calling("deploy"), "done"], {
        permissions: { rules: [{ pattern: "deploy", behavior }] },
      });
      const { events, outcome } = await watch(start());
      expect(deploy.calls).toEqual([]);
      expect(outcome.reason).toBe(behavior === "deny" ? "complete" : "awaiting-approval");
      if (behavior === "deny") expect(JSON.stringify(ofType(events, "tool-result").at(-1)?.output)).toContain("denies it");
    }
  });

  it("lasts over a suspension and a resume in another process, and leaves a question open that it would not ask", async () => {
    const { deploy, runner, services, agent, start } = modesRun(
      ["bypass-all"],
      [calling("switch"), calling("deploy"), calling("deploy"), "done"],
      {
        permissions: { rules: [{ pattern: "switch", behavior: "ask" }] },
      },
    );
    const run = start();
    expect((await run.outcome).reason).toBe("awaiting-approval");
    await run.setPermissionMode("accept-edits");
    const other = createRunner({ ...services, agent }) as SingleRunner;
    const waiting = await watch(await other.resume("s"));
    expect(waiting.outcome.reason).toBe("awaiting-approval");
    const [question] = await runner.approvals.list();
    await runner.approve(question?.token ?? "", { type: "deny" });
    const asked = await watch(await other.resume("s"));
    expect(asked.outcome).toMatchObject({ reason: "awaiting-approval", waits: [{ operation: "deploy" }] });
    expect(asked.outcome.waits?.[0]).toMatchObject({ reason: expect.stringContaining("In permission mode accept-edits") });
    const open = await runner.approvals.list();
    const resumed = await other.resume("s");
    await resumed.setPermissionMode("bypass-all");
    expect((await resumed.outcome).reason).toBe("awaiting-approval");
    // Its calls are judged again at each resume, as they were judged first.
    expect((await (await other.resume("s")).outcome).reason).toBe("awaiting-approval");
    await runner.approve(open[0]?.token ?? "", { type: "allow" });
    const { events, outcome } = await watch(await other.resume("s"));
    expect(outcome.reason).toBe("complete");
    expect(types(events)).not.toContain("approval-request");
    expect(deploy.calls).toHaveLength(2);
  });

  it("ends with the run: the next run of the session has the mode of its agent again", async () => {
    const { deploy, runner, start } = modesRun(["bypass-all"], [calling("switch"), calling("deploy"), "done", calling("deploy")]);
    expect((await start().outcome).reason).toBe("complete");
    expect(deploy.calls).toHaveLength(1);
    expect((await runner.run("go", { session: "s" }).outcome).reason).toBe("awaiting-approval");
  });

  it("can be given when the run starts, is recorded with its start, and replaces only the mode of the agent", async () => {
    const { deploy, start } = modesRun([], [calling("deploy"), "done"], {
      permissions: { mode: "plan-only", rules: [{ pattern: "switch", behavior: "deny" }] },
    });
    const { events, outcome } = await watch(start({ permissionMode: "bypass-all" }));
    expect([outcome.reason, deploy.calls.length]).toEqual(["complete", 1]);
    expect(ofType(events, "run-start")).toMatchObject([{ permissionMode: "bypass-all" }]);
    const denied = modesRun(["default"], [calling("switch"), "done"], {
      permissions: { rules: [{ pattern: "switch", behavior: "deny" }] },
    });
    const second = await watch(denied.start({ permissionMode: "bypass-all" }));
    expect(ofType(second.events, "tool-result")[0]?.isError).toBe(true);
  });

  it("is checked, when it is set and when it is given", async () => {
    const { runner, start } = modesRun([], ["done"]);
    const run = start();
    const wrong = "yolo" as PermissionMode;
    await expect(run.setPermissionMode(wrong)).rejects.toThrow(
      'mode must be one of default, accept-edits, plan-only, bypass-all, deny-unauthorized, not "yolo".',
    );
    await run.outcome;
    expect(() => runner.run("go", { permissionMode: wrong })).toThrow(AgentError);
  });

  it("is what children begin with, and changes nothing about a child that is at work", async () => {
    let run: Run | undefined;
    const deploy = recordingTool("deploy", { effect: "write", risk: "high" });
    const helper = createAgent({
      name: "helper",
      model: scriptedModel([calling("loosen"), calling("deploy"), "tried", calling("deploy"), "did it"]),
      tools: [deploy, acting("loosen", () => run?.setPermissionMode("bypass-all"))],
    });
    const help: ScriptedTurn = { toolCalls: [{ name: "helper", input: { task: "deploy" } }] };
    const agent = createAgent({
      name: "a",
      model: scriptedModel([help, help, "done"]),
      tools: [agentTool(helper)],
      permissions: { mode: "plan-only" },
    });
    run = runnerOf(agent, sharedServices()).run("go");
    expect(ofType((await watch(run)).events, "tool-result").filter(({ name }) => name === "deploy")).toMatchObject([
      { isError: true },
      { isError: false },
    ]);
    expect(deploy.calls).toHaveLength(1);
  });

  it("can only restrict a run that another one started", async () => {
    const services = sharedServices();
    const deploy = recordingTool("deploy", { effect: "write", risk: "high" });
    const loosen: Tool = {
      ...recordingTool("loosen", { effect: "read" }),
      // Another process that has the log would do the same.
      execute: async (_input, { session }) => {
        const entry = { key: "loosen", type: "set-permission-mode", data: { mode: "bypass-all" } };
        await services.log.append(inboxLog(session), "any", [entry]);
        return "written";
      },
    };
    const helper = createAgent({
      name: "helper",
      model: scriptedModel([calling("loosen"), calling("deploy"), "tried"]),
      tools: [deploy, loosen],
    });
    const agent = createAgent({
      name: "a",
      model: scriptedModel([{ toolCalls: [{ name: "helper", input: { task: "deploy" } }] }, "done"]),
      tools: [agentTool(helper)],
      permissions: { mode: "plan-only" },
    });
    const runner = runnerOf(agent, services);
    const { events } = await watch(runner.run("go"));
    expect(ofType(events, "permission-mode-switch")).toMatchObject([{ from: "plan-only", to: "bypass-all", path: ["helper"] }]);
    expect(ofType(events, "tool-result").find(({ name }) => name === "deploy")).toMatchObject({ isError: true });
    expect(deploy.calls).toEqual([]);
  });
});

describe("the effort of a run", () => {
  it("is the agent's, unless the run is given another or one is set; null is the agent's again", async () => {
    let run: Run | undefined;
    const levels = ["high", null] as const;
    let next = 0;
    const model = scriptedModel([calling("set"), calling("set"), "done", "done"]);
    const agent = createAgent({
      name: "a",
      model,
      effort: "medium",
      tools: [acting("set", () => run?.setEffort(levels[next++] ?? null))],
    });
    const runner = runnerOf(agent, sharedServices());
    run = runner.run("go", { session: "s", effort: "low" });
    const { events } = await watch(run);
    await runner.run("again", { session: "s" }).outcome;
    expect(model.requests.map(({ effort }) => effort)).toEqual(["low", "high", "medium", "medium"]);
    expect(ofType(events, "run-start")).toMatchObject([{ effort: "low" }]);
    expect(ofType(events, "effort-switch")).toMatchObject([
      { from: "low", to: "high" },
      { from: "high", to: null },
    ]);
  });

  it("that the model of the run does not take is refused, and the run goes on as it is", async () => {
    const models = createModelRegistry({
      providers: { x: scriptedModel([calling("look"), "done"]) },
      facts: { "x/m": { supportedEffortLevels: ["low"] } },
    });
    const look = recordingTool("look", { effect: "read" });
    const run = runnerOf(createAgent({ name: "a", model: "x/m", tools: [look] }), { models }).run("go");
    await expect(run.setEffort("max")).rejects.toThrow(/effort cannot be set: x\/m takes only the efforts low, and max was asked for/);
    await expect(run.setEffort("much" as never)).rejects.toThrow(/effort must be one of low, medium, high, max, not "much"/);
    expect((await run.outcome).reason).toBe("complete");
  });
});
