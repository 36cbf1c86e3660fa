import { agentTool, createAgent, type PendingApproval, type Run } from "keelson";
import type { Clock } from "keelson/session";
import { scriptedModel } from "keelson/testing";
import { AgentError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, watch } from "./support.ts";

const deploy = { toolCalls: [{ name: "deploy", input: { to: "staging" } }] };

/** A clock that stands still: whoever is asked has all the time there is. */
const clock: Clock = { now: () => 1_000_000, after: () => () => {} };

/** An agent that asks before it deploys, and one that has it as a tool. */
function family() {
  const tool = recordingTool("deploy", { effect: "write", risk: "high" });
  const worker = createAgent({ name: "worker", model: scriptedModel([deploy, "deployed"], { name: "worker/model" }), tools: [tool] });
  const boss = createAgent({
    name: "boss",
    model: scriptedModel([{ toolCalls: [{ name: "worker", input: { task: "Deploy it." } }] }, "all done"]),
    tools: [agentTool(worker)],
  });
  return { tool, worker: worker as typeof boss, boss };
}

async function firstQuestion(run: Run<unknown>): Promise<PendingApproval> {
  for await (const question of run.approvals()) return question;
  throw new Error("there was no question");
}

describe("the questions of a run", () => {
  it("come from its children too, to whoever takes them where the run was started [AV-01]", async () => {
    const { tool, boss } = family();
    const run = runnerOf(boss, { clock }).run("go");
    const taken = firstQuestion(run);
    const watched = watch(run);
    const { request, decide } = await taken;
    expect(request).toMatchObject({ operation: "deploy", input: { to: "staging" } });
    await decide({ type: "allow" });
    expect((await watched).outcome).toMatchObject({ reason: "complete", text: "all done" });
    expect(tool.calls).toHaveLength(1);
  });

  it("take one decision, and none that does not answer them", async () => {
    const { tool, worker } = family();
    const run = runnerOf(worker, { clock }).run("go");
    const watched = watch(run);
    const { decide } = await firstQuestion(run);
    for (const nonsense of [{ type: "perhaps" }, { type: "retry" }, undefined]) {
      const error = await decide(nonsense as never).catch((thrown: unknown) => thrown);
      expect(AgentError.is(error, "invalid-option")).toBe(true);
    }
    await decide({ type: "deny" });
    for (const type of ["deny", "allow"] as const) {
      const error = await decide({ type }).catch((thrown: unknown) => thrown);
      expect(AgentError.is(error, "invalid-token")).toBe(true);
    }
    const { events } = await watched;
    expect(ofType(events, "approval-decision").map(({ decision }) => decision.type)).toEqual(["deny"]);
    expect(tool.calls).toHaveLength(0);
  });

  it("are offered to those who come later while they are open, not when they are answered", async () => {
    const tool = recordingTool("deploy", { effect: "write", risk: "high" });
    const agent = createAgent({
      name: "a",
      model: scriptedModel([deploy, { toolCalls: [{ name: "deploy", input: { to: "production" } }] }, "done"]),
      tools: [tool],
    });
    const run = runnerOf(agent, { clock }).run("go");
    const watched = watch(run);
    const first = await firstQuestion(run);
    const again = await firstQuestion(run);
    expect(again.request.token).toBe(first.request.token);
    const rest = run.approvals();
    await first.decide({ type: "allow" });
    const later: unknown[] = [];
    for await (const { request, decide } of rest) {
      later.push(request.input);
      if (request.token !== first.request.token) {
        const [open] = [await firstQuestion(run)];
        expect(open?.request.token).toBe(request.token);
        await decide({ type: "allow" });
      }
    }
    expect(later).toEqual([{ to: "staging" }, { to: "production" }]);
    expect((await watched).outcome.reason).toBe("complete");
    expect(tool.calls).toHaveLength(2);
  });
});

describe("what a run that waits is told", () => {
  it("is used when it goes on: nothing of it is lost [RN-05]", async () => {
    const { tool, worker } = family();
    const runner = runnerOf(worker);
    const run = runner.run("go", { session: "s" });
    const { reason, waits } = await run.outcome;
    expect(reason).toBe("awaiting-approval");
    await run.steer("And tell me when it is done.");
    for (const wait of waits ?? []) if (wait.type === "approval") await runner.approve(wait.token, { type: "allow" });
    const resumed = await runner.resume("s");
    const { events, outcome } = await watch(resumed);
    expect(ofType(events, "steer")).toHaveLength(1);
    expect(outcome.reason).toBe("complete");
    expect(tool.calls).toHaveLength(1);
  });

  it("ends it when it is told to end", async () => {
    for (const [how, reason] of [
      ["abort", "aborted"],
      ["stop", "stopped"],
    ] as const) {
      const { tool, worker } = family();
      const runner = runnerOf(worker);
      const run = runner.run("go", { session: "s" });
      await run.outcome;
      await run[how]();
      expect((await (await runner.resume("s")).outcome).reason).toBe(reason);
      expect(tool.calls).toHaveLength(0);
      // It is over now: what is said to it is said to nobody.
      await run.abort();
      expect((await runner.run("again", { session: "s" }).outcome).reason).not.toBe("aborted");
    }
  });
});

describe("steering", () => {
  it("is a message of a user or of the system: the model's and the tools' words are not put into their mouths", async () => {
    const run = runnerOf(createAgent({ name: "a", model: scriptedModel(["hello"]) })).run("hi");
    for (const role of ["assistant", "tool"] as const) {
      const error = await run.steer({ role, content: [] }).catch((thrown: unknown) => thrown);
      expect(AgentError.is(error, "invalid-option")).toBe(true);
    }
    expect((await run.outcome).text).toBe("hello");
  });
});
