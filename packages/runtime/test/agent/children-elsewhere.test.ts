import {
  inboxLog,
  sessionLog,
  type Authority,
  type EventLog,
  type LogRecord,
  type Orchestrator,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { agentTool, createAgent, createRunner, type Agent, type SingleRunner } from "keelson";
import {
  agentOperators,
  createDurableOrchestrator,
  createLocalOrchestrator,
  operatorInput,
  type DurableOrchestrator,
} from "keelson/orchestration";
import { createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { failingLog } from "../crash/failing-log.ts";
import { watchedLog } from "../crash/watched-log.ts";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

const ask = (...names: readonly string[]): ScriptedTurn => ({
  toolCalls: (names.length === 0 ? ["helper"] : names).map((name) => ({ name, input: { task: `look, ${name}` } })),
});

const agentOf = (name: string, turns: readonly ScriptedTurn[], options: Partial<Parameters<typeof createAgent>[0]> = {}): Agent =>
  createAgent({ name, model: scriptedModel(turns), ...options });

/** Agents whose sessions are advanced one after another, as an engine would: what is woken is worked, until nothing is. */
function engineOf(agent: Agent, services = sharedServices()) {
  const due: SessionId[] = [];
  const woken: SessionId[] = [];
  const orchestrator: DurableOrchestrator = createDurableOrchestrator({
    runner: () => runner,
    wake: async (session) => {
      woken.push(session);
      if (!due.includes(session)) due.push(session);
    },
  });
  const runner: SingleRunner<unknown> = runnerOf(agent, { ...services, orchestrator });
  const advanced: [session: string, next: string][] = [];
  const work = async (): Promise<void> => {
    for (let session = due.shift(); session !== undefined; session = due.shift()) {
      const { next } = await runner.advance(session);
      advanced.push([session, next.type]);
      if (next.type === "now") due.unshift(session);
    }
  };
  const records = async (session: string): Promise<readonly LogRecord[]> => {
    const found: LogRecord[] = [];
    for await (const record of services.log.read(sessionLog(session))) found.push(record);
    return found;
  };
  const childrenOf = async (session: string) =>
    (await records(session)).filter(({ type }) => type === "child-start").map(({ data }) => data["session"] as SessionId);
  return { services, orchestrator, runner, advanced, work, records, childrenOf, woken };
}

const typesOf = (records: readonly LogRecord[], ...types: readonly string[]) =>
  records.filter(({ type }) => types.includes(type)).map(({ type, data }) => (data["reason"] ?? data["cause"] ?? type) as string);

describe("a child that works elsewhere", () => {
  it("has its parent wait, is advanced by itself, and wakes its parent with its result", async () => {
    const lead = agentOf("lead", [ask(), "fixed"], { tools: [agentTool(agentOf("helper", ["the lock"]))] });
    const { orchestrator, runner, work, records, advanced, childrenOf } = engineOf(lead);
    const id = await orchestrator.start("lead", operatorInput("go", "user", { session: "s" as SessionId }));
    await work();
    expect(await orchestrator.attach(id)).toMatchObject({ message: [{ text: "fixed" }], exitReason: { type: "complete" } });
    const [child] = await childrenOf("s");
    expect(advanced).toEqual([
      ["s", "waiting"],
      [child, "done"],
      ["s", "now"],
      ["s", "done"],
    ]);
    const log = await records("s");
    expect(typesOf(log, "run-suspend", "run-resume", "child-end")).toEqual(["awaiting-child", "child", "complete"]);
    expect(log.find(({ type }) => type === "run-suspend")?.data["waits"]).toMatchObject([
      { type: "child", session: child, path: ["helper"] },
    ]);
    expect((await runner.sessions.get("s")).run).toMatchObject({ status: "ended" });
    expect(await orchestrator.query(id, { name: "status", params: {} })).toMatchObject({ status: "done", operator: "lead", session: "s" });
  });

  it("is advanced beside others that the same response asked for, and each result is recorded once", async () => {
    const lead = agentOf("lead", [ask("one", "two"), "both"], {
      tools: [agentTool(agentOf("one", ["1"])), agentTool(agentOf("two", ["2"]))],
    });
    const { orchestrator, work, records, childrenOf } = engineOf(lead);
    await orchestrator.start("lead", operatorInput("go", "user", { session: "s" as SessionId }));
    await work();
    expect(await childrenOf("s")).toHaveLength(2);
    const results = (await records("s")).filter(({ type }) => type === "tool-result").map(({ data }) => data["output"]);
    expect(results).toEqual(["1", "2"]);
    expect(typesOf(await records("s"), "run-complete")).toEqual(["complete"]);
  });

  it("takes an answer to its own question, wherever its parent is", async () => {
    const write = recordingTool("write", { effect: "write" });
    const helper = agentOf("helper", [{ toolCalls: [{ name: "write", input: { n: 1 } }] }, "written"], {
      tools: [write],
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
    });
    const lead = agentOf("lead", [ask(), "done"], { tools: [agentTool(helper)] });
    const { orchestrator, runner, work, records } = engineOf(lead);
    const id = await orchestrator.start("lead", operatorInput("go", "user", { session: "s" as SessionId }));
    await work();
    expect(await orchestrator.query(id, { name: "status", params: {} })).toMatchObject({ status: "waiting", waits: [{ type: "child" }] });
    const [question] = await runner.approvals.list();
    await runner.approve(question?.token ?? "", { type: "allow" });
    await work();
    expect((await orchestrator.attach(id)).exitReason).toEqual({ type: "complete" });
    expect(write.calls).toHaveLength(1);
    expect(typesOf(await records("s"), "run-suspend")).toEqual(["awaiting-child"]);
  });

  it("is told to stop where its parent is, which waits for that and then ends", async () => {
    for (const how of ["stop", "abort"] as const) {
      const helper = agentOf("helper", [{ toolCalls: [{ name: "write", input: {} }] }, "written"], {
        tools: [recordingTool("write", { effect: "write" })],
        permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
      });
      const lead = agentOf("lead", [ask(), "done"], { tools: [agentTool(helper)] });
      const { orchestrator, work, records, childrenOf } = engineOf(lead);
      const id = await orchestrator.start("lead", operatorInput("go", "user", { session: "s" as SessionId }));
      await work();
      await orchestrator.cancel(id, how);
      await orchestrator.cancel(id, how);
      await work();
      const [child] = await childrenOf("s");
      const end = how === "stop" ? "stopped" : "aborted";
      expect(typesOf(await records(child as string), "run-complete")).toEqual([end]);
      const own = await records("s");
      expect(typesOf(own, "child-end", "run-complete")).toEqual([end, end]);
      expect((await orchestrator.attach(id)).exitReason).toEqual({ type: end });
      await orchestrator.cancel(id, how);
    }
  });

  it("is waited for by a parent that is given up, since nobody could take it further, and then ends", async () => {
    const letGo = { now: new AbortController() };
    const cutOff = (): { readonly text: string } => {
      letGo.now.abort("the worker is going down");
      return { text: "never" };
    };
    const lead = agentOf("lead", [ask(), ...Array.from({ length: 9 }, () => cutOff)], {
      tools: [agentTool(agentOf("helper", ["42"]), { background: true })],
    });
    const { orchestrator, runner, work, records, childrenOf } = engineOf(lead);
    await runner.begin("s", "go");
    expect(await runner.advance("s")).toMatchObject({ next: { type: "now" } });
    const advance = () => runner.advance("s", { signal: (letGo.now = new AbortController()).signal });
    for (let life = 0; life < 4; life++) await expect(advance()).rejects.toBeDefined();
    const [child] = await childrenOf("s");
    expect(await advance()).toMatchObject({
      next: { type: "waiting", reason: "awaiting-child", waits: [{ type: "child", session: child }] },
    });
    expect(typesOf(await records("s"), "run-suspend", "run-complete")).toEqual(["awaiting-child"]);
    await orchestrator.wake(child as SessionId);
    await work();
    expect(typesOf(await records(child as string), "run-complete")).toEqual(["stopped"]);
    expect(typesOf(await records("s"), "child-end", "run-complete")).toEqual(["stopped", "circuit-breaker"]);
  });

  it("works beside the turns of its parent, which hears of its end", async () => {
    const lead = agentOf("lead", [ask(), "started it", "it says 42"], {
      tools: [agentTool(agentOf("helper", ["42"]), { background: true })],
    });
    const { orchestrator, work, records } = engineOf(lead);
    const id = await orchestrator.start("lead", operatorInput("go", "user", { session: "s" as SessionId }));
    await work();
    expect((await orchestrator.attach(id)).message).toMatchObject([{ text: "it says 42" }]);
    const log = await records("s");
    expect(typesOf(log, "child-start", "run-suspend", "child-end")).toEqual(["child-start", "awaiting-child", "complete"]);
    expect(JSON.stringify(log.filter(({ type }) => type === "message"))).toContain('"helper');
  });

  it("counts on the budget of its parent", async () => {
    const price = { input: "1000", output: "1000", asOf: "2026-01-01" };
    const helper = createAgent({ name: "helper", model: scriptedModel(["the lock"], { price }) });
    const lead = createAgent({
      name: "lead",
      model: scriptedModel([ask(), "fixed"], { price }),
      tools: [agentTool(helper)],
      limits: { maxCost: 1000 },
    });
    const { orchestrator, work, records } = engineOf(lead);
    const id = await orchestrator.start("lead", operatorInput("go", "user", { session: "s" as SessionId }));
    await work();
    const end = (await records("s")).find(({ type }) => type === "child-end");
    expect(end?.data).toMatchObject({ counts: { turns: 1, modelCalls: 1 } });
    const { metadata } = await orchestrator.attach(id);
    expect(Number(metadata.cost)).toBeGreaterThan(Number(end?.data["cost"]));
  });

  it("leaves its parent where it is while the orchestrator can't be reached, and is started once", async () => {
    const lead = agentOf("lead", [ask(), "fixed"], { tools: [agentTool(agentOf("helper", ["the lock"]))] });
    const services = sharedServices();
    const engine = engineOf(lead, services);
    let failing = 2;
    const orchestrator: Orchestrator = {
      ...engine.orchestrator,
      start: async (...given) => {
        const id = await engine.orchestrator.start(...given);
        if (failing-- > 0) throw new Error("the connection was reset");
        return id;
      },
    };
    const runner = runnerOf(lead, { ...services, orchestrator });
    await runner.begin("s", "go");
    await expect(runner.advance("s")).rejects.toMatchObject({ failure: { kind: "backend" } });
    expect(await engine.childrenOf("s")).toHaveLength(1);
    await engine.work();
    await engine.orchestrator.wake("s" as SessionId);
    await engine.work();
    expect(typesOf(await engine.records("s"), "child-start", "child-end", "run-complete")).toEqual(["child-start", "complete", "complete"]);
  });

  it("is woken again by its parent where whoever began it died before it was said", async () => {
    const services = sharedServices();
    const lead = agentOf("lead", [ask(), "fixed"], { tools: [agentTool(agentOf("helper", ["the lock"]))] });
    const due: SessionId[] = [];
    let isAway = true;
    const orchestrator = createDurableOrchestrator({
      runner: () => runner,
      wake: async (session) => {
        if (session !== "s" && isAway) {
          isAway = false;
          throw new Error("the queue is away");
        }
        due.push(session);
      },
    });
    const runner: SingleRunner<unknown> = runnerOf(lead, { ...services, orchestrator });
    await runner.begin("s", "go");
    await expect(runner.advance("s")).rejects.toMatchObject({ failure: { kind: "backend" } });
    expect(due).toEqual([]);
    expect(await runner.advance("s")).toMatchObject({ next: { type: "waiting", reason: "awaiting-child" } });
    const [child] = due;
    expect(child).toMatch(/^s~/);
    expect(await runner.advance(child as string)).toMatchObject({ next: { type: "done", outcome: { text: "the lock" } } });
    expect(due).toEqual([child, "s"]);
    await runner.advance("s");
    expect(await runner.advance("s")).toMatchObject({ next: { type: "done", outcome: { text: "fixed" } } });
  });

  it("beside the turns of its parent does not keep it from letting go, at whatever append its log fails", async () => {
    const lead = () =>
      agentOf("lead", [ask(), "started it", "it says 42"], { tools: [agentTool(agentOf("helper", ["42"]), { background: true })] });
    const advanceThrough = async (log: (services: ReturnType<typeof sharedServices>) => EventLog): Promise<readonly string[]> => {
      const services = sharedServices();
      const orchestrator = createDurableOrchestrator({ runner: () => runner, wake: async () => {} });
      const runner: SingleRunner<unknown> = runnerOf(lead(), { ...services, orchestrator });
      await runner.begin("s", "go");
      const failing = runnerOf(lead(), { ...services, log: log(services), orchestrator });
      const nexts: string[] = [];
      for (let turn = 0; turn < 2; turn++)
        nexts.push(
          await failing.advance("s").then(
            ({ next }) => next.type,
            () => "failed",
          ),
        );
      return nexts;
    };
    let appends = 0;
    await advanceThrough(({ log }) => watchedLog(log, { before: () => void appends++ }));
    expect(appends).toBeGreaterThan(4);
    for (let at = 1; at <= appends; at++)
      expect(await advanceThrough(({ log }) => failingLog(log, { at, mode: "refused", recovers: true }))).toContain("failed");
  });
});

describe("a run that waits", () => {
  it("is left as it is where it is advanced with nothing new", async () => {
    const write = recordingTool("write", { effect: "write" });
    const agent = agentOf("a", [{ toolCalls: [{ name: "write", input: {} }] }, "done"], {
      tools: [write],
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
    });
    const { runner, records, work, orchestrator } = engineOf(agent);
    const id = await orchestrator.start("a", operatorInput("go", "user", { session: "s" as SessionId }));
    expect(await runner.advance("s")).toMatchObject({ next: { type: "waiting", reason: "awaiting-approval" } });
    const before = await records("s");
    expect(await runner.advance("s")).toMatchObject({ seq: before.length, next: { type: "waiting", waits: [{ type: "approval" }] } });
    expect(await records("s")).toEqual(before);
    await runner.approve((await runner.approvals.list())[0]?.token ?? "", { type: "allow" });
    await work();
    expect(write.calls).toHaveLength(1);
    expect(typesOf(await records("s"), "run-complete")).toEqual(["complete"]);
    expect(await orchestrator.attach(id)).toMatchObject({ exitReason: { type: "complete" } });
  });

  it("is woken by whatever is written to it, from any process", async () => {
    const agent = agentOf("a", ["done"]);
    const { runner, woken } = engineOf(agent);
    await runner.begin("s", "go");
    await runner.steer("s", "shorter");
    await runner.signal("s", { kind: "news", payload: null });
    await runner.stop("s");
    await runner.abort("s");
    expect(woken).toEqual(["s", "s", "s", "s"]);
  });

  it("is told of, and not taken up, where runs are recovered", async () => {
    const { runner, woken } = engineOf(agentOf("a", ["done"]));
    await runner.begin("s", "go");
    expect(await runner.recover()).toMatchObject({ runs: [], woken: ["s"], failed: [] });
    expect(woken).toEqual(["s"]);
  });
});

describe("an engine that lets go in the middle of a turn", () => {
  it("leaves the run where it is, and the next advance goes on with it", async () => {
    const letGo = new AbortController();
    const services = sharedServices();
    let asked = 0;
    const agent = agentOf("a", [
      () => {
        if (++asked === 1) letGo.abort("the worker is going down");
        return { text: `answer ${asked}` };
      },
      () => ({ text: `answer ${++asked}` }),
    ]);
    const { runner, records } = engineOf(agent, services);
    await runner.begin("s", "go");
    await expect(runner.advance("s", { signal: letGo.signal })).rejects.toSatisfy(
      (error) => (error as { readonly failure?: { readonly kind: string } }).failure?.kind === "backend",
    );
    expect(typesOf(await records("s"), "run-complete")).toEqual([]);
    expect(await runner.advance("s")).toMatchObject({ next: { type: "done", outcome: { reason: "complete", text: "answer 2" } } });
    await expect(runner.advance("s", { signal: letGo.signal })).rejects.toBeDefined();
  });

  it("lets go of it also where it did so while the session was opened", async () => {
    const letGo = new AbortController();
    const services = sharedServices();
    let asked = 0;
    const agent = agentOf("a", [() => ({ text: `answer ${++asked}` })]);
    await runnerOf(agent, services).begin("s", "go");
    const log: EventLog = {
      ...services.log,
      acquire: async (...given) => {
        const lease = await services.log.acquire(...given);
        letGo.abort("the worker is going down");
        return lease;
      },
    };
    await expect(runnerOf(agent, { ...services, log }).advance("s", { signal: letGo.signal })).rejects.toMatchObject({
      failure: { kind: "backend" },
    });
    expect(asked).toBe(0);
    expect(await runnerOf(agent, services).advance("s")).toMatchObject({ next: { type: "done", outcome: { text: "answer 1" } } });
  });
});

describe("an orchestrator of an engine", () => {
  it("starts a run once under its id, in a session of its own or in one that it is given", async () => {
    const agent = agentOf("a", ["one", "two", "three"]);
    const { orchestrator, work, services } = engineOf(agent);
    const id = "r_given" as RunId;
    expect(await orchestrator.start("a", operatorInput("go", "user"), { id })).toBe(id);
    expect(await orchestrator.start("a", operatorInput("go", "user"), { id })).toBe(id);
    const second = await orchestrator.start("a", operatorInput("go", "user", { session: "s" as SessionId }));
    await work();
    expect((await orchestrator.attach(id)).message).toMatchObject([{ text: "one" }]);
    expect((await orchestrator.attach(second)).message).toMatchObject([{ text: "two" }]);
    // Another run of the session takes nothing away from it.
    const third = await orchestrator.start("a", operatorInput("again", "user", { session: "s" as SessionId }));
    await work();
    expect((await orchestrator.attach(second)).message).toMatchObject([{ text: "two" }]);
    expect((await orchestrator.attach(third)).message).toMatchObject([{ text: "three" }]);
    expect(await services.log.head(sessionLog("r_given"))).toBeGreaterThan(0);
    await expect(orchestrator.start("a", operatorInput("go", "user", { session: "t" as SessionId }), { id: second })).rejects.toThrow(
      "another session",
    );
  });

  it("refuses what it does not know, and signals to what is over", async () => {
    const { orchestrator, work } = engineOf(agentOf("a", ["one"]));
    await expect(orchestrator.start("b", operatorInput("go", "user"))).rejects.toMatchObject({
      failure: { kind: "operator-not-found", available: ["a"] },
    });
    await expect(orchestrator.attach("r_none" as RunId)).rejects.toMatchObject({ failure: { kind: "workflow-not-found" } });
    const id = await orchestrator.start("a", operatorInput("go", "user"));
    await work();
    await expect(orchestrator.signal(id, { kind: "x", payload: null })).rejects.toMatchObject({ failure: { kind: "signal-failed" } });
    await expect(orchestrator.query(id, { name: "weather", params: {} })).rejects.toThrow('answers "status"');
    const unrestricted: Authority = { policies: [], depth: 0 };
    expect(
      await orchestrator.dispatchMany([{ operator: "b", input: operatorInput("x", "user"), options: { authority: unrestricted } }]),
    ).toMatchObject([{ ok: false }]);
  });
});

describe("an orchestrator of this process that a runner is given", () => {
  it("works the children of its runs, which keep their logs, and go on in them after a wait", async () => {
    const write = recordingTool("write", { effect: "write" });
    const helper = agentOf("helper", ["the lock", { toolCalls: [{ name: "write", input: {} }] }, "written"], {
      tools: [write],
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
    });
    const lead = agentOf("lead", [ask(), ask(), "fixed"], { tools: [agentTool(helper)] });
    const log = createMemoryEventLog();
    const started: string[] = [];
    const local = createLocalOrchestrator();
    const orchestrator: Orchestrator = {
      ...local,
      start: (operator, ...given) => {
        started.push(operator);
        return local.start(operator, ...given);
      },
    };
    const runner = createRunner({ agent: lead, log, orchestrator });
    for (const [name, operator] of Object.entries(agentOperators(runner))) local.register(name, operator);
    const waiting = await runner.run("go", { session: "s" }).outcome;
    expect(started).toEqual(["helper", "helper"]);
    expect(waiting).toMatchObject({ reason: "awaiting-approval", waits: [{ path: ["helper"] }] });
    await runner.approve((await runner.approvals.list())[0]?.token ?? "", { type: "allow" });
    expect(await (await runner.resume("s")).outcome).toMatchObject({ reason: "complete", text: "fixed" });
    expect(write.calls).toHaveLength(1);
    expect(await log.head(inboxLog("s"))).toBe(0);
  });
});
