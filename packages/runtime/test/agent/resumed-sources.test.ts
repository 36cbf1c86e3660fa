import { createAgent, createRunner, defineTool, type Agent, type InferRequest, type Tool } from "keelson";
import { handoffTool } from "keelson/agent";
import { scriptedModel, type ScriptedResponse } from "keelson/testing";
import { sessionLog, type AgentEvent, type Decision, type EventLog, type SessionId, type ToolSource } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { listOf } from "../list-of.ts";
import { failingLog } from "../crash/failing-log.ts";
import { growingSource } from "./growing-source.ts";
import { heldClock } from "./held-clock.ts";
import { ofType, recordingTool, runnerOf, sharedServices, watch } from "./support.ts";

const names = ({ tools }: InferRequest): readonly string[] => (tools ?? []).map(({ name }) => name);

async function typesIn(log: EventLog, session = "s"): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { type } of log.read(sessionLog(session as SessionId))) types.push(type);
  return types;
}

/** Calls these, one after another, and is done: told by what it is shown, so that any process answers alike. */
function calling(toolCalls: readonly string[], asked: InferRequest[] = []) {
  const respond = (request: InferRequest): ScriptedResponse => {
    asked.push(request);
    const name = toolCalls[request.messages.filter(({ role }) => role === "assistant").length];
    return name === undefined ? { text: "done" } : { toolCalls: [{ name, input: { task: name } }] };
  };
  return scriptedModel(Array.from({ length: 40 }, () => respond));
}

/** A tool that waits for a person's word, called in the first turn. */
const asking = { rules: [{ pattern: "send", behavior: "ask" }] } as const;

/** Begins a run that waits for a person's word on its call of `send`, which a source offers. */
async function waiting(services: ReturnType<typeof sharedServices>, send: Tool) {
  const agent = (source: ToolSource): Agent<undefined> =>
    createAgent({ name: "a", model: calling(["send"]), toolSources: [source], permissions: asking });
  const outcome = await runnerOf(agent(growingSource([send])), services).run("go", { session: "s" }).outcome;
  expect(outcome.reason).toBe("awaiting-approval");
  const [wait] = outcome.waits ?? [];
  const decide = (decision: Decision) =>
    runnerOf(agent(growingSource()), services).approve((wait as { readonly token: string }).token, decision);
  return { agent, decide };
}

describe("a run that waits", () => {
  it("goes on with the live tool of its source, which is opened again and closed each time", async () => {
    const services = sharedServices();
    const send = recordingTool("send");
    const { agent, decide } = await waiting(services, send);
    await decide({ type: "allow" });
    const source = growingSource([send]);
    const run = await runnerOf(agent(source), services).resume("s");
    expect(await run.outcome).toMatchObject({ reason: "complete", text: "done" });
    expect([send.calls.length, source.places.length, source.closed]).toEqual([1, 1, 1]);
  });

  it("waits for a source that takes its time when it goes on, no longer than 10 s, and tells the model", async () => {
    for (const comes of [true, false]) {
      const services = sharedServices();
      const send = recordingTool("send");
      const { agent, decide } = await waiting(services, send);
      await decide({ type: "allow" });
      const late = Promise.withResolvers<void>();
      const clock = heldClock();
      const source = growingSource([send], { ready: late.promise });
      const run = await createRunner({ ...services, agent: agent(source), clock }).resume("s");
      const watched = watch(run);
      await clock.waiting(10_000);
      if (comes) late.resolve();
      else await clock.advance(10_000);
      const { events, outcome } = await watched;
      expect(outcome.text).toBe("done");
      expect(send.calls).toHaveLength(comes ? 1 : 0);
      if (!comes)
        expect(ofType(events, "tool-result")).toMatchObject([
          { isError: true, output: expect.stringContaining('"send" is not there now: its source "shelf" does not offer it') },
        ]);
    }
  });

  it("does not wait for a tool that its source knows not to come, and keeps it for the turn alone", async () => {
    const services = sharedServices();
    const { agent, decide } = await waiting(services, recordingTool("send"));
    await decide({ type: "allow" });
    const asked: InferRequest[] = [];
    const other = createAgent({ name: "a", model: calling(["send"], asked), toolSources: [growingSource()], permissions: asking });
    const { events } = await watch(await createRunner({ ...services, agent: other, clock: heldClock() }).resume("s"));
    expect(ofType(events, "tool-result")).toMatchObject([{ isError: true }]);
    expect(asked.map(names)).toEqual([[]]);
    expect(agent).toBeDefined();
  });

  it("asks again where the tool that was allowed is another by then, and runs it as it is now when that is said", async () => {
    const services = sharedServices();
    const old = recordingTool("send");
    const { agent, decide } = await waiting(services, old);
    await decide({ type: "allow" });
    const now = { ...recordingTool("send"), version: "2", description: "Sends to everybody." };
    const resumed = await (await runnerOf(agent(growingSource([now])), services).resume("s")).outcome;
    expect(resumed.waits).toMatchObject([
      { type: "approval", description: "Sends to everybody.", reason: expect.stringContaining("changed") },
    ]);
    await runnerOf(agent(growingSource([now])), services).approve((resumed.waits?.[0] as { readonly token: string }).token, {
      type: "allow",
    });
    expect((await (await runnerOf(agent(growingSource([now])), services).resume("s")).outcome).text).toBe("done");
    expect([old.calls.length, now.calls.length]).toEqual([0, 1]);
  });

  it("asks what to do where the tool takes other arguments by then", async () => {
    const services = sharedServices();
    const { agent, decide } = await waiting(services, recordingTool("send"));
    await decide({ type: "allow" });
    const now = defineTool({
      name: "send",
      description: "Sends.",
      input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
      execute: () => "sent",
    });
    const { outcome } = await watch(await runnerOf(agent(growingSource([now])), services).resume("s"));
    expect(outcome.reason).toBe("awaiting-decision");
    expect(outcome.waits).toMatchObject([{ type: "decision", reason: expect.stringContaining("no longer takes these arguments") }]);
  });
});

describe("a write of a source's tool that was cut off", () => {
  /** A process that ends once the write was made, before its result is kept. */
  async function cutOff(services: ReturnType<typeof sharedServices>, done: string[]): Promise<(source: ToolSource) => Agent<undefined>> {
    const send = sending(done);
    const agent = (source: ToolSource): Agent<undefined> =>
      createAgent({ name: "a", model: calling(["send"]), toolSources: [source], permissions: { mode: "bypass-all" } });
    // The second append holds its reservation, the third would hold its result.
    const log = failingLog(services.log, { at: 3, mode: "refused", recovers: false });
    await runnerOf(agent(growingSource([send])), { ...services, log }).run("go", { session: "s" }).outcome;
    expect([done.length, (await typesIn(services.log)).at(-1)]).toEqual([1, "tool-reserved"]);
    return agent;
  }
  const sending = (done: string[], version = "1"): Tool =>
    defineTool({ name: "send", description: "Sends.", version, input: { type: "object" }, execute: () => (done.push(version), "sent") });

  it.each([
    ["by a source that has it still", (done: string[]) => [sending(done)], "was started, then the process ended"],
    ["by one that has another version", (done: string[]) => [sending(done, "2")], "of the version 2 by now, not 1"],
    ["by one that has it no more", () => [], 'it has no tool "send" any more'],
  ] as const)("is unknown, and a person is asked: %s [RN-09]", async (_, offered, reason) => {
    const services = sharedServices();
    const done: string[] = [];
    const agent = await cutOff(services, done);
    const runner = runnerOf(agent(growingSource(offered(done))), services);
    const { events, outcome } = await watch(await runner.resume("s"));
    expect(outcome.reason).toBe("awaiting-decision");
    expect(outcome.waits).toMatchObject([{ type: "decision", operation: "send", reason: expect.stringContaining(reason) }]);
    expect(ofType(events, "tool-unknown")).toHaveLength(1);
    expect(done).toEqual(["1"]);
    await runner.approve((outcome.waits?.[0] as { readonly token: string }).token, { type: "supply", output: "was sent" });
    const after: AgentEvent[] = [];
    const resumed = await runnerOf(agent(growingSource(offered(done))), services).resume("s");
    for await (const event of resumed) after.push(event);
    expect(ofType(after, "tool-result")).toMatchObject([{ output: "was sent", isError: false }]);
    expect(done).toEqual(["1"]);
  });
});

describe("a run whose turns are worked one by one", () => {
  it("has what its source offers in each of them, and writes it once", async () => {
    const services = sharedServices();
    const look = recordingTool("look", { effect: "read" });
    const asked: InferRequest[] = [];
    const sources: ReturnType<typeof growingSource>[] = [];
    const runner = () => {
      const source = growingSource([look]);
      sources.push(source);
      return runnerOf(
        createAgent({ name: "a", model: calling(["look", "look", "look"], asked), toolSources: [source], loopGuard: false }),
        services,
      );
    };
    await runner().begin("s", "go");
    while ((await runner().advance("s")).next.type === "now");
    expect(asked.map(names)).toEqual([["look"], ["look"], ["look"], ["look"]]);
    expect(look.calls).toHaveLength(3);
    expect((await typesIn(services.log)).filter((type) => type === "tools-offered")).toHaveLength(1);
    // The process that begins it works no turn, and so opens none.
    expect(sources.map(({ places, closed }) => [places.length, closed])).toEqual([
      [0, 0],
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
  });

  it("hears of a source that is there only by the end of a turn, and loses nothing while it comes", async () => {
    const services = sharedServices();
    const look = recordingTool("look", { effect: "read" });
    const wake = { now: (): void => {} };
    const wait = defineTool({
      name: "wait",
      description: "Waits.",
      effect: "read",
      input: { type: "object" },
      execute: () => (wake.now(), "ok"),
    });
    const asked: InferRequest[] = [];
    const runner = () => {
      const ready = new Promise<void>((resolve) => {
        wake.now = resolve;
      });
      const source = growingSource([look], { ready });
      return runnerOf(
        createAgent({ name: "a", model: calling(["wait", "wait", "wait"], asked), tools: [wait], toolSources: [source] }),
        services,
      );
    };
    await runner().begin("s", "go");
    while ((await runner().advance("s")).next.type === "now");
    expect(asked.map(names)).toEqual([["wait"], ["look", "wait"], ["look", "wait"], ["look", "wait"]]);
  });
});

describe("what was offered", () => {
  it("is of the agent, and another that is handed the conversation has its own", async () => {
    const services = sharedServices();
    const asked: InferRequest[] = [];
    const second = createAgent({ name: "second", model: calling([], asked), toolSources: [growingSource([recordingTool("theirs")])] });
    const first = createAgent({
      name: "first",
      model: calling(["hand_off_to_second"], asked),
      tools: [handoffTool(second, { history: true })],
      toolSources: [growingSource([recordingTool("ours")])],
    });
    const runner = createRunner({ ...services, agents: { first, second }, handoffs: "caller" });
    expect((await runner.run("go", { agent: "first", session: "s" }).outcome).reason).toBe("handed-off");
    await runner.run("go on", { agent: "second", session: "s" }).outcome;
    await runner.run("and you", { agent: "first", session: "s" }).outcome;
    expect(asked.map(names)).toEqual([["hand_off_to_second", "ours"], ["theirs"], ["hand_off_to_second", "ours"]]);
  });

  it("goes with a fork, and is gone with a source that the agent has no more", async () => {
    const services = sharedServices();
    const asked: InferRequest[] = [];
    const look = recordingTool("look");
    const agent = createAgent({ name: "a", model: calling([], asked), toolSources: [growingSource([look])] });
    const runner = runnerOf(agent, services);
    await runner.run("go", { session: "s" }).outcome;
    await runner.sessions.fork("s" as SessionId, { id: "f" });
    await runner.run("on", { session: "f" }).outcome;
    expect((await typesIn(services.log, "f")).filter((type) => type === "tools-offered")).toHaveLength(0);
    await runnerOf(agent.with({ toolSources: [growingSource([], { name: "other" })] }), services).run("on", { session: "f" }).outcome;
    await runnerOf(agent.with({ toolSources: [] }), services).run("on", { session: "s" }).outcome;
    expect(asked.map(names)).toEqual([["look"], ["look"], [], []]);
    for (const session of ["f", "s"])
      expect((await typesIn(services.log, session)).filter((type) => type === "tools-offered")).toHaveLength(session === "f" ? 1 : 2);
  });

  it("is what a rehearsal goes by, which opens no source", async () => {
    const services = sharedServices();
    const source = growingSource([recordingTool("send")]);
    const agent = createAgent({ name: "a", model: calling(["send"]), toolSources: [source], permissions: asking });
    await runnerOf(agent, services).run("go", { session: "s" }).outcome;
    const opened = source.places.length;
    const [rehearsed] = await listOf(runnerOf(agent, services).rehearse());
    expect(rehearsed).toMatchObject({ verdict: "waits", isSafe: true });
    expect(source.places).toHaveLength(opened);
  });
});
