import {
  sessionLog,
  textMessage,
  type InferRequest,
  type LifecycleEvent,
  type LogRecord,
  type Message,
  type SessionId,
} from "@keelson/protocol";
import { createAgent, type AgentOptions } from "keelson";
import { createHookRegistry, definePromptMiddleware, type CompactionOptions } from "keelson/agent";
import { extractState, policyTrim, resultsFirst, ruleBefore, slidingWindow, stubResults, summarise } from "keelson/context";
import { createModelRegistry } from "keelson/providers";
import { scriptedModel, type ScriptedModel, type ScriptedResponse } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, sharedServices, watch } from "./support.ts";

const WORDS = "many words of little weight ".repeat(40);
const look = recordingTool("look", { effect: "read", output: () => `seen: ${WORDS}` });

function isSummary({ system = "" }: InferRequest): boolean {
  return /^Summarise|^Bring the transcript/.test(system);
}

/** Looks `turns` times, each time at something else, and is done. */
function looking(turns: number, summary: string | ((request: InferRequest) => ScriptedResponse) = "They looked around."): ScriptedModel {
  let looked = 0;
  return scriptedModel(
    Array.from({ length: 4 * turns + 8 }, () => (request: InferRequest): ScriptedResponse => {
      const usage = { inputTokens: Math.ceil(JSON.stringify(request.messages).length / 5) };
      if (isSummary(request)) return typeof summary === "string" ? { text: summary, usage } : summary(request);
      looked++;
      if (looked > turns) return { text: "Done.", usage };
      return { text: `Look ${looked}. ${WORDS}`, toolCalls: [{ name: "look", input: { at: looked } }], usage };
    }),
    { name: "scripted/model" },
  );
}

function agentWith(model: ScriptedModel, compaction: CompactionOptions | undefined, options: Partial<AgentOptions<undefined>> = {}) {
  return createAgent({ name: "a", model, tools: [look], compaction, limits: { maxTurns: 200 }, ...options } as AgentOptions<undefined>);
}

function idsOf(messages: readonly Message[], type: "tool-call" | "tool-result"): readonly string[] {
  return messages.flatMap(({ content }) => content.flatMap((part) => (part.type === type ? [part.id as string] : [])));
}

async function recordsOf(log: ReturnType<typeof sharedServices>["log"], session = "s"): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(session as SessionId))) records.push(record);
  return records;
}

describe("a compaction that is due", () => {
  it("comes before the turn in which the conversation passes 50 messages, where nobody says when [AP-22, CE-21]", async () => {
    const model = looking(60);
    const { events, outcome } = await watch(runnerOf(agentWith(model, {})).run("Look around."));
    expect(outcome).toMatchObject({ reason: "complete", text: "Done." });
    const compactions = ofType(events, "compaction");
    expect(compactions.length).toBeGreaterThan(1);
    for (const each of compactions)
      expect(each).toMatchObject({ strategy: "summarise", cause: "size", summary: expect.stringContaining("They looked around.") });
    expect(compactions[0]?.messagesBefore).toBe(51);
    for (const request of model.requests.filter((each) => !isSummary(each))) {
      expect(request.messages.length).toBeLessThanOrEqual(50);
      expect(idsOf(request.messages, "tool-result")).toEqual(idsOf(request.messages, "tool-call"));
      expect(request.messages[0]).toEqual(textMessage("user", "Look around."));
    }
  });

  const facts = { "scripted/model": { contextWindow: 10_000 } };
  it.each<[string, CompactionOptions["when"], number]>([
    ["messages", { maxMessages: 9 }, 1],
    ["tokens", { maxTokens: 3_000 }, 1],
    ["the share of what the model reads", { maxContextUtilization: 0.3 }, 1],
    ["nothing: a threshold that is left out is not checked", {}, 0],
    ["messages, of which there are too few", { maxMessages: 500 }, 0],
  ])("goes by %s [AP-23, AP-24]", async (_case, when, least) => {
    const provider = looking(12);
    const models = createModelRegistry({ providers: { scripted: provider }, facts });
    const agent = createAgent({
      name: "a",
      model: "scripted/model",
      tools: [look],
      compaction: { strategy: summarise({ keep: 2 }), when },
    });
    const { events } = await watch(runnerOf(agent, { models }).run("Look around."));
    const { length } = ofType(events, "compaction");
    if (least === 0) expect(length).toBe(0);
    else expect(length).toBeGreaterThanOrEqual(least);
  });

  it.each([
    slidingWindow({ keep: 6 }),
    policyTrim({ target: 1_000 }),
    stubResults({ keep: 2 }),
    summarise({ keep: 2 }),
    extractState({ keep: 2 }),
  ])("is done by the strategy of the agent: $type [CE-21]", async (strategy) => {
    const model = looking(20);
    const compaction = { strategy, when: strategy.type === "stub-results" ? { maxTokens: 2_500 } : { maxMessages: 12 } };
    const { events, outcome } = await watch(runnerOf(agentWith(model, compaction)).run("Look around."));
    expect(outcome).toMatchObject({ reason: "complete", text: "Done." });
    const compactions = ofType(events, "compaction");
    expect(compactions.length).toBeGreaterThan(1);
    for (const { strategy: by, tokensBefore = 0, tokensAfter = 0 } of compactions) {
      expect(by).toBe(strategy.type);
      expect(tokensAfter).toBeLessThan(tokensBefore);
    }
    for (const { messages } of model.requests) expect(idsOf(messages, "tool-result")).toEqual(idsOf(messages, "tool-call"));
  });

  it("may be marked by middleware, too [AP-21]", async () => {
    const marking = definePromptMiddleware({ name: "m", marksForSummary: ({ messages }) => messages > 8 });
    const agent = agentWith(looking(10), { strategy: slidingWindow({ keep: 2 }), when: {} }, { middleware: [marking] });
    const { events } = await watch(runnerOf(agent).run("Look around."));
    expect(ofType(events, "compaction").length).toBeGreaterThan(0);
  });

  it("keeps what is pinned, and has what may go first go first [CE-22, ST-11]", async () => {
    const agent = agentWith(
      looking(10),
      { strategy: policyTrim({ target: 600 }), when: { maxMessages: 9 } },
      {
        rules: [
          ruleBefore("infer", "pin", 0, async ({ context }) => {
            if (context.messages.length !== 1) return;
            await context.injectMessage(textMessage("user", "Keep this."), "pinned");
            await context.injectMessage(textMessage("user", `Discard this. ${WORDS}`), "discard-when-done");
            await context.injectMessage(textMessage("user", `Compress this. ${WORDS}`), "compress-first");
          }),
        ],
      },
    );
    const runner = runnerOf(agent);
    await runner.run("Look around.", { session: "s" }).outcome;
    const said = JSON.stringify((await runner.sessions.get("s")).messages);
    expect(said).toContain("Keep this.");
    expect(said).not.toContain("Discard this.");
    expect(said).not.toContain("Compress this.");
  });

  it("is paid as a model call of its own: a reservation before it, and its usage", async () => {
    const services = sharedServices();
    const provider = looking(12);
    const models = createModelRegistry({
      providers: { scripted: provider },
      prices: { model: { input: "1", output: "1", asOf: "2026-01-01" } },
    });
    const agent = createAgent({
      name: "a",
      model: "scripted/model",
      tools: [look],
      limits: { maxCost: "5" },
      compaction: { strategy: summarise({ keep: 2 }), when: { maxMessages: 12 } },
    });
    await runnerOf(agent, { ...services, models }).run("Look around.", { session: "s" }).outcome;
    const records = await recordsOf(services.log);
    const summaries = records.filter(({ type, key }) => type === "inference" && key.endsWith("/summary"));
    expect(summaries.length).toBeGreaterThan(0);
    for (const { key, data } of summaries) {
      expect(data["reserved"]).toBeDefined();
      expect(records.filter((each) => each.type === "usage" && each.key === `${key}/usage`)).toHaveLength(1);
    }
    expect(records.filter(({ type }) => type === "inference")).toHaveLength(records.filter(({ type }) => type === "usage").length);
  });

  it("is told to lifecycle watchers before and after, and asked of hooks [LE-02, HK-05]", async () => {
    const told: LifecycleEvent[] = [];
    const asked: string[] = [];
    const hooks = createHookRegistry()
      .onPreCompact(() => void asked.push("pre"))
      .onPostCompact(() => void asked.push("post"));
    const agent = agentWith(looking(8), { strategy: slidingWindow({ keep: 4 }), when: { maxMessages: 12 } }, { hooks });
    await runnerOf(agent, { onLifecycleEvent: (event) => void told.push(event) }).run("Look around.").outcome;
    expect(asked).toEqual(["pre", "post"]);
    expect(told.filter(({ type }) => type === "compaction")).toMatchObject([
      { phase: "before", messageCount: 13, tokenCount: expect.any(Number) },
      { phase: "after", messageCount: 5, tokenCount: expect.any(Number), summary: "8 messages were left out." },
    ]);
  });

  it("stops after three in a row that gained nothing, and says so", async () => {
    const services = sharedServices();
    const model = looking(20);
    const agent = agentWith(
      model,
      { strategy: slidingWindow({ keep: 2 }), when: { maxMessages: 4 } },
      {
        rules: [
          ruleBefore("append-response", "pin all", 0, async ({ context }) => {
            await context.injectMessage(textMessage("system", `Pinned at ${context.messages.length}. ${WORDS.repeat(20)}`), "pinned");
          }),
        ],
      },
    );
    const { events, outcome } = await watch(runnerOf(agent, services).run("Look around.", { session: "s" }));
    expect(outcome.reason).toBe("complete");
    const begun = (await recordsOf(services.log)).filter(({ type }) => type === "compaction-begin");
    expect(begun).toHaveLength(3);
    expect(ofType(events, "status").filter(({ status }) => status.includes("gained nothing"))).toHaveLength(1);
  });

  it("puts nothing in the place of a conversation that would be longer by it", async () => {
    const services = sharedServices();
    const model = looking(30, `A long summary. ${WORDS.repeat(200)}`);
    const { events } = await watch(
      runnerOf(agentWith(model, { strategy: summarise({ keep: 2 }), when: { maxMessages: 12 } }), services).run("Look around.", {
        session: "s",
      }),
    );
    expect(ofType(events, "compaction")).toEqual([]);
    expect((await recordsOf(services.log)).filter(({ type }) => type === "compaction-left")).toHaveLength(3);
    expect(model.requests.filter(isSummary)).toHaveLength(3);
  });
});

describe("what a compaction takes out", () => {
  it("stays in the log, can be shown, and is where the summary says that it is", async () => {
    const runner = runnerOf(agentWith(looking(20), { strategy: summarise({ keep: 2 }), when: { maxMessages: 12 } }));
    const { events } = await watch(runner.run("Look around.", { session: "s" }));
    const compactions = ofType(events, "compaction");
    expect(compactions.length).toBeGreaterThan(1);
    for (const { seq, messagesBefore, messages, summary } of compactions) {
      const whole = await runner.sessions.messagesAt("s", seq - 1);
      expect(whole).toHaveLength(messagesBefore);
      expect(await runner.sessions.messagesAt("s", seq)).toEqual(messages);
      const [, count = "", record = ""] =
        /stands for (\d+) messages, which the log of session s keeps up to record (\d+)\.\)$/.exec(summary) ?? [];
      expect(Number(count)).toBe(messagesBefore - messages.length + 1);
      expect(await runner.sessions.messagesAt("s", Number(record))).toEqual(whole);
    }
    await expect(runner.sessions.messagesAt("s", 0)).rejects.toThrow("seq must be the number of a record, not 0");
  });

  it("is summed up again with the summary before it, so that there is always one", async () => {
    const model = looking(40);
    const runner = runnerOf(agentWith(model, { strategy: summarise({ keep: 2 }), when: { maxMessages: 12 } }));
    await runner.run("Look around.", { session: "s" }).outcome;
    const asked = model.requests.filter(isSummary);
    expect(asked.length).toBeGreaterThan(2);
    expect(JSON.stringify(asked[1]?.messages)).toContain("They looked around.");
    expect((await runner.sessions.get("s")).messages.filter(({ summary }) => summary === true)).toHaveLength(1);
  });

  it("is written to the store first, as an effect in one append with the compaction [ST-12]", async () => {
    const services = sharedServices();
    const store = { scope: { type: "custom", namespace: "notes", id: "1" }, key: "work" } as const;
    const agent = agentWith(looking(12), { strategy: summarise({ keep: 2 }), when: { maxMessages: 12 }, store });
    const { effects } = await runnerOf(agent, services).run("Look around.", { session: "s" }).outcome;
    const written = effects.filter(({ type }) => type === "write-memory");
    expect(written[0]).toMatchObject({
      ...store,
      value: { summary: expect.stringContaining("They looked around."), session: "s", record: expect.any(Number) },
    });
    const records = await recordsOf(services.log);
    const [done] = records.filter(({ type }) => type === "compaction");
    const [effect] = records.filter(({ type }) => type === "effect");
    expect(effect?.seq).toBe((done?.seq ?? 0) - 1);
    expect(effect?.at).toBe(done?.at);
  });
});

describe("run.compact()", () => {
  it("has the conversation shortened before the next turn, whatever its size", async () => {
    const model = looking(10);
    const run = runnerOf(agentWith(model, { strategy: slidingWindow({ keep: 2 }), when: {} })).run("Look around.");
    const compactions: unknown[] = [];
    for await (const event of run) {
      if (event.type === "turn-end" && event.turn === 5) await run.compact();
      if (event.type === "compaction") compactions.push([event.cause, event.strategy]);
    }
    expect(compactions).toEqual([["request", "sliding-window"]]);
  });

  it("needs no option: then the model sums up", async () => {
    const run = runnerOf(agentWith(looking(10), undefined)).run("Look around.");
    const compactions: unknown[] = [];
    for await (const event of run) {
      if (event.type === "turn-end" && event.turn === 8) await run.compact();
      if (event.type === "compaction") compactions.push([event.cause, event.strategy]);
    }
    expect(compactions).toEqual([["request", "summarise"]]);
  });

  it("of a run that is over is done in the next run of its session, in whatever process", async () => {
    const services = sharedServices();
    const agent = agentWith(looking(8), { strategy: slidingWindow({ keep: 2 }), when: {} });
    const run = runnerOf(agent, services).run("Look around.", { session: "s" });
    await run.outcome;
    await run.compact();
    const { events } = await watch(
      runnerOf(agentWith(looking(0), { strategy: slidingWindow({ keep: 2 }), when: {} }), services).run("And?", { session: "s" }),
    );
    expect(ofType(events, "compaction")).toMatchObject([{ cause: "request" }]);
    const { events: later } = await watch(runnerOf(agentWith(looking(0), { when: {} }), services).run("And now?", { session: "s" }));
    expect(ofType(later, "compaction")).toEqual([]);
  });

  it("is over with it where there is nothing to gain", async () => {
    const services = sharedServices();
    const run = runnerOf(agentWith(looking(3), { strategy: slidingWindow({ keep: 50 }), when: {} }), services).run("Look.", {
      session: "s",
    });
    for await (const event of run) if (event.type === "turn-end" && event.turn === 1) await run.compact();
    const records = await recordsOf(services.log);
    expect(records.filter(({ type }) => type === "compaction-left")).toMatchObject([{ data: { cause: "request", why: "no-gain" } }]);
  });
});

describe("a session that was compacted", () => {
  it("sends the same requests to the byte, worked in one go or folded from its log before every turn", async () => {
    const compaction = { strategy: summarise({ keep: 3 }), when: { maxMessages: 11 } };
    const inOneGo = looking(25);
    await runnerOf(agentWith(inOneGo, compaction), sharedServices()).run("Look around.", { session: "s" }).outcome;
    const byTurns = looking(25);
    const services = sharedServices();
    await runnerOf(agentWith(byTurns, compaction), services).begin("s", "Look around.");
    for (let next = "now"; next === "now";)
      next = (await runnerOf(agentWith(byTurns, compaction), { ...services, recordsPerSnapshot: 7 }).advance("s")).next.type;
    const bodies = ({ requests }: ScriptedModel): readonly string[] =>
      requests.map(({ messages, system }) =>
        JSON.stringify({ system, messages })
          .replaceAll(/c_[\w-]+/g, "call")
          .replaceAll(/record \d+/g, "record"),
      );
    expect(bodies(byTurns)).toEqual(bodies(inOneGo));
    expect(byTurns.requests.filter(isSummary).length).toBeGreaterThan(2);
  });
});

describe("a summary that is made beside the turn", () => {
  const compaction: CompactionOptions = { strategy: summarise({ keep: 2 }), when: { maxMessages: 8 }, beside: true };

  it("keeps nobody waiting: the turn goes on with the whole conversation, and the next one with the summary", async () => {
    const order: string[] = [];
    let finish = (): void => {};
    const summed = new Promise<void>((resolve) => (finish = resolve));
    let turns = 0;
    const model = scriptedModel(
      Array.from({ length: 30 }, () => async (request: InferRequest): Promise<ScriptedResponse> => {
        if (isSummary(request)) {
          order.push("summary begins");
          await summed;
          order.push("summary ends");
          return { text: "They looked around." };
        }
        turns++;
        order.push(`${request.messages.length} messages`);
        // The summary ends while the turn that it was begun in is at work.
        if (turns === 5) finish();
        return turns > 6
          ? { text: "Done." }
          : { text: `Look ${turns}. ${WORDS.repeat(3)}`, toolCalls: [{ name: "look", input: { at: turns } }] };
      }),
      { name: "scripted/model" },
    );
    const { events, outcome } = await watch(runnerOf(agentWith(model, compaction)).run("Look around."));
    expect(outcome).toMatchObject({ reason: "complete", text: "Done." });
    expect(order.slice(4, 8)).toEqual(expect.arrayContaining(["summary begins", "9 messages", "summary ends", "6 messages"]));
    expect(order.indexOf("9 messages")).toBeLessThan(order.indexOf("summary ends"));
    expect(ofType(events, "compaction")).toMatchObject([{ messagesBefore: 11, cause: "size", strategy: "summarise" }]);
    // The request, the summary, the two that it kept, and the turn that went on meanwhile.
    expect(ofType(events, "compaction")[0]?.messages).toHaveLength(6);
    for (const { messages } of model.requests) expect(idsOf(messages, "tool-result")).toEqual(idsOf(messages, "tool-call"));
  });

  it("is paid, and counts as no size of the conversation", async () => {
    const services = sharedServices();
    const { events } = await watch(
      runnerOf(agentWith(looking(30), { ...compaction, when: { maxMessages: 16 } }), services).run("Look around.", { session: "s" }),
    );
    const records = await recordsOf(services.log);
    const begun = records.filter(({ type, key }) => type === "inference" && key.endsWith("/beside/summary"));
    expect(begun.length).toBeGreaterThan(1);
    expect(ofType(events, "usage").filter(({ purpose }) => purpose === "compaction")).toHaveLength(begun.length);
    expect(records.filter(({ type }) => type === "inference")).toHaveLength(records.filter(({ type }) => type === "usage").length);
  });

  it("is ended with the run, and paid for", async () => {
    const services = sharedServices();
    let turns = 0;
    const model = scriptedModel(
      Array.from({ length: 30 }, () => async (request: InferRequest): Promise<ScriptedResponse> => {
        if (isSummary(request)) return new Promise(() => {});
        return ++turns > 4
          ? { text: "Done." }
          : { text: `Look ${turns}. ${WORDS.repeat(3)}`, toolCalls: [{ name: "look", input: { at: turns } }] };
      }),
      { name: "scripted/model" },
    );
    const { outcome } = await watch(runnerOf(agentWith(model, compaction), services).run("Look around.", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "complete", text: "Done." });
    const records = await recordsOf(services.log);
    expect(records.filter(({ type }) => type === "compaction")).toEqual([]);
    expect(records.filter(({ type }) => type === "inference")).toHaveLength(records.filter(({ type }) => type === "usage").length);
  });
});

describe("a request of which nothing more can be left out", () => {
  it("ends the run with context-overflow, which names the parts that are left and their sizes, the largest first", async () => {
    const overflow = { error: { kind: "context-overflow", message: "prompt is too long" } } as const;
    const model = scriptedModel(Array.from({ length: 9 }, () => overflow));
    const { error } = await runnerOf(agentWith(model, undefined, { instructions: "Be brief." })).run(`Read this. ${WORDS}`).outcome;
    const failure = error?.failure.kind === "model" ? error.failure.model : undefined;
    expect(failure).toMatchObject({
      kind: "context-overflow",
      parts: [
        { part: "the last request of the user", tokens: expect.any(Number) },
        { part: "1 tools", tokens: expect.any(Number) },
        { part: "the system prompt", tokens: expect.any(Number) },
      ],
    });
    expect(error?.message).toMatch(/What is left: the last request of the user \(about \d+ tokens\), 1 tools \(about/);
  });
});

describe("compaction of an agent", () => {
  it.each<[string, unknown, RegExp]>([
    ["an unknown member", { strategie: 1 }, /compaction\.strategie is no option there/],
    ["no strategy", { strategy: { type: "magic" } }, /compaction\.strategy is no strategy: make it with slidingWindow/],
    ["a threshold that is none", { when: { maxContextUtilization: 2 } }, /maxContextUtilization must be a ratio from 0 to 1/],
    ["an unknown threshold", { when: { maxTurns: 2 } }, /compaction\.when\.maxTurns is no option there/],
    [
      "a window as large as its threshold",
      { strategy: slidingWindow({ keep: 50 }) },
      /keeps 50 messages and is due at 50: it must keep fewer, or raise compaction\.when\.maxMessages/,
    ],
    ["a target as large as its threshold", { strategy: policyTrim({ target: 90_000 }) }, /leaves 90000 tokens and is due at 80000/],
    ["a store without a key", { store: { scope: { type: "global" }, key: "" } }, /compaction\.store\.key must be a key/],
  ])("is refused with %s", (_case, compaction, message) => {
    expect(() => createAgent({ name: "a", model: scriptedModel([]), compaction: compaction as CompactionOptions })).toThrow(message);
  });

  it("is refused beside a function that compacts, where it names another strategy", () => {
    const compact = async () => ({ messages: [textMessage("user", "s")], summary: "s" });
    expect(() => createAgent({ name: "a", model: scriptedModel([]), compact, compaction: { strategy: summarise() } })).toThrow(
      /leave one of them out/,
    );
    expect(createAgent({ name: "a", model: scriptedModel([]), compact, compaction: { when: { maxMessages: 5 } } }).name).toBe("a");
  });

  it("is part of its digest", () => {
    const digest = (compaction: CompactionOptions) => createAgent({ name: "a", model: scriptedModel([]), compaction }).digest;
    expect(digest({ strategy: slidingWindow({ keep: 5 }) })).not.toBe(digest({ strategy: slidingWindow({ keep: 6 }) }));
  });

  it.each<[() => unknown, RegExp]>([
    [() => slidingWindow({ keep: 0 }), /keep of sliding-window must be a whole number of at least 1, not 0/],
    [() => policyTrim({ target: 0.5 }), /target of policy-trim must be a whole number/],
    [() => summarise({ maxTokens: 0 }), /maxTokens of summarise/],
    [() => summarise({ instructions: "" }), /instructions of summarise must be a text/],
  ])("has strategies that check their options", (make, message) => {
    expect(make).toThrow(message);
  });
});

describe("a compaction that shortens results first", () => {
  /** Looks often at something long, and says little. */
  function quiet(turns: number, summary = "They looked around."): ScriptedModel {
    let looked = 0;
    return scriptedModel(
      Array.from({ length: 2 * turns + 8 }, () => (request: InferRequest): ScriptedResponse => {
        const usage = { inputTokens: Math.ceil(JSON.stringify(request.messages).length / 5) };
        if (isSummary(request)) return { text: summary, usage };
        looked++;
        return looked > turns ? { text: "Done.", usage } : { toolCalls: [{ name: "look", input: { at: looked } }], usage };
      }),
      { name: "scripted/model" },
    );
  }

  it("asks no model while the results are what makes it long, and keeps every call", async () => {
    const model = quiet(20);
    const compaction = { strategy: resultsFirst(summarise({ keep: 2 })), when: { maxTokens: 2_000 } };
    const { events, outcome } = await watch(runnerOf(agentWith(model, compaction)).run("Look around."));
    expect(outcome.reason).toBe("complete");
    const compactions = ofType(events, "compaction");
    expect(compactions.length).toBeGreaterThan(1);
    expect(compactions[0]).toMatchObject({ strategy: "results-first", summary: expect.stringMatching(/^\d+ old results were left out/) });
    expect(compactions[0]?.messages).toHaveLength(compactions[0]?.messagesBefore ?? 0);
    expect(model.requests.filter(isSummary)).toEqual([]);
  });

  it("goes on to the other strategy if the results are not what makes it long", async () => {
    const model = looking(12);
    const compaction = { strategy: resultsFirst(summarise({ keep: 2 })), when: { maxTokens: 3_000 } };
    const wordy = agentWith(model, compaction, { tools: [recordingTool("look", { effect: "read", output: () => "nothing" })] });
    const { events, outcome } = await watch(runnerOf(wordy).run("Look around."));
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "compaction")[0]?.summary).toContain("They looked around.");
  });

  it("summarises when it is asked for, and the summary is told what to keep", async () => {
    const model = looking(8);
    const runner = runnerOf(agentWith(model, { strategy: resultsFirst(summarise({ keep: 2 })), when: {} }), sharedServices());
    const run = runner.run("Look around.", { session: "s" });
    for await (const event of run) if (event.type === "turn-end" && event.turn === 6) await run.compact({ keep: "the names of all files" });
    expect((await run.outcome).reason).toBe("complete");
    const summaries = model.requests.filter(isSummary);
    expect(summaries).toHaveLength(1);
    expect(summaries[0]?.system).toContain("The user asks to keep in particular: the names of all files");
  });

  it("is asked for from any process after the end of a run, and done before the first model call of the next one", async () => {
    const services = sharedServices();
    const model = looking(8);
    const runner = runnerOf(agentWith(model, { strategy: resultsFirst(summarise({ keep: 2 })), when: {} }), services);
    await runner.run("Look around.", { session: "s" }).outcome;
    const before = model.requests.length;
    await runner.compact("s", { keep: "the way" });
    const { events, outcome } = await watch(runner.run("And now?", { session: "s" }));
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "compaction")).toMatchObject([{ cause: "request", strategy: "summarise" }]);
    const [first, second] = model.requests.slice(before);
    expect(first?.system).toContain("The user asks to keep in particular: the way");
    expect(JSON.stringify(second?.messages)).toContain("And now?");
    // It is done once.
    const later = await watch(runner.run("Go on.", { session: "s" }));
    expect(ofType(later.events, "compaction")).toEqual([]);
  });

  it("refuses an empty wish, and a session that has had no run", async () => {
    const runner = runnerOf(agentWith(looking(1), {}), sharedServices());
    await expect(runner.compact("s", { keep: " " })).rejects.toThrow(/keep must be a text/);
    await expect(runner.compact("nothing")).rejects.toThrow(/There is no session/);
  });

  it("is made of another strategy, and never of itself", () => {
    expect(resultsFirst()).toEqual({ type: "results-first", then: summarise() });
    expect(() => resultsFirst(resultsFirst())).toThrow(/must be another strategy than resultsFirst/);
    expect(() => resultsFirst({ type: "nothing" } as never)).toThrow(/compaction\.strategy\.then is no strategy/);
    expect(() => agentWith(looking(1), { strategy: resultsFirst(slidingWindow({ keep: 9 })), when: { maxMessages: 5 } })).toThrow(
      /keeps 9/,
    );
  });
});
