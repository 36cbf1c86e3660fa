import { createAgent, createRunner, type Run } from "keelson";
import type { TaskCall, TaskRunner } from "keelson/agent";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import type { Directive, InferRequest, JsonValue, Tool } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { declare, declaring } from "./declaring.ts";
import { ofType, recordingTool, sharedServices, watch } from "./support.ts";

const task = (description: string, input: JsonValue = {}): Directive => ({ type: "spawn-task", description, input });

function told(request: InferRequest | undefined): string {
  return (request?.messages.at(-1)?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

function lead(turns: readonly ScriptedTurn[], tools: readonly Tool[] = []) {
  const model = scriptedModel(turns);
  return { model, agent: createAgent({ name: "lead", model, tools: [declaring(), ...tools] }) };
}

async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe("a background task", () => {
  it("is worked by the runner's tasks beside the turns; watchers see it start, progress and complete, the model its result [DI-09, EV-12]", async () => {
    const calls: { readonly description: string; readonly input: JsonValue; readonly call: TaskCall }[] = [];
    let finish = (): void => {};
    const tasks: TaskRunner = {
      async run(description, input, call) {
        calls.push({ description, input, call });
        call.progress({ done: 0.5 });
        await new Promise<void>((resolve) => (finish = resolve));
        return { files: 3 };
      },
    };
    const main = lead([
      declare(task("index the files", { in: "src" })),
      { text: "waiting", wait: async () => until(() => calls.length === 1) },
      "indexed",
    ]);
    const run = createRunner({ ...sharedServices(), tasks, agent: main.agent }).run("go", { session: "s" });
    const watching = watch(run);
    await until(() => main.model.requests.length === 2 && calls.length === 1);
    finish();
    const { events, outcome } = await watching;
    expect(outcome).toMatchObject({ reason: "complete", text: "indexed" });
    const told_ = ofType(events, "task");
    const taskId = told_[0]?.taskId;
    expect(told_).toMatchObject([
      { taskId, kind: "started", payload: { description: "index the files", input: { in: "src" } } },
      { taskId, kind: "progress", payload: { done: 0.5 } },
      { taskId, kind: "completed", payload: { output: { files: 3 } } },
    ]);
    expect(calls).toMatchObject([
      {
        description: "index the files",
        input: { in: "src" },
        call: { taskId, runId: run.id, session: "s", idempotencyKey: expect.stringMatching(/^\w{20,}/) },
      },
    ]);
    expect(told(main.model.requests[2])).toBe(`The background task "index the files" (${taskId}) is done:\n{"files":3}`);
  });

  it("reports a task that throws as failed, and keeps a value of any type as JSON [EV-12]", async () => {
    const tasks: TaskRunner = {
      run(description) {
        if (description === "throws") throw new RangeError("no room");
        return { loop: 1n } as never;
      },
    };
    const main = lead([declare(task("throws"), task("returns a bigint")), "waiting", "one", "both"]);
    const { events, outcome } = await watch(createRunner({ ...sharedServices(), tasks, agent: main.agent }).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "task").filter(({ kind }) => kind === "failed")).toMatchObject([
      { payload: { reason: "error", message: "no room" } },
    ]);
    const said = JSON.stringify(main.model.requests.at(-1)?.messages);
    expect(said).toMatch(/throws[^"]*"[^"]*ended early \(error\): no room/);
    expect(said).toContain('{\\"loop\\":\\"1\\"}');
  });

  it("is stopped by its id: its signal fires, and what it does after that reaches nobody [DI-10]", async () => {
    let signal: AbortSignal | undefined;
    let finish = (_value: JsonValue): void => {};
    const tasks: TaskRunner = {
      run: (_description, _input, call) => {
        ({ signal } = call);
        return new Promise<JsonValue>((resolve) => (finish = resolve));
      },
    };
    let taskId = "";
    const main = lead([
      declare(task("endless")),
      () => declare({ type: "stop-task", taskId }, { type: "stop-task", taskId: "task_of_nobody" }),
      "stopped it",
      "over",
    ]);
    const run = createRunner({ ...sharedServices(), tasks, agent: main.agent }).run("go");
    const watching = watch(run);
    for await (const event of run.events({ after: 0 })) {
      if (event.type !== "task") continue;
      ({ taskId } = event);
      break;
    }
    const { events, outcome } = await watching;
    expect(signal?.aborted).toBe(true);
    finish("too late");
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "task").map(({ kind, payload }) => [kind, (payload as { reason?: string }).reason])).toEqual([
      ["started", undefined],
      ["failed", "stopped"],
    ]);
    expect(JSON.stringify(main.model.requests.at(-1)?.messages)).not.toContain("too late");
  });

  it("can be stopped through the run's handle while the run waits for it", async () => {
    const tasks: TaskRunner = { run: () => new Promise<never>(() => {}) };
    const main = lead([declare(task("endless")), "waiting", "over"]);
    const run = createRunner({ ...sharedServices(), tasks, agent: main.agent }).run("go");
    await until(() => main.model.requests.length === 2);
    const [view] = await run.children();
    expect(view).toMatchObject({ kind: "task", name: "endless", background: true, status: "working", children: [] });
    expect(await run.stopChild(view?.id ?? "")).toBe(true);
    expect(await run.outcome).toMatchObject({ reason: "complete", text: "over" });
    expect(await run.children()).toMatchObject([{ status: "stopped" }]);
    expect(await run.stopChild(view?.id ?? "")).toBe(false);
  });

  it("is unsupported where nobody works on tasks, and the run goes on", async () => {
    const main = lead([declare(task("index")), "done without"]);
    const { events, outcome } = await watch(createRunner({ ...sharedServices(), agent: main.agent }).run("go"));
    expect(outcome).toMatchObject({ reason: "complete", text: "done without" });
    expect(ofType(events, "status")).toMatchObject([{ level: "warn", status: expect.stringMatching(/give createRunner `tasks`/) }]);
    expect(ofType(events, "task")).toEqual([]);
  });

  it("tells of many progresses the newest, so that it can't flood the log", async () => {
    const tasks: TaskRunner = {
      async run(_description, _input, { progress }) {
        for (let n = 0; n < 1000; n++) progress(n);
        return "over";
      },
    };
    const main = lead([declare(task("chatter")), "waiting", "done"]);
    const { events } = await watch(createRunner({ ...sharedServices(), tasks, agent: main.agent }).run("go"));
    const progress = ofType(events, "task").filter(({ kind }) => kind === "progress");
    expect(progress.length).toBeLessThan(5);
    expect(progress.at(-1)?.payload).toBe(999);
  });

  it("that was open when its process ended is begun again with the same key, and told once", async () => {
    const shared = sharedServices();
    const keys: string[] = [];
    const turns: ScriptedTurn[] = [declare(task("index")), "waiting"];
    const dying: TaskRunner = {
      run: (_description, _input, { idempotencyKey }) => (keys.push(idempotencyKey), new Promise<never>(() => {})),
    };
    const first = lead(turns);
    const dead = createRunner({ ...shared, owner: "one", leaseTtlMs: 10, tasks: dying, agent: first.agent });
    void dead.run("go", { session: "s" });
    await until(() => keys.length === 1 && first.model.requests.length === 2);
    await until(() => true);
    shared.clock.advance(1000);
    const tasks: TaskRunner = { run: (_description, _input, { idempotencyKey }) => (keys.push(idempotencyKey), "indexed") };
    const second = lead(["done"]);
    const { events, outcome } = await watch(
      await createRunner({ ...shared, owner: "two", tasks, agent: second.agent.with({ description: "" }) }).resume("s"),
    );
    expect(outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(ofType(events, "task").map(({ kind }) => kind)).toEqual(["completed"]);
    const said = JSON.stringify(second.model.requests[0]?.messages);
    expect(said.split("is done:")).toHaveLength(2);
  });
});

it("a task and an agent that were told to stop by a process that ended then are not begun again [DI-04, DI-10]", async () => {
  const shared = sharedServices();
  let runs = 0;
  const tasks: TaskRunner = { run: () => (runs++, new Promise<never>(() => {})) };
  let taskId = "";
  const helperModel = scriptedModel([{ text: "So far.", toolCalls: [{ name: "none" }] }, { wait: new Promise<never>(() => {}) }, "never"]);
  const helper = createAgent({ name: "helper", model: helperModel });
  const main = lead([
    declare(task("endless"), { type: "spawn-agent", name: "helper", config: { task: "t" } }),
    async () => {
      await until(() => helperModel.requests.length === 2);
      return declare({ type: "stop-child", name: "helper" }, { type: "stop-task", taskId });
    },
    "waiting",
    "one",
    "both",
  ]);
  const agents = { lead: main.agent, helper };
  let stops = 0;
  const log: typeof shared.log = {
    ...shared.log,
    async append(id, expected, records, options) {
      // It dies before the agent itself hears of it.
      if (stops === 2 || id.endsWith("/inbox")) return new Promise<never>(() => {});
      for (const record of records) if (record.type === "task") taskId = String(record.data["taskId"]);
      stops += records.filter(({ type }) => type === "child-stop").length;
      return shared.log.append(id, expected, records, options);
    },
  };
  void createRunner({ ...shared, log, tasks, owner: "one", leaseTtlMs: 1, agents }).run("go", { agent: "lead", session: "s" });
  await until(() => stops === 2);
  shared.clock.advance(10);
  const resumed = await createRunner({ ...shared, tasks, owner: "two", agents }).resume("s");
  const { events, outcome } = await watch(resumed);
  expect(outcome).toMatchObject({ reason: "complete" });
  expect([runs, helperModel.requests.length]).toEqual([1, 2]);
  expect(ofType(events, "task")).toMatchObject([{ taskId, kind: "failed", payload: { reason: "stopped" } }]);
  expect(ofType(events, "child-end")).toMatchObject([{ reason: "stopped" }]);
  expect(JSON.stringify(main.model.requests.at(-1)?.messages)).toMatch(/helper[^"]*"[^"]*ended early \(stopped\)[^"]*So far\./);
});

describe("a run that has to wait for a person", () => {
  const risky = () => recordingTool("deploy", { effect: "write", risk: "high" });

  it("waits only once its background work is done, and keeps what that came to [DI-09]", async () => {
    const shared = sharedServices();
    let finish = (): void => {};
    let runs = 0;
    const tasks: TaskRunner = {
      run: (_description, _input, call) => {
        runs++;
        return new Promise<string>((resolve) => (finish = () => (call.progress("nearly"), resolve("indexed"))));
      },
    };
    const deploy = risky();
    const turns: ScriptedTurn[] = [declare(task("index")), { toolCalls: [{ name: "deploy" }] }, "deployed", "all done"];
    const main = lead(turns, [deploy]);
    const runner = createRunner({ ...shared, tasks, agent: main.agent });
    const run = runner.run("go", { session: "s" }) as Run;
    const order: string[] = [];
    for await (const event of run) {
      if (event.type === "approval-request") finish();
      if (event.type === "approval-request" || event.type === "run-suspend") order.push(event.type);
      if (event.type === "task") order.push(event.kind);
    }
    expect(order).toEqual(["started", "approval-request", "progress", "run-suspend"]);
    const first = await run.outcome;
    expect(first).toMatchObject({ reason: "awaiting-approval", waits: [{ operation: "deploy" }] });
    await runner.approve((first.waits?.[0] as { readonly token: string }).token, { type: "allow" });
    const { events, outcome: second } = await watch(await runner.resume("s"));
    expect(second).toMatchObject({ reason: "complete" });
    expect([runs, deploy.calls.length]).toEqual([1, 1]);
    expect(ofType(events, "task").map(({ kind }) => kind)).toEqual(["completed"]);
    expect(JSON.stringify(main.model.requests[2]?.messages).split("is done:")).toHaveLength(2);
  });

  it("goes on at once when the person decides while background work still runs", async () => {
    const shared = sharedServices();
    let finish = (): void => {};
    const tasks: TaskRunner = { run: () => new Promise<string>((resolve) => (finish = () => resolve("indexed"))) };
    const deploy = risky();
    const main = lead(
      [declare(task("index")), { toolCalls: [{ name: "deploy" }] }, { text: "deployed", wait: async () => finish() }, "all done", "more"],
      [deploy],
    );
    const runner = createRunner({ ...shared, tasks, agent: main.agent });
    const run = runner.run("go", { session: "s" });
    for await (const event of run) {
      if (event.type !== "approval-request") continue;
      await runner.approve(event.token, { type: "allow" });
      break;
    }
    expect(await run.outcome).toMatchObject({ reason: "complete" });
    expect(deploy.calls).toHaveLength(1);
  });

  it("waits where its background agent does, and goes on with it once that is decided [DI-03]", async () => {
    const shared = sharedServices();
    const deploy = risky();
    const helper = createAgent({
      name: "helper",
      model: scriptedModel([{ toolCalls: [{ name: "deploy" }] }, "deployed"]),
      tools: [deploy],
    });
    const main = lead([declare({ type: "spawn-agent", name: "ops", config: { agent: "helper", task: "deploy" } }), "waiting", "all done"]);
    const runner = createRunner({ ...shared, agents: { lead: main.agent, helper } });
    const first = await runner.run("go", { agent: "lead", session: "s" }).outcome;
    expect(first).toMatchObject({ reason: "awaiting-approval", waits: [{ operation: "deploy", path: ["ops"] }] });
    expect(await runner.recover()).toEqual({ runs: [], failed: [] });
    await runner.approve((first.waits?.[0] as { readonly token: string }).token, { type: "allow" });
    const [recovered] = (await runner.recover()).runs;
    expect(await recovered?.outcome).toMatchObject({ reason: "complete", text: "all done" });
    expect(deploy.calls).toHaveLength(1);
    expect(await recovered?.children()).toMatchObject([{ name: "ops", status: "complete", text: "deployed" }]);
  });

  it("takes a background agent up again by itself where the decision comes while it works on", async () => {
    const shared = sharedServices();
    const deploy = risky();
    const helper = createAgent({
      name: "helper",
      model: scriptedModel([{ toolCalls: [{ name: "deploy" }] }, "deployed"]),
      tools: [deploy],
    });
    let finish = (): void => {};
    const tasks: TaskRunner = { run: () => new Promise<string>((resolve) => (finish = () => resolve("indexed"))) };
    const main = lead([
      declare({ type: "spawn-agent", name: "helper", config: { task: "deploy" } }, task("index")),
      "waiting for both",
      { text: "one is in", wait: async () => finish() },
      "both are in",
    ]);
    const runner = createRunner({ ...shared, tasks, agents: { lead: main.agent, helper } });
    const run = runner.run("go", { agent: "lead", session: "s" });
    const watching = watch(run);
    let view = (await run.children())[0];
    await until(() => main.model.requests.length === 2);
    while (view?.status !== "suspended") {
      await new Promise<void>((resolve) => setImmediate(resolve));
      view = (await run.children())[0];
    }
    await runner.approve((view?.waits[0] as unknown as { readonly token: string }).token, { type: "allow" });
    const { outcome, events } = await watching;
    expect(outcome).toMatchObject({ reason: "complete", text: "both are in" });
    expect(ofType(events, "run-suspend").map(({ path }) => path)).toEqual([["helper"]]);
    expect(deploy.calls).toHaveLength(1);
  });
});

it("an engine that works turn by turn gets the same results: each stretch brings what it began to its end, and none works twice", async () => {
  const shared = sharedServices();
  let begun = 0;
  const tasks: TaskRunner = { run: async () => `indexed ${++begun}` };
  const asked = declare(task("index"), { type: "spawn-agent", name: "helper", config: { task: "t" } });
  const main = lead([asked, asked, "heard of both"]);
  const found = scriptedModel(["found"]);
  const agents = { lead: main.agent, helper: createAgent({ name: "helper", model: found }) };
  // Begun by a process that ends in its first turn.
  let appends = 0;
  const log: typeof shared.log = {
    ...shared.log,
    append: (id, ...rest) => (++appends > 1 ? new Promise<never>(() => {}) : shared.log.append(id, ...rest)),
  };
  void createRunner({ ...shared, log, owner: "gone", leaseTtlMs: 1, agents }).run("go", { agent: "lead", session: "s" });
  await until(() => appends > 1);
  shared.clock.advance(10);
  const runner = createRunner({ ...shared, tasks, agents });
  const nexts: string[] = [];
  while (nexts.at(-1) !== "done") nexts.push((await runner.advance("s")).next.type);
  expect(nexts).toEqual(["now", "done"]);
  expect([begun, found.requests.length]).toEqual([1, 1]);
  const { run, messages } = await runner.sessions.get("s");
  expect(run).toMatchObject({ status: "ended", reason: "complete" });
  expect(JSON.stringify(messages.slice(3, 5))).toMatch(/indexed 1.*found/);
});
