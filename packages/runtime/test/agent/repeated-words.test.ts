import { inboxLog, type RunId, type SessionId, type Tool } from "@keelson/protocol";
import { agentTool, createAgent, type Agent, type SingleRunner } from "keelson";
import { waitForSignalTool } from "keelson/agent";
import { createDurableOrchestrator, operatorInput } from "keelson/orchestration";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

/** Whoever repeats what he said, since he can't know whether it was heard. */
function speakerTo(agent: Agent) {
  const services = sharedServices();
  const woken: SessionId[] = [];
  const runner: SingleRunner<unknown> = runnerOf(agent, services);
  const orchestrator = createDurableOrchestrator({ runner: () => runner, wake: async (session) => void woken.push(session) });
  const said = () => services.log.head(inboxLog("s" as SessionId));
  return { runner, orchestrator, said, woken };
}

const paying = (tools: readonly Tool[] = []): Agent =>
  createAgent({
    name: "a",
    model: scriptedModel([{ toolCalls: [{ name: "pay", input: {} }] }, "paid"] satisfies readonly ScriptedTurn[]),
    tools: [recordingTool("pay", { effect: "write", risk: "high" }), ...tools],
  });

describe("what is said to a run twice under one key", () => {
  it("is one decision: it was heard the first time, and decides nothing new; another key is another one, and refused", async () => {
    const { runner, said } = speakerTo(paying());
    await runner.begin("s", "go");
    await runner.advance("s");
    const token = (await runner.approvals.list())[0]?.token ?? "";
    const decided = await runner.approve(token, { type: "allow" }, { key: "once" });
    expect(await runner.approve(token, { type: "allow" }, { key: "once" })).toEqual(decided);
    expect(await said()).toBe(1);
    await expect(runner.approve(token, { type: "allow" }, { key: "again" })).rejects.toMatchObject({ failure: { reason: "used" } });
    await expect(runner.approve(token, { type: "allow" })).rejects.toMatchObject({ failure: { reason: "used" } });
    while ((await runner.advance("s")).next.type === "now");
    expect(await runner.approve(token, { type: "allow" }, { key: "once" })).toEqual(decided);
  });

  it("is one signal, and one word on its way, of a runner as of an orchestrator", async () => {
    const { runner, orchestrator, said } = speakerTo(paying());
    const id = await orchestrator.start("a", operatorInput("go", "user", { session: "s" as SessionId }));
    const counts: number[] = [];
    for (const say of [
      () => runner.steer("s", "hurry", { key: "k" }),
      () => orchestrator.steer(id, "hurry", { key: "k" }),
      () => orchestrator.signal(id, { kind: "news", payload: 1 }, { key: "k" }),
      () => orchestrator.signal(id, { kind: "news", payload: 1 }, { key: "k" }),
      () => orchestrator.steer(id, "hurry"),
      () => orchestrator.steer(id, "hurry"),
    ]) {
      await say();
      counts.push(await said());
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 4]);
  });
});

describe("an orchestrator of an engine", () => {
  it("has the run above a child woken whose question it decided, where children work with their parents", async () => {
    const lead = createAgent({
      name: "lead",
      model: scriptedModel([{ toolCalls: [{ name: "a", input: { task: "pay" } }] }, "done"]),
      tools: [agentTool(paying())],
    });
    const { runner, orchestrator, woken } = speakerTo(lead);
    const id = await orchestrator.start("lead", operatorInput("go", "user", { session: "s" as SessionId }));
    expect((await runner.advance("s")).next.type).toBe("waiting");
    woken.length = 0;
    const [question] = await runner.approvals.list();
    expect((await orchestrator.approve(question?.token ?? "", { type: "allow" })).session).not.toBe("s");
    expect(woken).toEqual(["s"]);
    while ((await runner.advance("s")).next.type === "now");
    expect(await orchestrator.attach(id)).toMatchObject({ exitReason: { type: "complete" } });
  });

  it("lets go of a run that somebody no longer waits for, which goes on", async () => {
    const agent = createAgent({
      name: "a",
      model: scriptedModel([{ toolCalls: [{ name: "wait_for_signal", input: {} }] }, "done"]),
      tools: [waitForSignalTool()],
    });
    const { runner, orchestrator, woken } = speakerTo(agent);
    const id = await orchestrator.start("a", operatorInput("go", "user", { session: "s" as SessionId }));
    await runner.advance("s");
    const controller = new AbortController();
    const attached = orchestrator.attach(id, { signal: controller.signal });
    controller.abort();
    await expect(attached).rejects.toMatchObject({ failure: { kind: "cancelled" } });
    await orchestrator.signal(id, { kind: "news", payload: 1 });
    expect(woken).toEqual(["s", "s"]);
    while ((await runner.advance("s")).next.type === "now");
    expect(await orchestrator.attach(id, { signal: controller.signal })).toMatchObject({ message: [{ text: "done" }] });
    await expect(orchestrator.steer(id, "late")).rejects.toMatchObject({ failure: { kind: "signal-failed" } });
    await expect(orchestrator.steer("r_none" as RunId, "late")).rejects.toMatchObject({ failure: { kind: "workflow-not-found" } });
  });

  it("records no metadata of a run that was given none", async () => {
    const { runner, orchestrator } = speakerTo(paying());
    await orchestrator.start("a", operatorInput("go", "user", { session: "s" as SessionId }));
    await orchestrator.start("a", operatorInput("go", "user", { session: "t" as SessionId, metadata: { user: "ada" } }));
    const metadataOf = async (session: string) => {
      for await (const event of runner.sessions.events(session)) if (event.type === "run-start") return event.metadata;
      return expect.unreachable("it was begun");
    };
    expect([await metadataOf("s"), await metadataOf("t")]).toEqual([undefined, { user: "ada" }]);
  });
});
