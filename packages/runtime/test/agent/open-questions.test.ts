import { agentTool, createAgent, createRunner, type RunnerOptions } from "keelson";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { recordingTool, sharedServices } from "./support.ts";

const deploy = (to: string): ScriptedTurn => ({ toolCalls: [{ name: "deploy", input: { to } }] });
const deployTool = () => recordingTool("deploy", { effect: "write", risk: "high" });

/** An agent that asks in its first turn. */
function asking(to: string) {
  return createAgent({ name: "ops", model: scriptedModel([deploy(to), "done"]), tools: [deployTool()] });
}

/** Runs in sessions of their own, each up to its first question. */
async function waitingIn(sessions: readonly string[], shared: RunnerOptions): Promise<void> {
  for (const session of sessions) {
    const { reason } = await createRunner({ ...shared, agent: asking(session) }).run("go", { session }).outcome;
    expect(reason).toBe("awaiting-approval");
  }
}

describe("the open questions of all sessions", () => {
  it("are listed with all that a person needs to decide, and each can be decided by its token [AV-01, AP-07]", async () => {
    const shared = sharedServices();
    const { clock } = shared;
    await waitingIn(["a", "b"], shared);
    const runner = createRunner({ ...shared, agent: asking("never") });
    const questions = await runner.approvals.list();
    expect(questions).toMatchObject(
      ["a", "b"].map((session) => ({
        type: "approval",
        session,
        rootSession: session,
        runId: expect.stringMatching(/^r_/),
        operation: "deploy",
        input: { to: session },
        risk: "high",
        reason: expect.stringContaining("risk"),
        token: expect.any(String),
      })),
    );
    for (const { expiresAt } of questions) expect(expiresAt).toBeGreaterThan(clock.now());
    expect(await runner.approve(questions[0]?.token ?? "", { type: "allow" })).toEqual({ session: "a", runId: questions[0]?.runId });
    expect((await runner.approvals.list()).map(({ session }) => session)).toEqual(["b"]);
  });

  it("are the same as the outcome's waits", async () => {
    const shared = sharedServices();
    const runner = createRunner({ ...shared, agent: asking("x") });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    expect(waits).toEqual(await runner.approvals.list());
    expect(waits).toHaveLength(1);
  });

  it("leave out what expired, and what belongs to a run that is over", async () => {
    const shared = sharedServices();
    const { clock } = shared;
    await waitingIn(["old"], { ...shared, approvalTtlMs: 1_000 });
    await waitingIn(["aborted", "young"], { ...shared, approvalTtlMs: 60_000 });
    const runner = createRunner({ ...shared, agent: asking("never"), approvalTtlMs: 60_000 });
    clock.advance(2_000);
    const aborted = (await runner.approvals.list()).find(({ session }) => session === "aborted");
    await runner.approve(aborted?.token ?? "", { type: "abort" });
    await (
      await runner.resume("aborted")
    ).outcome;
    expect((await runner.approvals.list()).map(({ session }) => session)).toEqual(["young"]);
  });

  it("include those of child agents, which name the session to resume", async () => {
    const shared = sharedServices();
    const parent = createAgent({
      name: "chief",
      model: scriptedModel([{ toolCalls: [{ name: "ops", input: { task: "deploy" } }] }, "all done"]),
      tools: [agentTool(asking("production"))],
    });
    const runner = createRunner({ ...shared, agent: parent });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    const questions = await runner.approvals.list();
    expect(questions).toMatchObject([{ operation: "deploy", input: { to: "production" }, rootSession: "s" }]);
    expect(questions[0]?.session).toMatch(/^s~/);
    expect(waits).toEqual(questions.map((question) => ({ ...question, path: ["ops"] })));
    await runner.approve(questions[0]?.token ?? "", { type: "allow" });
    expect(await (await runner.resume(questions[0]?.rootSession ?? "")).outcome).toMatchObject({ reason: "complete", text: "all done" });
    expect(await runner.approvals.list()).toEqual([]);
  });

  it("are one for each question, with the newest token, where it was asked again", async () => {
    const shared = { ...sharedServices(), approvalTtlMs: 1_000 };
    const { clock } = shared;
    await waitingIn(["s"], shared);
    const runner = createRunner({ ...shared, agent: asking("s") });
    const [first] = await runner.approvals.list();
    clock.advance(2_000);
    await (
      await runner.resume("s")
    ).outcome;
    await (
      await runner.resume("s")
    ).outcome;
    const again = await runner.approvals.list();
    expect(again).toHaveLength(1);
    expect(again[0]?.token).not.toBe(first?.token);
    expect(again[0]?.expiresAt).toBeGreaterThan(clock.now());
  });
});
