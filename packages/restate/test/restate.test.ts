import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AgentError, OrchestratorError, sessionLog, type RunId, type SessionId } from "@keelson/protocol";
import { createRestateOrchestrator } from "@keelson/restate";
import { operatorInput } from "keelson/orchestration";
import { doneIn } from "./support/example-agents.ts";
import { eventually } from "./support/eventually.ts";
import { journalFaults } from "./support/journal-faults.ts";
import { startApplication, type Application } from "./support/application.ts";
import { isWithoutServer, needsServer } from "./support/server-binary.ts";

const at = (session: string, input = "go") => operatorInput(input, "user", { session: session as SessionId });

async function failureOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    await asked;
  } catch (error) {
    return OrchestratorError.is(error) || AgentError.is(error) ? error.failure : error;
  }
  return expect.unreachable("it was to be refused");
}

describe.skipIf(isWithoutServer)(`an orchestrator over Restate${needsServer}`, { timeout: 60_000 }, () => {
  let application: Application;
  beforeAll(async () => {
    application = await startApplication();
    await application.worker();
  });
  afterAll(() => application?.[Symbol.asyncDispose]());
  const waiting = (id: RunId) =>
    eventually("a run that waits", async () => {
      const status = (await application.orchestrator.query(id, { name: "status", params: {} })) as {
        status: string;
        waits: { token: string }[];
      };
      return status.status === "waiting" ? status : undefined;
    });

  it("starts a run once under its id, and attaches to it from any process [OR-01, OR-05, OR-10]", async () => {
    const { orchestrator, server, records } = application;
    const id = await orchestrator.start("looker", at("once", "3"), { id: "r_once" as RunId });
    expect(await orchestrator.start("looker", at("once", "3"), { id })).toBe(id);
    const output = await createRestateOrchestrator({ ingress: server.ingress }).attach(id);
    expect(output).toMatchObject({ message: [{ text: "looked 3 times" }], exitReason: { type: "complete" }, metadata: { turnsUsed: 4 } });
    expect((await records("once")).filter(({ type }) => type === "run-start")).toHaveLength(1);
    expect(await orchestrator.query(id, { name: "status", params: {} })).toMatchObject({
      status: "done",
      operator: "looker",
      session: "once",
    });
    // The session is free for the next run at once.
    expect(await orchestrator.dispatch("looker", at("once", "again"))).toMatchObject({ message: [{ text: "looked 4 times" }] });
  });

  it("works a child as a session of its own, whose end wakes its parent", async () => {
    const { orchestrator, records, server } = application;
    expect(await orchestrator.dispatch("lead", at("family"))).toMatchObject({ message: [{ text: "fixed" }] });
    const start = (await records("family")).find(({ type }) => type === "child-start");
    const child = start?.data["session"] as string;
    expect((await records("family")).filter(({ type }) => type === "run-suspend")[0]?.data).toMatchObject({ reason: "awaiting-child" });
    const advanced = await server.sql(
      `SELECT target_service_key AS key, count(*) AS calls FROM sys_invocation WHERE target_service_name = 'keelson-session' GROUP BY target_service_key`,
    );
    expect(advanced.map(({ key }) => key)).toEqual(expect.arrayContaining(["family", child]));
  });

  it("has a question answered once, by whoever has its token", async () => {
    const { orchestrator, server, directory } = application;
    const id = await orchestrator.start("payer", at("wages"));
    const [wait] = (await waiting(id)).waits;
    const elsewhere = createRestateOrchestrator({ ingress: server.ingress });
    expect(await elsewhere.approve(wait?.token ?? "", { type: "allow", by: "ada" })).toEqual({ session: "wages", runId: id });
    expect(await failureOf(orchestrator.approve(wait?.token ?? "", { type: "deny" }))).toMatchObject({
      kind: "invalid-token",
      reason: "used",
    });
    expect(await orchestrator.attach(id)).toMatchObject({ message: [{ text: "paid" }] });
    expect(doneIn(directory).filter((line) => line.startsWith("wages "))).toHaveLength(1);
  });

  it("takes signals, and refuses those to what is over or was never there [OR-03]", async () => {
    const { orchestrator } = application;
    const id = await orchestrator.start("listener", at("ear"));
    await waiting(id);
    await orchestrator.signal(id, { kind: "news", payload: "seven" });
    expect(await orchestrator.attach(id)).toMatchObject({ message: [{ text: "heard seven" }] });
    expect(await failureOf(orchestrator.signal(id, { kind: "news", payload: 8 }))).toMatchObject({ kind: "signal-failed" });
    expect(await failureOf(orchestrator.signal("r_none", { kind: "news", payload: 8 }))).toMatchObject({ kind: "workflow-not-found" });
  });

  it("steers a run that is at work, and stops or aborts one that waits", async () => {
    const { orchestrator } = application;
    const walk = await orchestrator.start("walker", at("walk"));
    await orchestrator.steer(walk, "enough");
    expect(await orchestrator.attach(walk)).toMatchObject({ message: [{ text: "home" }], exitReason: { type: "complete" } });
    for (const how of ["stop", "abort"] as const) {
      const id = await orchestrator.start("listener", at(how));
      await waiting(id);
      await orchestrator.cancel(id, how);
      await orchestrator.cancel(id, how);
      expect((await orchestrator.attach(id)).exitReason).toEqual({ type: how === "stop" ? "stopped" : "aborted" });
      await orchestrator.cancel(id, how);
    }
  });

  it("aborts what it dispatches when its signal fires", async () => {
    const { orchestrator } = application;
    const controller = new AbortController();
    const id = "r_dispatched" as RunId;
    const dispatched = orchestrator.dispatch("listener", at("dispatched"), { id, signal: controller.signal });
    await eventually("the run", async () => orchestrator.query(id, { name: "status", params: {} }));
    controller.abort();
    expect((await dispatched).exitReason).toEqual({ type: "aborted" });
  });

  it("goes on at the time that a run waits for, with one timer however often it is woken before", async () => {
    const { orchestrator, server } = application;
    const id = await orchestrator.start("napper", at("nap", "2.5"));
    await waiting(id);
    for (let n = 0; n < 5; n++) await orchestrator.wake("nap" as SessionId);
    const timers = async () =>
      (
        await server.sql(
          "SELECT id, status, idempotency_key AS key FROM sys_invocation WHERE target_service_key = 'nap' AND idempotency_key LIKE 'timer/%'",
        )
      ).map(({ key }) => String(key).split("/").at(-1));
    await eventually("the wakes", async () =>
      (await server.sql("SELECT id FROM sys_invocation WHERE target_service_key = 'nap' AND status = 'completed'")).length >= 6
        ? true
        : undefined,
    );
    expect(await timers()).toEqual(["0"]);
    expect(await orchestrator.attach(id)).toMatchObject({ message: [{ text: "rested" }] });
  });

  it("dispatches many at once, each of which fails alone, in the order of the tasks [OR-02]", async () => {
    const { orchestrator } = application;
    const results = await orchestrator.dispatchMany([
      { operator: "looker", input: operatorInput("1", "user") },
      { operator: "nobody", input: operatorInput("1", "user") },
      { operator: "looker", input: operatorInput("2", "user") },
    ]);
    expect(results).toMatchObject([
      { ok: true, output: { message: [{ text: "looked 1 times" }] } },
      { ok: false, error: { failure: { kind: "operator-not-found", operator: "nobody" } } },
      { ok: true, output: { message: [{ text: "looked 2 times" }] } },
    ]);
  });

  it("says which of the things that can go wrong went wrong [OR-09]", async () => {
    const { orchestrator, server } = application;
    expect(await failureOf(orchestrator.attach("r_none" as RunId))).toMatchObject({ kind: "workflow-not-found", workflow: "r_none" });
    expect(await failureOf(orchestrator.cancel("r_none" as RunId, "stop"))).toMatchObject({ kind: "workflow-not-found" });
    const id = await orchestrator.start("listener", at("busy"));
    await waiting(id);
    expect(await failureOf(orchestrator.start("looker", at("busy", "1")))).toMatchObject({
      kind: "operator-error",
      operator: { kind: "context-assembly" },
    });
    expect(await failureOf(orchestrator.query(id, { name: "weather", params: {} }))).toMatchObject({
      kind: "other",
      message: /answers "status"/,
    });
    await orchestrator.cancel(id, "abort");
    // What the run failed with may be worth another run; it is no reason to ask for its end again.
    expect(await failureOf(orchestrator.dispatch("busy", at("bees")))).toMatchObject({
      kind: "operator-error",
      operator: { kind: "retryable", retryAfterMs: 9 },
    });
    const nowhere = createRestateOrchestrator({ ingress: "http://127.0.0.1:1", retryForMs: 0 });
    expect(await failureOf(nowhere.attach(id))).toMatchObject({
      kind: "operator-error",
      operator: { kind: "retryable", message: /can't be reached/ },
    });
    const unknown = createRestateOrchestrator({ ingress: server.ingress, name: "other" });
    expect(await failureOf(unknown.attach(id))).toMatchObject({ kind: "other", message: /404.*Was the deployment registered/s });
    expect(() => createRestateOrchestrator({ ingres: "x" } as never)).toThrow('no option "ingres"');
  });

  it("leaves a turn alone that is silent for longer than what waits may be", async () => {
    const { orchestrator, records, directory } = application;
    expect(await orchestrator.dispatch("dawdler", at("slow", "4500"))).toMatchObject({ message: [{ text: "there" }] });
    expect(doneIn(directory).filter((line) => line === "slow dawdle")).toHaveLength(1);
    expect((await records("slow")).filter(({ type }) => type === "run-resume")).toEqual([]);
  });

  it("goes on once another process gives the session back that it holds", async () => {
    const { orchestrator, server, log } = application;
    const id = await orchestrator.start("listener", at("held"));
    await waiting(id);
    const lease = await log.acquire(sessionLog("held" as SessionId), { owner: "somebody else", ttlMs: 60_000 });
    await orchestrator.signal(id, { kind: "news", payload: "seven" });
    await eventually("an attempt that failed", async () => {
      const rows = await server.sql(
        "SELECT retry_count AS attempts FROM sys_invocation WHERE target_service_key = 'held' AND status <> 'completed'",
      );
      return rows.some(({ attempts }) => Number(attempts) > 1) ? true : undefined;
    });
    await lease.release();
    expect(await orchestrator.attach(id)).toMatchObject({ message: [{ text: "heard seven" }] });
  });

  it("has more callers wait than a process keeps requests open for, and works others meanwhile", async () => {
    const { orchestrator, server } = application;
    const id = await orchestrator.start("listener", at("crowd"));
    await waiting(id);
    const attached = Array.from({ length: 230 }, () => orchestrator.attach(id));
    const asked = async () =>
      Number(
        (await server.sql("SELECT count(*) AS n FROM sys_invocation WHERE target_handler_name = 'attach' AND status = 'running'"))[0]?.[
          "n"
        ],
      );
    await eventually("as many as may wait", async () => ((await asked()) >= 200 ? true : undefined));
    expect(await orchestrator.dispatch("looker", at("meanwhile", "2"))).toMatchObject({ exitReason: { type: "complete" } });
    // The dispatch, and those that are just being told to ask again, come on top.
    expect(await asked()).toBeLessThan(230);
    await orchestrator.signal(id, { kind: "news", payload: "seven" });
    const outputs = await Promise.all(attached);
    expect(new Set(outputs.map(({ exitReason }) => exitReason.type))).toEqual(new Set(["complete"]));
  });

  it("is not held up by waking a session that is not there", async () => {
    const { orchestrator, server } = application;
    await orchestrator.wake("nobody-began-this" as SessionId);
    await eventually("the end of the call", async () => {
      const rows = await server.sql("SELECT status, retry_count FROM sys_invocation WHERE target_service_key = 'nobody-began-this'");
      return rows[0]?.["status"] === "completed" ? true : undefined;
    });
  });

  it("leaves no journal that its handlers do not fit", async () => {
    expect(await journalFaults(application.server)).toEqual([]);
  });
});
