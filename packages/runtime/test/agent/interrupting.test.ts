import { agentTool, createAgent, defineTool, type Run, type Tool } from "keelson";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { type Decision, type Reconciliation, sessionLog, type SessionId, type ToolCall, type ToolOutput } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { heldClock } from "./held-clock.ts";
import { ofType, recordingTool, runnerOf, sharedServices, watch } from "./support.ts";

const calling = (...names: readonly string[]): ScriptedTurn => ({ toolCalls: names.map((name) => ({ name, input: {} })) });

/** A tool whose one call the test has in hand. */
function heldTool(
  name: string,
  work: (call: ToolCall) => Promise<ToolOutput>,
  fields: Partial<Pick<Tool, "effect" | "origin">> & { readonly reconcile?: () => Reconciliation | Promise<Reconciliation> } = {},
): Tool & { readonly begun: Promise<ToolCall>; readonly times: () => number } {
  const { promise: begun, resolve } = Promise.withResolvers<ToolCall>();
  const { origin, effect = "write", ...more } = fields;
  let times = 0;
  const tool = defineTool({
    name,
    description: `Test tool ${name}.`,
    effect,
    concurrency: "shared",
    input: { type: "object" },
    ...more,
    execute(_input, call: ToolCall) {
      times++;
      resolve(call);
      return work(call);
    },
  });
  return { ...tool, ...(origin !== undefined && { origin }), begun, times: () => times };
}

/** Resolves or rejects once the signal of the call fires. */
const onSignal = (call: ToolCall, then: () => ToolOutput): Promise<ToolOutput> =>
  new Promise((resolve, reject) =>
    call.signal.addEventListener("abort", () => {
      try {
        resolve(then());
      } catch (error) {
        reject(error);
      }
    }),
  );
const refusing = (): never => {
  throw new Error("the connection was closed");
};
const never = (): Promise<ToolOutput> => new Promise(() => {});

const agentOf = (turns: readonly ScriptedTurn[], tools: readonly Tool[]) => createAgent({ name: "a", model: scriptedModel(turns), tools });

describe("run.interrupt()", () => {
  it("ends a call with what it returns when its signal fires, skips the calls behind it, and ends the run as stopped [RN-04]", async () => {
    const reasons: unknown[] = [];
    const work = heldTool("work", (call) =>
      onSignal(call, () => {
        reasons.push(call.signal.reason);
        return { type: "content", content: [{ type: "text", text: "half of it" }], isError: true };
      }),
    );
    const after = recordingTool("after");
    const run = runnerOf(agentOf([calling("work", "after"), "never asked"], [work, after]), { clock: heldClock() }).run("go");
    const watched = watch(run);
    await work.begun;
    await run.interrupt("enough");
    const { events, outcome } = await watched;
    expect(outcome).toMatchObject({ reason: "stopped", why: "enough", turns: 1 });
    expect(ofType(events, "tool-result").map(({ name, output, isError, interrupted }) => ({ name, output, isError, interrupted }))).toEqual(
      [
        {
          name: "work",
          output: expect.objectContaining({ content: [{ type: "text", text: "half of it" }] }),
          isError: true,
          interrupted: true,
        },
        { name: "after", output: expect.stringMatching(/^Not run: /), isError: true, interrupted: undefined },
      ],
    );
    expect([reasons, after.calls]).toEqual([["interrupted"], []]);
  });

  it("waits for a call of this process that does not hear its signal, as an edit under way", async () => {
    const release = Promise.withResolvers<ToolOutput>();
    const edit = heldTool("edit", () => release.promise);
    const run = runnerOf(agentOf([calling("edit")], [edit]), { clock: heldClock() }).run("go");
    const watched = watch(run);
    await edit.begun;
    await run.interrupt();
    release.resolve("edited");
    const { events, outcome } = await watched;
    expect(outcome.reason).toBe("stopped");
    const [result] = ofType(events, "tool-result");
    expect(result).toMatchObject({ output: "edited", isError: false });
    expect(result).not.toHaveProperty("interrupted");
  });

  it("leaves a read that does not answer, and says so in its result", async () => {
    const clock = heldClock();
    const look = heldTool("look", never, { effect: "read", origin: "the server x" });
    const run = runnerOf(agentOf([calling("look")], [look]), { clock }).run("go");
    const watched = watch(run);
    await look.begun;
    await run.interrupt();
    await clock.waiting(100);
    await clock.advance(100);
    const { events, outcome } = await watched;
    expect(outcome.reason).toBe("stopped");
    expect(ofType(events, "tool-result")).toMatchObject([
      { output: "Interrupted: the run was stopped before this call was done.", interrupted: true },
    ]);
    expect(ofType(events, "tool-unknown")).toEqual([]);
  });

  it.each([
    [
      "that changed nothing",
      () => "not-done" as const,
      { output: expect.stringContaining("before this call changed anything"), isError: true },
    ],
    ["that was carried out", () => ({ output: "done after all" }), { output: "done after all", isError: false }],
  ])("asks the tool of a write that broke off, and records one %s as that", async (_what, reconcile, result) => {
    const write = heldTool("write", (call) => onSignal(call, refusing), { reconcile });
    const run = runnerOf(agentOf([calling("write")], [write]), { clock: heldClock() }).run("go");
    const watched = watch(run);
    await write.begun;
    await run.interrupt();
    const { events, outcome } = await watched;
    expect([outcome.reason, ofType(events, "tool-unknown")]).toEqual(["stopped", []]);
    expect(ofType(events, "tool-result")).toMatchObject([result]);
  });

  it("does the same for a call of a child agent", async () => {
    const work = heldTool("work", (call) => onSignal(call, () => "as far as I came"));
    const child = createAgent({ name: "child", model: scriptedModel([calling("work")]), tools: [work] });
    const turn = { toolCalls: [{ name: "child", input: { task: "go" } }] };
    const run = runnerOf(agentOf([turn], [agentTool(child)]), { clock: heldClock() }).run("go");
    await work.begun;
    await run.interrupt();
    expect([(await run.outcome).reason, work.times()]).toEqual(["stopped", 1]);
  });

  it("reaches a run of another process through its inbox", async () => {
    const services = { ...sharedServices(), clock: heldClock() };
    const work = heldTool("work", (call) => onSignal(call, () => "as far as I came"));
    const agent = agentOf([calling("work")], [work]);
    const run = runnerOf(agent, services).run("go", { session: "s" });
    await work.begun;
    await runnerOf(agent, services).interrupt("s", "from outside");
    expect(await run.outcome).toMatchObject({ reason: "stopped", why: "from outside" });
  });
});

describe("a write of a server that an interrupt cuts off", () => {
  const interrupted = async (reconcile?: () => Reconciliation) => {
    const services = { ...sharedServices(), clock: heldClock() };
    const send = heldTool("send", (call) => onSignal(call, refusing), { origin: "the server x", ...(reconcile && { reconcile }) });
    const agent = agentOf([calling("send"), "never asked"], [send]);
    const run = runnerOf(agent, services).run("go", { session: "s" });
    await send.begun;
    await run.interrupt();
    const outcome = await run.outcome;
    const resume = (approvals?: () => Decision): Promise<Run<unknown>> =>
      runnerOf(agent, { ...services, ...(approvals && { approvals }) }).resume("s");
    return { services, send, agent, outcome, resume };
  };

  it("is unknown: the run waits, and is asked about it when it goes on, before it ends as stopped", async () => {
    const { services, send, outcome, resume } = await interrupted();
    expect(outcome).toMatchObject({
      reason: "awaiting-decision",
      waits: [
        { type: "decision", operation: "send", reason: expect.stringContaining("the run was interrupted before it said what it did") },
      ],
    });
    const records = [];
    for await (const record of services.log.read(sessionLog("s" as SessionId))) records.push(record);
    expect(records.filter(({ type }) => type === "tool-unknown").map(({ data }) => data)).toMatchObject([
      { name: "send", interrupted: true },
    ]);
    const { events, outcome: end } = await watch(await resume(() => ({ type: "supply", output: "sent" })));
    expect(end.reason).toBe("stopped");
    expect(ofType(events, "tool-result")).toMatchObject([{ name: "send", output: "sent", isError: false }]);
    expect(send.times()).toBe(1);
  });

  it("takes an answer from elsewhere, and says that it failed where a person says so", async () => {
    const { services, agent, outcome, resume } = await interrupted();
    const [wait] = outcome.waits ?? [];
    await runnerOf(agent, services).approve((wait as { token: string }).token, { type: "fail", reason: "nothing arrived" });
    const { events, outcome: end } = await watch(await resume());
    expect(end.reason).toBe("stopped");
    expect(ofType(events, "tool-result")).toMatchObject([{ output: expect.stringContaining("nothing arrived"), isError: true }]);
  });

  it("is asked about again as long as nobody answers, also where the run is interrupted while it asks", async () => {
    const { outcome, resume } = await interrupted();
    expect((await (await resume()).outcome).reason).toBe("awaiting-decision");
    const asking = await resume();
    for await (const { request } of asking.approvals()) {
      expect(request.token).toBe((outcome.waits?.[0] as { token: string }).token);
      await asking.interrupt();
    }
    expect((await asking.outcome).reason).toBe("awaiting-decision");
    expect((await (await resume(() => ({ type: "fail" }))).outcome).reason).toBe("stopped");
  });
});

it("an interrupt that the log has outlives the process: the run ends as stopped, and the call is not repeated", async () => {
  const shared = sharedServices();
  const services = { ...shared, clock: heldClock() };
  const { promise: dead, resolve: die } = Promise.withResolvers<void>();
  const log: typeof services.log = Object.assign(Object.create(services.log), {
    async append(...request: Parameters<typeof services.log.append>) {
      const [, , records] = request;
      // The process is gone before it can record the result.
      if (records.some(({ type }) => type === "tool-result")) {
        die();
        return never() as never;
      }
      return services.log.append(...request);
    },
  });
  const work = heldTool("work", (call) => onSignal(call, () => "half of it"));
  const agent = agentOf([calling("work"), "never asked"], [work]);
  const run = runnerOf(agent, { ...services, log, owner: "one" } as never).run("go", { session: "s" });
  await work.begun;
  await run.interrupt();
  await dead;
  // Its lease expires.
  shared.clock.advance(3_600_000);
  const { events, outcome } = await watch(await runnerOf(agent, { ...services, owner: "two" } as never).resume("s"));
  expect([outcome.reason, work.times()]).toEqual(["stopped", 1]);
  expect(ofType(events, "tool-result")).toMatchObject([{ output: expect.stringMatching(/^Interrupted: /), isError: true }]);
});
