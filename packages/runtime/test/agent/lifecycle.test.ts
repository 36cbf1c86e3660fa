import { agentTool, createAgent, createRunner, usd, type Agent, type AgentEvent, type Run } from "keelson";
import { createOpenAiCompatibleProvider } from "keelson/providers/openai-compatible";
import { scriptedModel } from "keelson/testing";
import { EXIT_CODES, isFinal, textMessage } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, types, watch } from "./support.ts";

const call = (name = "look", input = {}) => ({ toolCalls: [{ name, input }] });
const price = { input: "1000", output: "1000", asOf: "2026-01-01" };

describe("a run", () => {
  it("responds, ends with exactly one terminal event, and nothing after it [RN-01, RN-02, RN-06, EV-14, EV-16, EV-18]", async () => {
    const { events, outcome } = await watch(runnerOf(createAgent({ name: "a", model: scriptedModel(["hello"]) })).run("hi"));
    expect(outcome).toMatchObject({ reason: "complete", text: "hello", turns: 1 });
    expect(events.filter(isFinal)).toHaveLength(1);
    expect(types(events).at(-1)).toBe("run-complete");
    expect(types(events).filter((type) => !["usage", "text-start", "text-delta", "text-end"].includes(type))).toEqual([
      "run-start",
      "message",
      "turn-start",
      "message",
      "turn-end",
      "run-result",
      "run-complete",
    ]);
  });

  it("shows durable events with the log's seq in order, transient ones by their place after them [EV-01, EV-02, EV-03, EV-04, WE-02, WE-03]", async () => {
    const model = scriptedModel([{ thinking: "hm", text: "I look.", ...call() }, "done"]);
    const { events } = await watch(
      runnerOf(createAgent({ name: "a", model, tools: [recordingTool("look", { effect: "read" })] })).run("go"),
    );
    const seqs = events.flatMap((event) => ("seq" in event ? [event.seq] : []));
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    let last = 0;
    for (const event of events) {
      if ("seq" in event) last = event.seq;
      else if ("after" in event) expect(event.after).toBeLessThanOrEqual(last + 2);
    }
    expect(types(events)).toEqual(
      expect.arrayContaining([
        "thinking-start",
        "thinking-delta",
        "thinking-end",
        "text-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "tool-calls-start",
        "tool-end",
        "tool-result",
        "tool-calls-complete",
        "usage",
      ]),
    );
    const [start] = ofType(events, "tool-call-start");
    const [result] = ofType(events, "tool-result");
    expect(result).toMatchObject({ callId: start?.callId, name: "look", output: "look done", isError: false });
  });

  it("emits nothing before the caller's next microtask, and is watched from each iterator's creation [RN-06]", async () => {
    const run = runnerOf(createAgent({ name: "a", model: scriptedModel(["hello"]) })).run("hi");
    const first = run[Symbol.asyncIterator]();
    const second = run.events({ after: 0 });
    expect((await first.next()).value).toMatchObject({ type: "run-start" });
    const all: AgentEvent[] = [];
    for await (const event of second) all.push(event);
    expect(types(all)[0]).toBe("run-start");
    await run.outcome;
    expect(await run[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });

  it("goes on when a watcher leaves early [RN-06]", async () => {
    const run = runnerOf(
      createAgent({ name: "a", model: scriptedModel([call(), "done"]), tools: [recordingTool("look", { effect: "read" })] }),
    ).run("go");
    for await (const event of run) if (event.type === "run-start") break;
    expect(await run.outcome).toMatchObject({ reason: "complete", text: "done" });
  });

  it("can be watched again from the log after it is over [EV-17, RN-06]", async () => {
    const run = runnerOf(createAgent({ name: "a", model: scriptedModel(["hello"]) })).run("hi");
    const { events } = await watch(run);
    const again: AgentEvent[] = [];
    for await (const event of run.events({ after: 0 })) again.push(event);
    expect(again).toEqual(events.filter((event) => "seq" in event));
    const tail: AgentEvent[] = [];
    for await (const event of run.events({ after: 4 })) tail.push(event);
    expect(tail).toEqual(again.filter((event) => "seq" in event && event.seq > 4));
  });

  it("of several on one runner each has its own log, and they do not disturb each other [RN-01]", async () => {
    const runner = runnerOf(createAgent({ name: "a", model: scriptedModel(Array.from({ length: 20 }, () => ({ text: "hello" }))) }));
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => runner.run("hi").outcome));
    expect(outcomes.every((outcome) => outcome.text === "hello")).toBe(true);
    expect(await runner.sessions.list()).toHaveLength(20);
  });

  it("that says nothing behind its calls ends no-action; a refusal is a response [WE-06]", async () => {
    const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "", ""]);
    expect((await runnerOf(createAgent({ name: "a", model, tools: [recordingTool("look")] })).run("hi").outcome).reason).toBe("no-action");
    expect(
      (await runnerOf(createAgent({ name: "a", model: scriptedModel([{ text: "x", stopReason: "content-filter" }]) })).run("hi").outcome)
        .reason,
    ).toBe("safety-stop");
  });

  it("has an ending for every exit code of the command", () => {
    expect(new Set(Object.values(EXIT_CODES))).toEqual(new Set([0, 1, 3, 4, 130]));
  });
});

describe("an agent", () => {
  it("is a node with a name, a description and, where it has some, agents below it [AG-29, AG-30]", () => {
    const helper: Agent = createAgent({ name: "helper", model: scriptedModel([]) });
    expect([helper.name, helper.description, helper.subAgents]).toEqual(["helper", "", []]);
    const tools = [recordingTool("look"), agentTool(helper)];
    const lead: Agent = createAgent({ name: "lead", description: "Leads.", model: scriptedModel([]), tools });
    expect([lead.name, lead.description, lead.subAgents]).toEqual(["lead", "Leads.", ["helper"]]);
  });

  it("is run by a runner on text, on content or on a value as text, and gives a stream of events [AG-29, AG-30]", async () => {
    const order = { order: 7 };
    const inputs = ["hi", [{ type: "text", text: "hi" }], JSON.stringify(order)] as const;
    for (const input of inputs) {
      const model = scriptedModel(["hello"]);
      const run = runnerOf(createAgent({ name: "a", model })).run(input);
      const seen: AgentEvent[] = [];
      for await (const event of run) seen.push(event);
      expect(isFinal(seen.at(-1) as AgentEvent)).toBe(true);
      expect(model.requests[0]?.messages).toEqual([textMessage("user", typeof input === "string" ? input : "hi")]);
    }
  });
});

describe("a segment of a response", () => {
  const deltas = fc.array(fc.constantFrom({ content: "a" }, { reasoning_content: "hm" }), { minLength: 1, maxLength: 8 });
  const stream = (chunks: readonly (readonly [delta: object, finish?: string])[]): Response =>
    new Response(
      `${chunks
        .map(([delta, finish_reason = null]) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`)
        .join("")}data: [DONE]\n\n`,
    );

  it("is closed before the next one opens, and a call is known by its name before its arguments come [WE-07]", async () => {
    await fc.assert(
      fc.asyncProperty(deltas, async (parts) => {
        const begin = { id: "v", type: "function", function: { name: "look", arguments: "" } };
        const responses = [
          stream([
            ...parts.map((delta) => [delta] as const),
            [{ tool_calls: [{ index: 0, ...begin }] }],
            [{ tool_calls: [{ index: 0, function: { arguments: '{"n":1}' } }] }],
            [{}, "tool_calls"],
          ]),
          stream([[{ content: "done" }], [{}, "stop"]]),
        ];
        const fetch = async () => responses.shift() ?? expect.unreachable();
        const model = createOpenAiCompatibleProvider({ vendor: "deepseek", apiKey: "k", defaultModel: "m", fetch });
        const hurry = async (): Promise<string> => (await run.steer("and hurry"), "look done");
        const agent = createAgent({ name: "a", model, tools: [recordingTool("look", { effect: "read", output: hurry })] });
        const run: Run = runnerOf(agent).run("go");
        const { events } = await watch(run);
        let open: string | undefined;
        for (const { type } of events) {
          const [, kind, edge] = /^(text|thinking)-(start|delta|end)$/.exec(type) ?? [];
          if (kind === undefined) continue;
          expect([type, open]).toEqual([type, edge === "start" ? undefined : kind]);
          open = edge === "end" ? undefined : kind;
        }
        expect(open).toBeUndefined();
        const [begun] = ofType(events, "tool-call-start");
        expect(begun).toMatchObject({ name: "look" });
        expect(begun).not.toHaveProperty("input");
        const [result] = ofType(events, "tool-result");
        expect(result).toMatchObject({ callId: begun?.callId, output: "look done", isError: false, durationMs: expect.any(Number) });
        expect(ofType(events, "steer").map(({ message }) => message)).toEqual([textMessage("user", "and hurry")]);
      }),
      { numRuns: 20 },
    );
  });
});

describe("a graceful stop", () => {
  it("lets the call that runs finish, starts no other, and ends the run as stopped [RN-04, RN-10, EV-19]", async () => {
    let run: Run | undefined;
    const slow = recordingTool("slow", { effect: "write" });
    const original = slow.execute.bind(slow);
    slow.execute = async (input, toolCall) => {
      await run?.stop();
      expect(toolCall.stopping.aborted).toBe(true);
      expect(toolCall.signal.aborted).toBe(false);
      return original(input, toolCall);
    };
    const model = scriptedModel([
      {
        toolCalls: [
          { name: "slow", input: { n: 1 } },
          { name: "slow", input: { n: 2 } },
        ],
      },
      "never",
    ]);
    run = runnerOf(createAgent({ name: "a", model, tools: [slow] })).run("go");
    const { events, outcome } = await watch(run);
    expect(outcome.reason).toBe("stopped");
    expect(slow.calls).toEqual([{ n: 1 }]);
    expect(ofType(events, "tool-result").map((result) => [result.isError, result.output])).toEqual([
      [false, "slow done"],
      [true, expect.stringContaining("stopped before")],
    ]);
    expect(model.requests).toHaveLength(1);
  });

  it("becomes an abort when the grace is over [RN-04, RN-10]", async () => {
    let run: Run | undefined;
    const hang = recordingTool("hang", { effect: "read" });
    hang.execute = async (_input, { signal }) => {
      await run?.stop();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      return "late";
    };
    const runner = createRunner({
      agent: createAgent({ name: "a", model: scriptedModel([call("hang"), "never"]), tools: [hang] }),
      stopGraceMs: 1,
    });
    run = runner.run("go");
    expect((await run.outcome).reason).toBe("stopped");
  });
});

describe("an abort", () => {
  it("cuts the model off and ends the run as aborted [RN-05, RN-10, EV-19]", async () => {
    const model = scriptedModel([{ text: "never", wait: new Promise(() => {}) }]);
    const run = runnerOf(createAgent({ name: "a", model })).run("go");
    for await (const event of run) if (event.type === "turn-start") await run.abort("enough");
    expect((await run.outcome).reason).toBe("aborted");
  });

  it("cancels a tool that runs, and its result is an error in the history [RN-05]", async () => {
    let aborted = false;
    const hang = recordingTool("hang", { effect: "read" });
    hang.execute = async (_input, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      aborted = true;
      throw new Error("cancelled");
    };
    const runner = runnerOf(createAgent({ name: "a", model: scriptedModel([call("hang"), "later"]), tools: [hang] }));
    const run = runner.run("go", { session: "s" });
    for await (const event of run) if (event.type === "tool-calls-start") await run.abort();
    expect(await run.outcome).toMatchObject({ reason: "aborted" });
    expect(aborted).toBe(true);
    const { messages } = await runner.sessions.get("s");
    expect(messages.at(-1)?.content[0]).toMatchObject({ type: "tool-result", isError: true });
  });

  it("by a signal, also one that fired before [RN-05]", async () => {
    const controller = new AbortController();
    controller.abort();
    expect(
      (await runnerOf(createAgent({ name: "a", model: scriptedModel([]) })).run("go", { signal: controller.signal }).outcome).reason,
    ).toBe("aborted");
  });

  it("after the end does nothing [RN-05]", async () => {
    const run = runnerOf(createAgent({ name: "a", model: scriptedModel(["x"]) })).run("go");
    await run.outcome;
    await run.abort();
    await run.stop();
    await run.steer("more");
    expect((await run.outcome).reason).toBe("complete");
  });
});

describe("steering", () => {
  it("joins the conversation before the next inference, after the results of open calls", async () => {
    let run: Run | undefined;
    const look = recordingTool("look", { effect: "read" });
    look.execute = async () => {
      await run?.steer("look left");
      return "seen";
    };
    const model = scriptedModel([call(), "ok"]);
    run = runnerOf(createAgent({ name: "a", model, tools: [look] })).run("go");
    const { events } = await watch(run);
    expect(model.requests[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(ofType(events, "steer")).toHaveLength(1);
  });

  it("during the final response gives the run one more turn", async () => {
    let run: Run | undefined;
    const model = scriptedModel([{ text: "done", wait: () => (run as Run).steer("and now?") }, "now this"]);
    run = runnerOf(createAgent({ name: "a", model })).run("go");
    expect(await run.outcome).toMatchObject({ reason: "complete", text: "now this", turns: 2 });
  });

  it("with interrupt drops the response that streams and skips calls that have not started", async () => {
    let run: Run | undefined;
    const first = recordingTool("first", { effect: "write" });
    first.execute = async () => {
      await run?.steer("stop that", { interrupt: true });
      return "did";
    };
    const second = recordingTool("second", { effect: "write" });
    const model = scriptedModel([
      { toolCalls: [{ name: "first" }, { name: "second" }] },
      { text: "never shown", wait: async () => (await (run as Run).steer("again", { interrupt: true }), new Promise(() => {})) },
      { text: "nor this", wait: async () => (await (run as Run).steer("and again", { interrupt: true }), new Promise(() => {})) },
      "fine",
    ]);
    run = runnerOf(createAgent({ name: "a", model, tools: [first, second] })).run("go");
    const { events, outcome } = await watch(run);
    expect(outcome.text).toBe("fine");
    expect(second.calls).toEqual([]);
    expect(ofType(events, "retry").map((retry) => retry.reason)).toEqual(["interrupted", "interrupted"]);
    expect(model.requests[2]?.messages.at(-1)?.content).toEqual([{ type: "text", text: "again" }]);
    expect(model.requests[3]?.messages.at(-1)?.content).toEqual([{ type: "text", text: "and again" }]);
  });
});

describe("limits", () => {
  const looping = () => scriptedModel(Array.from({ length: 60 }, (_, n) => call("look", { n })));

  it("end the run after so many turns, 50 by default [AG-16, EV-18, OP-08]", async () => {
    const look = recordingTool("look", { effect: "read" });
    expect(
      await runnerOf(createAgent({ name: "a", model: looping(), tools: [look], limits: { maxTurns: 3 } })).run("go").outcome,
    ).toMatchObject({ reason: "max-turns", turns: 3 });
    expect(look.calls).toHaveLength(3);
    expect(
      await runnerOf(createAgent({ name: "a", model: looping(), tools: [recordingTool("look", { effect: "read" })] })).run("go").outcome,
    ).toMatchObject({ reason: "max-turns", turns: 50 });
  });

  it("of a run tighten those of its agent and never widen them [OP-05, AG-16]", async () => {
    const agent = createAgent({ name: "a", model: looping(), tools: [recordingTool("look", { effect: "read" })], limits: { maxTurns: 3 } });
    expect((await runnerOf(agent).run("go", { limits: { maxTurns: 2 } }).outcome).turns).toBe(2);
    expect((await runnerOf(agent.with({ model: looping() })).run("go", { limits: { maxTurns: 9 } }).outcome).turns).toBe(3);
  });

  it("hold money back before it is spent: no call starts whose worst case passes the limit [AG-17, EV-18]", async () => {
    const usage = { inputTokens: 1000, outputTokens: 1000 };
    const model = scriptedModel(
      [{ ...call("look", { n: 1 }), usage }, { ...call("look", { n: 2 }), usage }, { ...call("look", { n: 3 }), usage }, "never"],
      { price },
    );
    const agent = createAgent({
      name: "a",
      model,
      tools: [recordingTool("look", { effect: "read" })],
      limits: { maxCost: "6" },
      settings: { maxTokens: 4096 },
    });
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("budget-exhausted");
    expect(Number(outcome.cost)).toBeLessThanOrEqual(6);
    const refusals = ofType(events, "budget").filter(({ threshold }) => threshold === undefined);
    expect(refusals).toMatchObject([{ limit: "cost", max: usd("6") }]);
  });

  it("lower the output of a call before they refuse it [AG-17]", async () => {
    const model = scriptedModel(["short"], { price });
    const agent = createAgent({ name: "a", model, limits: { maxCost: "3" }, settings: { maxTokens: 4096 } });
    expect((await runnerOf(agent).run("go").outcome).reason).toBe("complete");
    expect(model.requests[0]?.maxTokens).toBeGreaterThanOrEqual(1024);
    expect(model.requests[0]?.maxTokens).toBeLessThan(4096);
  });

  it("start nothing that changes the world once the money is gone, and say so to the model [AG-17]", async () => {
    // The call costs more than it reserved: the vendor reports more output than was allowed.
    const model = scriptedModel([{ toolCalls: [{ name: "look" }, { name: "write" }], usage: { outputTokens: 20_000 } }, "x"], { price });
    const look = recordingTool("look", { effect: "read" });
    const write = recordingTool("write", { effect: "write" });
    const agent = createAgent({ name: "a", model, tools: [look, write], limits: { maxCost: "6" }, settings: { maxTokens: 4096 } });
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("budget-exhausted");
    expect([look.calls.length, write.calls.length]).toEqual([1, 0]);
    expect(ofType(events, "tool-result")[1]?.output).toContain("budget-exhausted");
  });

  it("bound the time of a run, live and by recorded times [OP-05]", async () => {
    const model = scriptedModel([{ text: "never", wait: new Promise(() => {}) }]);
    expect((await createRunner({ agent: createAgent({ name: "a", model, limits: { maxDurationMs: 5 } }) }).run("go").outcome).reason).toBe(
      "timeout",
    );
    expect(
      (
        await createRunner({
          agent: createAgent({ name: "a", model: scriptedModel([{ text: "never", wait: new Promise(() => {}) }]) }),
        }).run("go", { deadline: Date.now() + 5 }).outcome
      ).reason,
    ).toBe("timeout");
  });

  it("bound the tools of a run, and tell the model [OP-08]", async () => {
    const look = recordingTool("look", { effect: "read" });
    const model = scriptedModel([{ toolCalls: [1, 2, 3].map((n) => ({ name: "look", input: { n } })) }, "x"]);
    const { events, outcome } = await watch(
      runnerOf(createAgent({ name: "a", model, tools: [look], limits: { maxToolCalls: 2 } })).run("go"),
    );
    expect(outcome.reason).toBe("complete");
    expect(look.calls).toHaveLength(2);
    expect(ofType(events, "tool-result")[2]?.output).toContain("limit of 2 tool calls");
  });

  it("bound a response: longer ones end the run as max-output", async () => {
    const model = scriptedModel([{ text: "x".repeat(5000), chunkSize: 100 }]);
    expect((await runnerOf(createAgent({ name: "a", model, limits: { maxAnswerBytes: 1000 } })).run("go").outcome).reason).toBe(
      "max-output",
    );
  });
});

describe("a response cut at its token limit", () => {
  it("ends the run as max-output, or is asked to go on", async () => {
    const cut = { text: "half", stopReason: "max-tokens" as const };
    expect(await runnerOf(createAgent({ name: "a", model: scriptedModel([cut]) })).run("go").outcome).toMatchObject({
      reason: "max-output",
      text: "half",
    });
    const model = scriptedModel([cut, "the rest"]);
    expect(await runnerOf(createAgent({ name: "a", model, onMaxTokens: "continue" })).run("go").outcome).toMatchObject({
      reason: "complete",
      turns: 1,
    });
    expect(model.requests[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
  });

  it("in a call does not run that call, and tells the model", async () => {
    const write = recordingTool("write");
    const model = scriptedModel([
      {
        toolCalls: [
          { name: "write", input: { n: 1 } },
          { name: "write", inputText: '{"n":' },
        ],
        stopReason: "max-tokens",
      },
      "ok",
    ]);
    const { events } = await watch(runnerOf(createAgent({ name: "a", model, tools: [write] })).run("go"));
    expect(write.calls).toEqual([{ n: 1 }]);
    expect(ofType(events, "tool-result")[1]).toMatchObject({ isError: true, output: expect.stringContaining("cut off") });
  });

  it("paused by the vendor is called again in the same turn, at most eight times", async () => {
    const paused = { text: "…", stopReason: "pause" as const };
    const model = scriptedModel([paused, paused, "done"]);
    expect(await runnerOf(createAgent({ name: "a", model })).run("go").outcome).toMatchObject({
      reason: "complete",
      turns: 1,
      text: "done",
    });
    const endless = scriptedModel(Array.from({ length: 20 }, () => paused));
    expect((await runnerOf(createAgent({ name: "a", model: endless })).run("go").outcome).turns).toBe(1);
    expect(endless.requests).toHaveLength(9);
  });
});

it("acts on what it is told in the moment in which it is begun [RN-04]", async () => {
  const model = scriptedModel(["never"]);
  const stopped = runnerOf(createAgent({ name: "a", model })).run("go");
  await stopped.stop();
  expect([(await stopped.outcome).reason, model.requests.length]).toEqual(["stopped", 0]);
  const told = scriptedModel(["heard"]);
  const steered = runnerOf(createAgent({ name: "a", model: told })).run("go");
  await steered.steer("and hurry");
  expect((await steered.outcome).reason).toBe("complete");
  expect(told.requests[0]?.messages.map(({ content }) => content[0])).toMatchObject([{ text: "go" }, { text: "and hurry" }]);
});
