import { sessionLog, type EventLog, type LogRecord, type SessionId } from "@keelson/protocol";
import { agentTool, createAgent, type Agent, type SingleRunner } from "keelson";
import { createDurableOrchestrator } from "keelson/orchestration";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

const ask = (...names: readonly string[]): ScriptedTurn => ({
  toolCalls: names.map((name) => ({ name, input: { task: `look, ${name}` } })),
});
const EIGHT_DAYS_MS = 8 * 24 * 3_600_000;

/** One that may write when somebody allows it. */
function asking(name: string): Agent {
  return createAgent({
    name,
    model: scriptedModel([{ toolCalls: [{ name: "write", input: {} }] }, "written"]),
    tools: [recordingTool("write", { effect: "write" })],
    permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
  });
}

async function recordsOf(log: EventLog, session: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(session as SessionId))) records.push(record);
  return records;
}

async function childOf(log: EventLog, session: string, agent: string): Promise<string> {
  const start = (await recordsOf(log, session)).find(({ type, data }) => type === "child-start" && data["agent"] === agent);
  return start?.data["session"] as string;
}

const turns = (records: readonly LogRecord[]): readonly string[] =>
  records.filter(({ type }) => ["run-suspend", "run-resume", "run-complete"].includes(type)).map(({ type }) => type);

async function decide(runner: SingleRunner<unknown>, tool = "write"): Promise<void> {
  const question = (await runner.approvals.list()).find(({ operation }) => operation === tool);
  await runner.approve(question?.token ?? "", { type: "allow" });
}

describe("a child that waits while its parent is advanced", () => {
  it("is left as it is by the turns of its parent beside which it works", async () => {
    const services = sharedServices();
    const look = (n: number): ScriptedTurn => ({ toolCalls: [{ name: "look", input: { n } }] });
    const lead = createAgent({
      name: "lead",
      model: scriptedModel([ask("helper"), look(1), look(2), look(3), "waiting", "done"]),
      tools: [agentTool(asking("helper"), { background: true }), recordingTool("look", { effect: "read" })],
    });
    const runner = runnerOf(lead, services);
    await runner.begin("s", "go");
    for (let turn = 1; turn <= 4; turn++) expect((await runner.advance("s")).next.type).toBe("now");
    expect((await runner.advance("s")).next).toMatchObject({ type: "waiting", reason: "awaiting-approval" });
    const child = await childOf(services.log, "s", "helper");
    expect(turns(await recordsOf(services.log, child))).toEqual(["run-suspend"]);
    await decide(runner);
    while ((await runner.advance("s")).next.type === "now");
    expect(turns(await recordsOf(services.log, child))).toEqual(["run-suspend", "run-resume", "run-complete"]);
    expect(turns(await recordsOf(services.log, "s")).at(-1)).toBe("run-complete");
  });

  it("is left as it is while its parent goes on with another call, at any depth", async () => {
    const services = sharedServices();
    const middle = createAgent({
      name: "middle",
      model: scriptedModel([ask("left", "right"), "both"]),
      tools: [agentTool(asking("left")), agentTool(asking("right"))],
    });
    const lead = createAgent({ name: "lead", model: scriptedModel([ask("middle"), "all"]), tools: [agentTool(middle)] });
    const runner = runnerOf(lead, services);
    await runner.begin("s", "go");
    expect((await runner.advance("s")).next.type).toBe("waiting");
    const below = await childOf(services.log, "s", "middle");
    const [left, right] = await Promise.all(["left", "right"].map((name) => childOf(services.log, below, name)));
    const question = (await runner.approvals.list()).find(({ session }) => session === left);
    await runner.approve(question?.token ?? "", { type: "allow" });
    expect((await runner.advance("s")).next.type).toBe("waiting");
    expect(turns(await recordsOf(services.log, left as string))).toEqual(["run-suspend", "run-resume", "run-complete"]);
    expect(turns(await recordsOf(services.log, right as string))).toEqual(["run-suspend"]);
  });

  it("is asked about anew where somebody resumes the run in one go, who may be able to answer here", async () => {
    const services = sharedServices();
    const lead = createAgent({
      name: "lead",
      model: scriptedModel([ask("helper"), "done"]),
      tools: [agentTool(asking("helper"))],
    });
    await runnerOf(lead, services).begin("s", "go");
    await runnerOf(lead, services).advance("s");
    const answering = runnerOf(lead, { ...services, approvals: () => Promise.resolve({ type: "allow" }) });
    expect(await (await answering.resume("s")).outcome).toMatchObject({ reason: "complete", text: "done" });
  });

  it("is ended with its parent although nobody said anything to it", async () => {
    for (const [how, end] of [
      ["stop", "stopped"],
      ["abort", "aborted"],
    ] as const) {
      const services = sharedServices();
      const lead = createAgent({
        name: "lead",
        model: scriptedModel([ask("helper", "quiet"), "waiting", "never"]),
        tools: [agentTool(asking("helper")), agentTool(asking("quiet"), { background: true })],
      });
      const runner = runnerOf(lead, services);
      await runner.begin("s", "go");
      expect((await runner.advance("s")).next.type).toBe("waiting");
      await runner[how]("s");
      expect((await runner.advance("s")).next).toMatchObject({ type: "done", outcome: { reason: end } });
      for (const name of ["helper", "quiet"]) {
        const records = await recordsOf(services.log, await childOf(services.log, "s", name));
        expect(records.at(-1)).toMatchObject({ type: "run-complete", data: { reason: end } });
      }
    }
  });
});

describe("a question that nobody answered in its time", () => {
  it("is asked anew when its run is advanced, with a token that is good", async () => {
    const services = sharedServices();
    const runner = runnerOf(asking("a"), services);
    await runner.begin("s", "go");
    expect((await runner.advance("s")).next.type).toBe("waiting");
    services.clock.advance(EIGHT_DAYS_MS);
    expect(await runner.approvals.list()).toEqual([]);
    expect((await runner.advance("s")).next).toMatchObject({ type: "waiting", reason: "awaiting-approval" });
    const before = await recordsOf(services.log, "s");
    await runner.advance("s");
    expect(await recordsOf(services.log, "s")).toEqual(before);
    await decide(runner);
    while ((await runner.advance("s")).next.type === "now");
    expect(turns(await recordsOf(services.log, "s")).at(-1)).toBe("run-complete");
  });

  it("is asked anew by a child that works apart from its parent", async () => {
    const services = sharedServices();
    const woken: SessionId[] = [];
    const orchestrator = createDurableOrchestrator({ runner: () => runner, wake: async (session) => void woken.push(session) });
    const lead = createAgent({ name: "lead", model: scriptedModel([ask("helper"), "done"]), tools: [agentTool(asking("helper"))] });
    const runner: SingleRunner<unknown> = runnerOf(lead, { ...services, orchestrator });
    await runner.begin("s", "go");
    await runner.advance("s");
    const child = await childOf(services.log, "s", "helper");
    await runner.advance(child);
    services.clock.advance(EIGHT_DAYS_MS);
    await runner.advance(child);
    expect((await runner.approvals.list()).map(({ session }) => session)).toEqual([child]);
  });
});
