import { sessionLog, snapshotLog, type EventLog, type InferRequest, type LogRecord, type SessionId } from "@keelson/protocol";
import { createAgent, type Agent, type SingleRunner } from "keelson";
import { AgentError } from "@keelson/protocol";
import { scriptedModel, type ScriptedResponse } from "keelson/testing";
import { describe, expect, it } from "vitest";
import type { NextAdvance } from "../../src/agent/runner/advance-run.ts";
import { failingLog } from "../crash/failing-log.ts";
import { watchedLog } from "../crash/watched-log.ts";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

const SESSION = "s" as SessionId;

/** Looks `turns` times, then is done: told by what it is shown, so that any process answers alike. */
function looking(turns: number): { readonly agent: Agent; readonly asked: InferRequest[] } {
  const asked: InferRequest[] = [];
  const respond = (request: InferRequest): ScriptedResponse => {
    asked.push(request);
    const n = request.messages.filter(({ role }) => role === "tool").length;
    return n < turns ? { toolCalls: [{ name: "look", input: { n } }] } : { text: "done" };
  };
  const model = scriptedModel(Array.from({ length: turns + 9 }, () => respond));
  const look = recordingTool("look", { effect: "read" });
  return { agent: createAgent({ name: "a", model, tools: [look], limits: { maxTurns: turns + 1 } }), asked };
}

async function recordsOf(log: EventLog, session: SessionId = SESSION): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(session))) records.push(record);
  return records;
}

/** Advances until there is nothing to do now, with a runner of its own each time: another process. */
async function advanceAll(runner: () => SingleRunner<unknown>, most = 1000): Promise<readonly NextAdvance[]> {
  const nexts: NextAdvance[] = [];
  do nexts.push((await runner().advance("s")).next);
  while (nexts.at(-1)?.type === "now" && nexts.length < most);
  return nexts;
}

describe("a run that is begun", () => {
  it("stands in the log with its terms and its input, and asks no model", async () => {
    const services = sharedServices();
    const { agent, asked } = looking(1);
    const id = await runnerOf(agent, services).begin("s", "go", { metadata: { user: "ann" } });
    expect((await recordsOf(services.log)).map(({ type }) => type)).toEqual(["run-start", "run-terms", "message"]);
    expect((await recordsOf(services.log))[0]).toMatchObject({ key: `${id}/start`, data: { metadata: { user: "ann" } } });
    expect(asked).toEqual([]);
  });

  it("is the same run where it is begun under the same id again, also once it is over", async () => {
    const services = sharedServices();
    const { agent } = looking(1);
    expect(await runnerOf(agent, services).begin("s", "go", { id: "r_1" })).toBe("r_1");
    expect(await runnerOf(agent, services).begin("s", "go", { id: "r_1" })).toBe("r_1");
    await advanceAll(() => runnerOf(agent, services));
    const before = await recordsOf(services.log);
    expect(await runnerOf(agent, services).begin("s", "go", { id: "r_1" })).toBe("r_1");
    expect(await recordsOf(services.log)).toEqual(before);
  });

  it("is not begun where its records could not be written, and can be begun again", async () => {
    const services = sharedServices();
    const { agent } = looking(1);
    const log = failingLog(services.log, { at: 1, mode: "refused", recovers: true });
    const runner = runnerOf(agent, { ...services, log });
    await expect(runner.begin("s", "go", { id: "r_1" })).rejects.toMatchObject({ failure: { kind: "backend" } });
    expect(await services.log.head(sessionLog("s"))).toBe(0);
    expect(await runner.begin("s", "go", { id: "r_1" })).toBe("r_1");
    expect((await advanceAll(() => runnerOf(agent, services))).map(({ type }) => type)).toEqual(["now", "done"]);
  });

  it("is refused while another one is open, and for ids and options that are none", async () => {
    const services = sharedServices();
    const runner = runnerOf(looking(1).agent, services);
    await runner.begin("s", "go", { id: "r_1" });
    await expect(runner.begin("s", "go", { id: "r_2" })).rejects.toSatisfy((error) => AgentError.is(error, "session"));
    await expect(runner.begin("t", "go", { id: "" })).rejects.toThrow("must be the id of a run");
    await expect(runner.begin("t", "go", { modell: "x" } as never)).rejects.toThrow('did you mean "model"');
    await expect(runner.begin("a/b", "go")).rejects.toThrow();
  });
});

describe("a run that is advanced", () => {
  it("leaves the records of a run that is worked in one go, in a process for each turn", async () => {
    const inOneGo = sharedServices();
    await runnerOf(looking(3).agent, inOneGo).run("go", { session: "s" }).outcome;
    const turnByTurn = sharedServices();
    const { agent } = looking(3);
    const id = await runnerOf(agent, turnByTurn).begin("s", "go");
    const nexts = await advanceAll(() => runnerOf(agent, turnByTurn));
    expect(nexts.map(({ type }) => type)).toEqual(["now", "now", "now", "done"]);
    expect(nexts.at(-1)).toMatchObject({ outcome: { reason: "complete", text: "done", turns: 4 } });
    // Ids of calls are made of the id of the run.
    const shape = (records: readonly LogRecord[]) =>
      records.map(({ key, type }) => [key.slice(key.indexOf("/")).replace(/c_[a-z0-9]+_/, "c_"), type]);
    expect(shape(await recordsOf(turnByTurn.log))).toEqual(shape(await recordsOf(inOneGo.log)));
    expect((await recordsOf(turnByTurn.log)).every(({ key }) => key.startsWith(`${id}/`))).toBe(true);
  });

  it("says where the log ends, and gives its outcome again once it is over", async () => {
    const services = sharedServices();
    const { agent } = looking(0);
    await runnerOf(agent, services).begin("s", "go");
    const first = await runnerOf(agent, services).advance("s");
    expect(first).toMatchObject({ seq: await services.log.head(sessionLog(SESSION)), next: { type: "done", outcome: { text: "done" } } });
    expect(await runnerOf(agent, services).advance("s")).toMatchObject({
      seq: first.seq,
      next: { type: "done", outcome: { text: "done" } },
    });
  });

  it("rejects where the end of its turn could not be written, and the next goes on with that turn", async () => {
    const services = sharedServices();
    const { agent } = looking(1);
    await runnerOf(agent, services).begin("s", "go");
    const appends: string[] = [];
    const counting = watchedLog(services.log, { before: (_log, records) => void appends.push(records.map(({ type }) => type).join(" ")) });
    await runnerOf(agent, { ...services, log: counting }).advance("s");
    const last = appends.findLastIndex((types) => types.includes("turn-end")) + 1;

    const again = sharedServices();
    await runnerOf(agent, again).begin("s", "go");
    const log = failingLog(again.log, { at: last, mode: "refused", recovers: true });
    await expect(runnerOf(agent, { ...again, log }).advance("s")).rejects.toMatchObject({ failure: { kind: "backend" } });
    expect((await recordsOf(again.log)).map(({ type }) => type)).not.toContain("turn-end");
    expect((await advanceAll(() => runnerOf(agent, again))).at(-1)).toMatchObject({ type: "done", outcome: { reason: "complete" } });
  });

  it("is resumed after a wait, and after a process that was cut off, and at no other time", async () => {
    const services = sharedServices();
    const { agent } = looking(4);
    await runnerOf(agent, services).begin("s", "go");
    await runnerOf(agent, services).advance("s");
    // A process that dies between two turns, with the lease in its hands.
    await services.log.acquire(sessionLog(SESSION), { owner: "gone", ttlMs: 10 });
    (services.clock as { advance?(ms: number): void }).advance?.(100);
    await advanceAll(() => runnerOf(agent, services));
    const resumes = (await recordsOf(services.log)).filter(({ type }) => type === "run-resume");
    expect(resumes.map(({ data }) => data["cause"])).toEqual(["recovery"]);
  });

  it("notes each definition that its turns were worked by", async () => {
    const services = sharedServices();
    const version = (n: number) =>
      createAgent({
        name: "a",
        instructions: `version ${n}`,
        model: scriptedModel(Array.from({ length: 9 }, () => ({ toolCalls: [{ name: "look", input: {} }] }))),
        tools: [recordingTool("look", { effect: "read" })],
        loopGuard: false,
      });
    await runnerOf(version(0), services).begin("s", "go");
    for (const n of [0, 1, 2]) await runnerOf(version(n), services).advance("s");
    const changes = (await recordsOf(services.log)).filter(({ type }) => type === "definition-change");
    expect(changes.map(({ data }) => data["to"])).toEqual([version(1).digest, version(2).digest]);
  });

  it("reads no more records and writes no more bytes for it at turn 200 than at turn 100", async () => {
    const services = sharedServices();
    const { agent } = looking(200);
    let read = 0;
    let written = 0;
    const watched = watchedLog(services.log, { after: (_log, records) => void (written += JSON.stringify(records).length) });
    const log: EventLog = {
      ...watched,
      async *read(id, options) {
        for await (const record of services.log.read(id, options)) {
          read++;
          yield record;
        }
      },
    };
    await runnerOf(agent, services).begin("s", "go");
    const turns: { readonly read: number; readonly written: number }[] = [];
    for (let next = "now"; next === "now";) {
      read = written = 0;
      next = (await runnerOf(agent, { ...services, log }).advance("s")).next.type;
      turns.push({ read, written });
    }
    expect(turns.length).toBe(201);
    expect(Math.max(...turns.map((turn) => turn.read))).toBeLessThanOrEqual(1000);
    const most = (of: typeof turns) => Math.max(...of.map((turn) => turn.written));
    expect(most(turns.slice(100))).toBeLessThanOrEqual(most(turns.slice(0, 100)) + 500);
    expect(await services.log.head(snapshotLog("s"))).toBeGreaterThan(2);
  }, 60_000);
});

describe("a run that waits and has an end in time", () => {
  const asking = (options: Partial<Parameters<typeof createAgent>[0]> = {}): Agent =>
    createAgent({
      name: "a",
      model: scriptedModel([{ toolCalls: [{ name: "write", input: {} }] }, "done"]),
      tools: [recordingTool("write", { effect: "write" })],
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
      ...options,
    });
  const startedAt = async (log: EventLog): Promise<number> => (await recordsOf(log))[0]?.at ?? 0;

  it.each([
    ["its own", { maxDurationMs: 60_000 }, {}, "maxDurationMs"],
    ["a deadline", {}, { inMs: 60_000 }, "deadline"],
    ["the earlier of both", { maxDurationMs: 90_000 }, { inMs: 60_000 }, "deadline"],
  ] as const)("says when, and ends then, by %s", async (_what, limits, { inMs }: { readonly inMs?: number }, name) => {
    const services = sharedServices();
    const agent = asking({ limits });
    const deadline = inMs === undefined ? undefined : services.clock.now() + inMs;
    await runnerOf(agent, services).begin("s", "go", deadline === undefined ? {} : { deadline });
    const at = (await startedAt(services.log)) + 60_000;
    const waiting = { type: "at", at, reason: "awaiting-approval", waits: [{ type: "approval" }] };
    expect((await runnerOf(agent, services).advance("s")).next).toMatchObject(waiting);
    const before = await recordsOf(services.log);
    services.clock.advance(at - services.clock.now() - 1);
    expect((await runnerOf(agent, services).advance("s")).next).toMatchObject(waiting);
    expect(await recordsOf(services.log)).toEqual(before);
    services.clock.advance(1);
    expect((await runnerOf(agent, services).advance("s")).next).toMatchObject({
      type: "done",
      outcome: { reason: "timeout", limit: { name } },
    });
    expect((await recordsOf(services.log)).filter(({ type }) => type === "run-resume").map(({ data }) => data["cause"])).toEqual(["timer"]);
    expect(await runnerOf(agent, services).approvals.list()).toEqual([]);
  });

  it("goes on where what it waits for comes before that", async () => {
    const services = sharedServices();
    const agent = asking({ limits: { maxDurationMs: 60_000 } });
    await runnerOf(agent, services).begin("s", "go");
    await runnerOf(agent, services).advance("s");
    services.clock.advance(50_000);
    const runner = runnerOf(agent, services);
    await runner.approve((await runner.approvals.list())[0]?.token ?? "", { type: "allow" });
    expect(
      await advanceAll(() => runnerOf(asking({ limits: { maxDurationMs: 60_000 }, model: scriptedModel(["done"]) }), services)),
    ).toMatchObject([{ type: "now" }, { type: "done", outcome: { reason: "complete" } }]);
  });

  it("is ended where runs are recovered, and where it is resumed", async () => {
    for (const goOn of ["recover", "resume"] as const) {
      const services = sharedServices();
      const agent = asking({ limits: { maxDurationMs: 60_000 } });
      expect((await runnerOf(agent, services).run("go", { session: "s" }).outcome).reason).toBe("awaiting-approval");
      services.clock.advance(60_000);
      const runner = runnerOf(agent, services);
      const run = goOn === "resume" ? await runner.resume("s") : (await runner.recover()).runs[0];
      expect((await run?.outcome)?.reason).toBe("timeout");
    }
  });
});
