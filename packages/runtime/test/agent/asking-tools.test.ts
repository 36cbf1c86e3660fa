import { agentTool, createAgent, createRunner, defineTool } from "keelson";
import { reactLoop } from "keelson/agent";
import { Context } from "keelson/context";
import type { Clock } from "keelson/session";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import {
  sessionLog,
  type ApprovalRequest,
  type Decision,
  type JsonObject,
  type SessionId,
  type Tool,
  type ToolAnswer,
  type ToolCall,
  type ToolQuestion,
  type Wait,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, watch } from "./support.ts";

type Asking = Tool & { readonly answers: ToolAnswer[]; readonly calls: ToolCall[] };
type Fields = Partial<Pick<Tool, "effect" | "concurrency" | "timeoutMs" | "version">>;

const ASK: ScriptedTurn = { toolCalls: [{ name: "book", input: { table: 4 } }] };
const WHEN: ToolQuestion = {
  message: "When?",
  schema: { type: "object", properties: { hour: { type: "integer" } }, required: ["hour"] },
};
/** A clock that stands still: nobody's patience ends. */
const still: Clock = { now: () => 1_000_000, after: () => () => {} };

/** A tool that asks and returns what it was told. */
function askingTool(questions: readonly ToolQuestion[], fields: Fields = {}, name = "book"): Asking {
  const answers: ToolAnswer[] = [];
  const calls: ToolCall[] = [];
  const tool = defineTool({
    name,
    description: "Books a table.",
    effect: "read",
    input: { type: "object" },
    ...fields,
    async execute(_input, call) {
      calls.push(call);
      const given: ToolAnswer[] = [];
      for (const question of questions) given.push(await (call.ask as NonNullable<ToolCall["ask"]>)(question));
      answers.push(...given);
      return given as never;
    },
  });
  return Object.assign(tool, { answers, calls });
}

function agentWith(tools: readonly Tool[], options: Partial<Parameters<typeof createAgent>[0]> = {}) {
  return createAgent({ name: "a", model: scriptedModel([ASK, "done"]), tools, permissions: { mode: "accept-edits" }, ...options });
}

function tokenOf(waits: readonly Wait[] | undefined, index = 0): string {
  return (waits?.[index] as { readonly token: string }).token;
}

async function answered(decision: Decision, question: ToolQuestion, fields: Fields = {}): Promise<ToolAnswer | undefined> {
  const tool = askingTool([question], fields);
  await runnerOf(agentWith([tool]), { approvals: () => decision }).run("go").outcome;
  return tool.answers[0];
}

describe("what a tool asks while it runs", () => {
  it("is a question like any other, with the words of whoever asks", async () => {
    const asked: ApprovalRequest[] = [];
    const tool = askingTool([{ ...WHEN, from: "the restaurant" }]);
    const { events, outcome } = await watch(
      runnerOf(agentWith([tool]), {
        approvals: (request) => {
          asked.push(request);
          return { type: "supply", output: { hour: 8 } };
        },
      }).run("go"),
    );
    expect(outcome.reason).toBe("complete");
    expect(tool.answers).toEqual([{ type: "provided", value: { hour: 8 } }]);
    expect(asked).toMatchObject([
      {
        type: "decision",
        operation: "book",
        input: { table: 4 },
        reason: 'book asks while it runs, for "the restaurant": When?',
        asked: { message: "When?", from: "the restaurant", schema: WHEN.schema },
      },
    ]);
    expect(ofType(events, "approval-request")).toMatchObject([{ question: "decision", asked: { message: "When?" } }]);
    expect(ofType(events, "approval-decision")).toMatchObject([{ decision: { type: "supply", output: { hour: 8 } } }]);
  });

  it("is answered by a yes where no value is asked for, also once something was done on a page", async () => {
    expect(await answered({ type: "allow" }, { message: "Sure?" })).toEqual({ type: "provided", value: true });
    expect(await answered({ type: "allow" }, { message: "Pay here.", url: "https://pay.test/7" })).toEqual({
      type: "provided",
      value: true,
    });
    expect(await answered({ type: "supply", output: "no onions" }, { message: "Anything else?" })).toEqual({
      type: "provided",
      value: "no onions",
    });
  });

  it("is declined by whoever denies it, with the reason", async () => {
    expect(await answered({ type: "deny", reason: "none of your business" }, WHEN)).toEqual({
      type: "declined",
      reason: "none of your business",
    });
    expect(await answered({ type: "deny" }, { message: "Sure?" })).toEqual({ type: "declined" });
  });

  it("ends the run where somebody says so; what ran beside it is told, and the tool was told to end", async () => {
    const tool = askingTool([WHEN]);
    const beside = recordingTool("look", { effect: "read" });
    const model = scriptedModel([{ toolCalls: [...(ASK as { toolCalls: [] }).toolCalls, { name: "look", input: {} }] }]);
    const { events, outcome } = await watch(
      runnerOf(agentWith([tool, beside], { model }), { approvals: () => ({ type: "abort", reason: "enough" }) }).run("go"),
    );
    expect(outcome).toMatchObject({ reason: "aborted", why: "enough" });
    expect(tool.calls[0]?.signal.aborted).toBe(true);
    expect(tool.answers).toEqual([]);
    expect(ofType(events, "tool-result")).toMatchObject([
      { name: "book", isError: true },
      { name: "look", isError: false },
    ]);
  });

  it("is asked again, with what was wrong, where the answer does not fit; the third such answer cancels it", async () => {
    const issues: unknown[] = [];
    const outputs = [{ hour: "late" }, {}, { hour: 8 }];
    const tool = askingTool([WHEN]);
    const approvals = ({ asked }: ApprovalRequest): Decision => {
      issues.push(asked?.issues);
      return { type: "supply", output: outputs[issues.length - 1] as JsonObject };
    };
    await runnerOf(agentWith([tool]), { approvals }).run("go").outcome;
    expect(tool.answers).toEqual([{ type: "provided", value: { hour: 8 } }]);
    expect(issues).toEqual([undefined, [expect.stringContaining("hour")], [expect.stringContaining("hour")]]);

    expect(await answered({ type: "supply", output: { hour: "late" } }, WHEN)).toEqual({
      type: "cancelled",
      reason: expect.stringContaining("3 times in a way that can't be used"),
    });
    expect(await answered({ type: "allow" }, WHEN)).toMatchObject({ type: "cancelled" });
    expect(await answered({ type: "retry" }, { message: "Sure?" })).toMatchObject({ type: "cancelled" });
  });

  it("ends the run as a panic where the callback throws", async () => {
    const tool = askingTool([WHEN]);
    const { error } = await runnerOf(agentWith([tool]), {
      approvals: () => {
        throw new Error("no idea");
      },
    }).run("go").outcome;
    expect(error?.failure).toMatchObject({ kind: "panic", callback: "approvals" });
    expect(tool.answers).toEqual([]);
  });

  it("is shown to the takers of run.approvals(), who answer it there", async () => {
    const tool = askingTool([WHEN]);
    const run = createRunner({ agent: agentWith([tool]), clock: still }).run("go");
    for await (const pending of run.approvals()) {
      await expect(pending.decide({ type: "supply", output: { hour: "late" } })).rejects.toThrow(/is not what book asked for: .*hour/);
      await expect(pending.decide({ type: "allow" })).rejects.toThrow(/decide one of supply, deny, abort/);
      await pending.decide({ type: "supply", output: { hour: 9 } });
    }
    expect((await run.outcome).reason).toBe("complete");
    expect(tool.answers).toEqual([{ type: "provided", value: { hour: 9 } }]);
  });

  it("counts as text that nobody vouches for where it is somebody else's", async () => {
    for (const [from, sources] of [
      [undefined, undefined],
      ["the restaurant", ["the restaurant"]],
    ] as const) {
      const tool = askingTool([{ ...WHEN, ...(from && { from }) }]);
      const { events } = await watch(runnerOf(agentWith([tool]), { approvals: () => ({ type: "deny" }) }).run("go"));
      expect(ofType(events, "tool-result")[0]?.untrusted).toEqual(sources);
    }
  });
});

describe("a call that may be made again", () => {
  it.each(["read", "idempotent"] as const)(
    "of a tool whose effect is %s is ended where nobody answers here, and made again with the answer that somebody gives elsewhere",
    async (effect) => {
      const shared = sharedServices();
      const tool = askingTool([WHEN], { effect });
      const agent = agentWith([tool]);
      const { waits, reason } = await createRunner({ ...shared, agent }).run("go", { session: "s" }).outcome;
      expect(reason).toBe("awaiting-decision");
      expect(waits).toMatchObject([{ type: "decision", operation: "book", asked: { message: "When?" }, session: "s" }]);
      expect(tool.calls[0]?.signal.aborted).toBe(true);
      expect(tool.answers).toEqual([]);

      const elsewhere = createRunner({ ...shared, agent });
      expect(await elsewhere.approvals.list()).toMatchObject([{ asked: { message: "When?" }, rootSession: "s" }]);
      await expect(elsewhere.approve(tokenOf(waits), { type: "supply", output: { hour: "late" } })).rejects.toThrow(/hour/);
      await elsewhere.approve(tokenOf(waits), { type: "supply", output: { hour: 7 } });
      expect((await (await elsewhere.resume("s")).outcome).reason).toBe("complete");
      expect(tool.answers).toEqual([{ type: "provided", value: { hour: 7 } }]);
      expect(tool.calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(new Set(tool.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
      await expect(elsewhere.approve(tokenOf(waits), { type: "deny" })).rejects.toThrow(/used already/);
    },
  );

  it("gets all that it was told before, each by its place, and asks what is left", async () => {
    const shared = sharedServices();
    const tool = askingTool([WHEN, { message: "Sure?" }, WHEN]);
    const runner = createRunner({ ...shared, agent: agentWith([tool]) });
    let { waits, reason } = await runner.run("go", { session: "s" }).outcome;
    for (const decision of [
      { type: "supply", output: { hour: 1 } },
      { type: "allow" },
      { type: "supply", output: { hour: 3 } },
    ] as Decision[]) {
      expect(waits).toHaveLength(1);
      await runner.approve(tokenOf(waits), decision);
      ({ waits, reason } = await (await runner.resume("s")).outcome);
    }
    expect(reason).toBe("complete");
    expect(tool.answers).toEqual([
      { type: "provided", value: { hour: 1 } },
      { type: "provided", value: true },
      { type: "provided", value: { hour: 3 } },
    ]);
    expect(tool.calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  });

  it("asks again with the same token as long as nobody answered", async () => {
    const shared = sharedServices();
    const runner = createRunner({ ...shared, agent: agentWith([askingTool([WHEN])]) });
    const first = await runner.run("go", { session: "s" }).outcome;
    const second = await (await runner.resume("s")).outcome;
    expect(tokenOf(second.waits)).toBe(tokenOf(first.waits));
  });

  it("does not use the answer to another question that it asked at the same place, and that question is withdrawn", async () => {
    const shared = sharedServices();
    const question = { ...WHEN };
    const tool = askingTool([question]);
    const runner = createRunner({ ...shared, agent: agentWith([tool]) });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    question.message = "At what time?";
    const { waits: changed, reason } = await (await runner.resume("s")).outcome;
    expect(reason).toBe("awaiting-decision");
    expect(changed).toMatchObject([{ asked: { message: "At what time?" } }]);
    await expect(runner.approve(tokenOf(waits), { type: "supply", output: { hour: 1 } })).rejects.toThrow(/no longer asks/);
    expect(await runner.approvals.list()).toMatchObject([{ asked: { message: "At what time?" } }]);

    await runner.approve(tokenOf(changed), { type: "supply", output: { hour: 2 } });
    question.message = "And now?";
    const { waits: third } = await (await runner.resume("s")).outcome;
    expect(third).toMatchObject([{ asked: { message: "And now?" } }]);
    expect(tool.answers).toEqual([]);
  });

  it("waits here as long as somebody takes questions, and for no longer than approvalWaitMs", async () => {
    const clock = impatientClock();
    const tool = askingTool([WHEN]);
    const run = createRunner({ agent: agentWith([tool]), clock, approvalWaitMs: 4321 }).run("go");
    const taken = run.approvals();
    expect((await run.outcome).reason).toBe("awaiting-decision");
    expect(clock.waits).toContain(4321);
    expect(await taken[Symbol.asyncIterator]().next()).toMatchObject({ value: { request: { asked: { message: "When?" } } } });
  });

  it("may be a write that says so: nobody is asked what became of it", async () => {
    const shared = sharedServices();
    const tool = askingTool([{ ...WHEN, mayRepeat: true }], { effect: "write" });
    const runner = createRunner({ ...shared, agent: agentWith([tool], { permissions: { mode: "bypass-all" } }) });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    expect(waits).toMatchObject([{ asked: { message: "When?" } }]);
    await runner.approve(tokenOf(waits), { type: "supply", output: { hour: 7 } });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    expect(tool.answers).toEqual([{ type: "provided", value: { hour: 7 } }]);
    expect(tool.calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(tool.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it("may be a write that is answered while it waits: before it goes on the log says that it may have done something", async () => {
    const shared = sharedServices();
    const seen: string[] = [];
    const tool = defineTool({
      name: "book",
      description: "Asks, then looks at what the log says of it.",
      effect: "write",
      input: { type: "object" },
      async execute(_input, { ask }) {
        await ask?.({ message: "Sure?", mayRepeat: true });
        for await (const { type } of shared.log.read(sessionLog("s" as SessionId))) if (type.startsWith("tool-")) seen.push(type);
        return "booked";
      },
    });
    const agent = agentWith([tool], { permissions: { mode: "bypass-all" } });
    const outcome = createRunner({ ...shared, agent, approvals: () => ({ type: "allow" }) }).run("go", { session: "s" }).outcome;
    expect((await outcome).reason).toBe("complete");
    expect(seen).toEqual(["tool-calls-start", "tool-reserved", "tool-not-done", "tool-reserved"]);
  });

  it("asks anew what was cancelled before, since nobody answered it", async () => {
    const shared = sharedServices();
    const tool = askingTool([{ ...WHEN, mayRepeat: false }, { message: "Sure?" }]);
    const agent = agentWith([tool]);
    const { waits } = await createRunner({ ...shared, agent }).run("go", { session: "s" }).outcome;
    expect(waits).toMatchObject([{ asked: { message: "Sure?" } }]);
    await createRunner({ ...shared, agent }).approve(tokenOf(waits), { type: "allow" });
    const answering = createRunner({ ...shared, agent, approvals: () => ({ type: "supply", output: { hour: 3 } }) });
    expect((await (await answering.resume("s")).outcome).reason).toBe("complete");
    expect(tool.answers).toEqual([
      { type: "provided", value: { hour: 3 } },
      { type: "provided", value: true },
    ]);
  });

  it("goes on with several others of its batch: what is done is done once, and all questions are asked at once", async () => {
    const shared = sharedServices();
    const [one, two] = [askingTool([WHEN], {}, "one"), askingTool([{ message: "Sure?" }], {}, "two")];
    const look = recordingTool("look", { effect: "read" });
    const model = scriptedModel([{ toolCalls: ["one", "look", "two"].map((name) => ({ name, input: {} })) }, "done"]);
    const runner = createRunner({ ...shared, agent: agentWith([one, two, look], { model }) });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    expect(waits).toMatchObject([{ operation: "one" }, { operation: "two" }]);
    await runner.approve(tokenOf(waits, 1), { type: "allow" });
    const { waits: left } = await (await runner.resume("s")).outcome;
    expect(left).toMatchObject([{ operation: "one" }]);
    await runner.approve(tokenOf(left), { type: "supply", output: { hour: 1 } });
    const { events, outcome } = await watch(await runner.resume("s"));
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "tool-result").map(({ name }) => name)).toEqual(["one"]);
    expect([one.answers, two.answers]).toEqual([[{ type: "provided", value: { hour: 1 } }], [{ type: "provided", value: true }]]);
    expect(two.calls).toHaveLength(2);
    expect(look.calls).toHaveLength(1);
  });

  it("is made again at once where the answer came while others of its batch still ran", async () => {
    const shared = sharedServices();
    const tool = askingTool([WHEN]);
    const slow = defineTool({
      name: "slow",
      description: "Takes until the question is answered.",
      effect: "read",
      input: { type: "object" },
      async execute() {
        let open = await runner.approvals.list();
        while (open.length === 0) {
          await new Promise((resolve) => setImmediate(resolve));
          open = await runner.approvals.list();
        }
        await runner.approve(open[0]?.token ?? "", { type: "supply", output: { hour: 5 } });
        return "slow";
      },
    });
    const model = scriptedModel([{ toolCalls: ["book", "slow"].map((name) => ({ name, input: {} })) }, "done"]);
    const runner = createRunner({ ...shared, agent: agentWith([tool, slow], { model }) });
    expect((await runner.run("go", { session: "s" }).outcome).reason).toBe("complete");
    expect(tool.calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(tool.answers).toEqual([{ type: "provided", value: { hour: 5 } }]);
  });

  it("may ask several things at once: all of them stand in the suspension", async () => {
    const shared = sharedServices();
    const both = defineTool({
      name: "book",
      description: "Asks twice at once.",
      effect: "read",
      input: { type: "object" },
      execute: async (_input, { ask }) => (await Promise.all([ask?.(WHEN), ask?.({ message: "Sure?" })])) as never,
    });
    const runner = createRunner({ ...shared, agent: agentWith([both]) });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    expect(waits).toMatchObject([{ asked: { message: "When?" } }, { asked: { message: "Sure?" } }]);
    await runner.approve(tokenOf(waits, 0), { type: "supply", output: { hour: 5 } });
    await runner.approve(tokenOf(waits, 1), { type: "deny" });
    const { events } = await watch(await runner.resume("s"));
    expect(ofType(events, "tool-result")).toMatchObject([
      { output: [{ type: "provided", value: { hour: 5 } }, { type: "declined" }], isError: false },
    ]);
  });

  it("goes on turn by turn as well, in a process of its own for each", async () => {
    const shared = sharedServices();
    const tool = askingTool([WHEN]);
    const agent = agentWith([tool]);
    const fresh = () => createRunner({ ...shared, agent });
    await fresh().begin("s", "go");
    expect(await fresh().advance("s")).toMatchObject({ next: { type: "waiting", reason: "awaiting-decision" } });
    expect(await fresh().advance("s")).toMatchObject({ next: { type: "waiting" } });
    expect(tool.calls).toHaveLength(1);
    const [open] = await fresh().approvals.list();
    await fresh().approve(open?.token ?? "", { type: "supply", output: { hour: 7 } });
    while ((await fresh().advance("s")).next.type === "now");
    expect(tool.answers).toEqual([{ type: "provided", value: { hour: 7 } }]);
  });
});

describe("a call that may not be made again", () => {
  const write: Fields = { effect: "write" };
  const free = { permissions: { mode: "bypass-all" } } as const;

  it("is held open for approvalWaitMs, then its question is cancelled, and nobody can answer it any more", async () => {
    const shared = sharedServices();
    const tool = askingTool([WHEN], write);
    const runner = createRunner({ ...shared, agent: agentWith([tool], free), approvalWaitMs: 4321 });
    const { events, outcome } = await watch(runner.run("go", { session: "s" }));
    expect(outcome.reason).toBe("complete");
    expect(shared.clock.waits).toContain(4321);
    expect(tool.answers).toEqual([{ type: "cancelled", reason: "Nobody answered." }]);
    expect(tool.calls.map(({ attempt }) => attempt)).toEqual([1]);
    const [request] = ofType(events, "approval-request");
    await expect(runner.approve(request?.token ?? "", { type: "deny" })).rejects.toThrow(/is over/);
  });

  it("gets the answer that somebody gives elsewhere meanwhile", async () => {
    const shared = sharedServices();
    const tool = askingTool([WHEN], write);
    const runner = createRunner({ ...shared, agent: agentWith([tool], free), clock: { ...still, now: shared.clock.now } });
    const run = runner.run("go", { session: "s" });
    for await (const event of run) {
      if (event.type !== "approval-request") continue;
      await createRunner({ ...shared, agent: agentWith([tool], free) }).approve(event.token, { type: "supply", output: { hour: 6 } });
    }
    expect((await run.outcome).reason).toBe("complete");
    expect(tool.answers).toEqual([{ type: "provided", value: { hour: 6 } }]);
  });

  it("is so, whatever it does, where it says so", async () => {
    const tool = askingTool([{ ...WHEN, mayRepeat: false }]);
    expect((await runnerOf(agentWith([tool])).run("go").outcome).reason).toBe("complete");
    expect(tool.answers).toMatchObject([{ type: "cancelled" }]);
  });

  it("is told that its question is cancelled when the run is told to stop", async () => {
    const tool = askingTool([WHEN], write);
    const run = createRunner({ agent: agentWith([tool], free), clock: still }).run("go");
    for await (const event of run) if (event.type === "approval-request") await run.stop();
    expect((await run.outcome).reason).toBe("stopped");
    expect(tool.answers).toMatchObject([{ type: "cancelled" }]);
  });
});

describe("where nobody is to be asked", () => {
  it("a question is cancelled: in the mode deny-unauthorized, and in a loop that is no session", async () => {
    const tool = askingTool([WHEN]);
    let asked = 0;
    const approvals = (): undefined => void asked++;
    await runnerOf(agentWith([tool], { permissions: { mode: "deny-unauthorized", rules: [{ pattern: "book", behavior: "allow" }] } }), {
      approvals,
    }).run("go").outcome;
    await reactLoop({ context: new Context(), provider: scriptedModel([ASK, "done"]), tools: [tool], config: {} });
    expect(tool.answers).toEqual([
      { type: "cancelled", reason: "In permission mode deny-unauthorized nobody is asked." },
      { type: "cancelled", reason: expect.stringContaining("Nobody can be asked here") },
    ]);
    expect(asked).toBe(0);
  });

  it("a question that can't be shown is cancelled, and one that is none fails the call", async () => {
    const questions: readonly ToolQuestion[] = [
      { message: "Pay.", url: "javascript:alert(1)" },
      { message: "Pay.", url: `https://pay.test/${"x".repeat(5000)}` },
      { message: "When?", schema: { type: "object", title: "x".repeat(40_000) } },
      { message: "When?", schema: { type: "nonsense" } },
    ];
    const tool = askingTool(questions);
    await runnerOf(agentWith([tool]), { approvals: () => ({ type: "allow" }) }).run("go").outcome;
    expect(tool.answers.map((answer) => "reason" in answer && answer.reason)).toEqual([
      "It can't be asked: the page is not one of the web (http or https).",
      "It can't be asked: the address of the page is longer than 4096 characters.",
      "It can't be asked: the schema of the answer is larger than 32768 bytes.",
      expect.stringContaining("It can't be asked: the schema of the answer can't be used"),
    ]);
    const { events } = await watch(runnerOf(agentWith([askingTool([{ message: " " }])])).run("go"));
    expect(ofType(events, "tool-result")).toMatchObject([{ isError: true, output: expect.stringContaining("without a message") }]);
  });

  it("more than limits.maxQuestionsPerCall are cancelled, and a long message is cut", async () => {
    const tool = askingTool([{ message: "x".repeat(20_000) }, { message: "And?" }, { message: "And?" }]);
    let longest = 0;
    await runnerOf(agentWith([tool], { limits: { maxQuestionsPerCall: 2 } }), {
      approvals: ({ asked }) => {
        longest = Math.max(longest, asked?.message.length ?? 0);
        return { type: "allow" };
      },
    }).run("go").outcome;
    expect(tool.answers.map(({ type }) => type)).toEqual(["provided", "provided", "cancelled"]);
    expect(longest).toBeLessThanOrEqual(8192);
  });
});

it("the time in which a person is asked does not count for the tool's timeout, and what is left of it still does", async () => {
  let now = 1_000_000;
  const timers = new Map<object, { readonly at: number; run(): void }>();
  const clock: Clock = {
    now: () => now,
    after(ms, run, options) {
      if (options?.keepAlive === false) return () => {};
      const timer = {};
      timers.set(timer, { at: now + ms, run });
      return () => void timers.delete(timer);
    },
  };
  const pass = (ms: number): void => {
    now += ms;
    for (const [timer, { at, run }] of timers) {
      if (at > now) continue;
      timers.delete(timer);
      run();
    }
  };
  const tool = defineTool({
    name: "book",
    description: "Takes time before and after its question.",
    effect: "read",
    input: { type: "object" },
    timeoutMs: 100,
    async execute(_input, { ask, signal }) {
      await Promise.resolve();
      pass(60);
      await ask?.({ message: "Sure?" });
      pass(39);
      if (signal.aborted) return "too early";
      pass(1);
      return signal.aborted ? "in time" : "too late";
    },
  });
  const { events } = await watch(
    createRunner({
      agent: agentWith([tool]),
      clock,
      approvals: () => {
        pass(10_000);
        return { type: "allow" };
      },
    }).run("go"),
  );
  expect(ofType(events, "tool-result")).toMatchObject([{ output: "in time" }]);
});

it("what a tool of a child agent asks suspends the runs above it, and is answered by its token", async () => {
  const shared = sharedServices();
  const tool = askingTool([WHEN]);
  const child = createAgent({ name: "waiter", model: scriptedModel([ASK, "booked"]), tools: [tool] });
  const model = scriptedModel([{ toolCalls: [{ name: "waiter", input: { task: "Book." } }] }, "done"]);
  const runner = createRunner({ ...shared, agent: agentWith([agentTool(child)], { model }) });
  const { waits, reason } = await runner.run("go", { session: "s" }).outcome;
  expect(reason).toBe("awaiting-decision");
  expect(waits).toMatchObject([{ path: ["waiter"], asked: { message: "When?" }, rootSession: "s" }]);
  await runner.approve(tokenOf(waits), { type: "supply", output: { hour: 7 } });
  expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
  expect(tool.answers).toEqual([{ type: "provided", value: { hour: 7 } }]);
});
