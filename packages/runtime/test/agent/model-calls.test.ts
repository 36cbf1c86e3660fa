import { createAgent, createRunner, type AgentOptions, type RunnerOptions } from "keelson";
import { ruleAfter, ruleBefore } from "keelson/context";
import { CIRCUIT_OPEN, createModelRegistry } from "keelson/providers";
import { createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import {
  type BudgetScope,
  type Durability,
  type EventLog,
  type InferEvent,
  type JsonValue,
  type LogRecord,
  ModelError,
  type Provider,
  type SessionId,
  sessionLog,
  textMessage,
  ToolError,
  usd,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, types, watch } from "./support.ts";

/** A dollar for a thousand tokens of input, two for as many of output. */
const price = { input: "1000", output: "2000", asOf: "2026-01-01" };
const overloaded: ScriptedTurn = { error: { kind: "server-error", message: "overloaded" } };

async function recordsOf(log: EventLog, session = "s"): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(session as SessionId))) records.push(record);
  return records;
}

async function loggedBy(agent: ReturnType<typeof createAgent>, options: RunnerOptions = {}) {
  const log = createMemoryEventLog();
  const { events, outcome } = await watch(runnerOf(agent, { log, ...options }).run("go", { session: "s" }));
  const records = await recordsOf(log);
  // What stands in a log without a name would not be found again.
  expect(records.filter(({ key }) => key.indexOf("/") === key.length - 1)).toEqual([]);
  return { events, outcome, records, dataOf: (type: string) => records.filter((record) => record.type === type).map(({ data }) => data) };
}

/** What it responds is what these events say, and then this is thrown, if it is anything. */
function streaming(events: readonly InferEvent[], thrown?: unknown): Provider {
  return {
    name: "vendor/model",
    wire: "vendor",
    async *stream() {
      yield* events;
      if (thrown !== undefined) throw thrown;
    },
  };
}

const END: InferEvent = {
  type: "end",
  stopReason: "end-turn",
  rawStopReason: null,
  usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null },
  model: "vendor/model",
};
const said = (text: string): readonly InferEvent[] => [{ type: "text-start" }, { type: "text-delta", text }, { type: "text-end" }];

describe("a model call, before it is made,", () => {
  const inferenceOf = async (
    options: Partial<AgentOptions>,
    budgets: readonly BudgetScope[] = [],
    model = scriptedModel(["ok"], { price }),
  ): Promise<Record<string, JsonValue | undefined>> => {
    const { dataOf, outcome } = await loggedBy(createAgent({ name: "a", model, ...options }), { budgets });
    expect(outcome.reason).toBe("complete");
    return dataOf("inference")[0] ?? {};
  };

  it("is in the log with its model, a bound of its input, and what was reserved for it: no more than that", async () => {
    const bare = { model: "scripted/model", inputBound: expect.any(Number) };
    expect(await inferenceOf({})).toEqual(bare);
    expect(await inferenceOf({ settings: { maxTokens: 100 } })).toEqual({ ...bare, maxTokens: 100 });
    expect(await inferenceOf({}, [{ id: "b", maxTurns: 5 }])).toEqual(bare);
    expect(await inferenceOf({}, [{ id: "b", maxTokens: 90_000 }])).toEqual({ ...bare, maxTokens: 4096 });
    const { inputBound, ...rest } = await inferenceOf({}, [{ id: "b", maxCost: usd("90") }]);
    // The whole of the input and of the output, at their prices.
    expect(rest).toEqual({ model: "scripted/model", maxTokens: 4096, reserved: String((Number(inputBound) + 2 * 4096) / 1000) });
    const unpriced = scriptedModel(["ok"], { name: "nobody/knows" });
    expect(await inferenceOf({}, [{ id: "b", maxCost: usd("90"), unknownPrice: "allow" }], unpriced)).toEqual({
      ...bare,
      model: "nobody/knows",
      maxTokens: 4096,
    });
  });

  it("is bounded by the bytes of all that is sent: the instructions and the tools count as the conversation does", async () => {
    const plain = Number((await inferenceOf({}))["inputBound"]);
    expect(plain).toBeLessThan(150);
    const instructed = Number((await inferenceOf({ instructions: "é".repeat(50) }))["inputBound"]);
    expect(instructed - plain).toBe(100);
    expect(Number((await inferenceOf({ tools: [recordingTool("look")] }))["inputBound"])).toBeGreaterThan(plain + 20);
  });

  it("is bounded by what its model can read, where that is known", async () => {
    const models = createModelRegistry({ providers: { mine: scriptedModel(["ok"]) }, facts: { "mine/small": { contextWindow: 50 } } });
    const agent = createAgent({ name: "a", model: "mine/small", instructions: "x".repeat(500) });
    // With a tenth more, for windows are rounded.
    expect((await loggedBy(agent, { models })).dataOf("inference")).toMatchObject([{ inputBound: 55 }]);
  });
});

describe("rules around a model call", () => {
  it("are told of its model before it, which they can't change", async () => {
    const seen: unknown[] = [];
    const model = scriptedModel(["never"]);
    const agent = createAgent({
      name: "a",
      model,
      rules: [
        ruleBefore("infer", "look", 1, ({ input }) => void seen.push(input)),
        ruleBefore("infer", "change", 0, () => ({ type: "modify-input", input: { model: "scripted/other" } })),
      ],
    });
    const { error } = await runnerOf(agent).run("go").outcome;
    expect(seen).toEqual([{ model: "scripted/model" }]);
    expect(error?.message).toMatch(/^the rule "change" cannot do that at "infer": its input is for rules to look at/);
    expect(model.requests).toEqual([]);
  });

  it("are told of its failure behind it as of a response", async () => {
    const seen: unknown[] = [];
    const agent = createAgent({
      name: "a",
      model: scriptedModel([overloaded, "ok"]),
      rules: [ruleAfter("infer", "look", 0, ({ output }) => void seen.push(output))],
    });
    await runnerOf(agent).run("go").outcome;
    expect(seen).toEqual([
      { failure: expect.objectContaining({ kind: "server-error", message: "overloaded" }) },
      { content: [{ type: "text", text: "ok" }], stopReason: "end-turn" },
    ]);
  });
});

describe("a model call that is not made", () => {
  it("because the model can't do what is asked reserves nothing, and stands in the log as failed", async () => {
    const models = createModelRegistry({
      providers: { mine: scriptedModel(["never"]) },
      facts: { "mine/plain": { capabilities: { toolCalling: false } } },
    });
    const agent = createAgent({ name: "a", model: "mine/plain", tools: [recordingTool("look")] });
    const { dataOf, outcome } = await loggedBy(agent, { models });
    const failure = { kind: "invalid-request", message: expect.stringContaining("takes no tools"), model: "plain" };
    expect(outcome.error?.failure).toMatchObject({ kind: "model", model: failure });
    expect(dataOf("inference-failed")).toMatchObject([{ failure }]);
    expect([dataOf("inference"), dataOf("usage")]).toEqual([[], []]);
  });

  it("because the model that was set gives no output of that form says so", async () => {
    const models = createModelRegistry({
      providers: { a: scriptedModel([{ toolCalls: [{ name: "look" }] }], { name: "a/able" }), b: scriptedModel([], { name: "b/plain" }) },
      facts: { "b/plain": { capabilities: { toolCalling: false } } },
    });
    const look = recordingTool("look", { effect: "read" });
    const agent = createAgent({ name: "a", model: "a/able", tools: [look], output: z.object({}), outputMode: "tool" });
    const run = runnerOf(agent, { models }).run("go");
    look.execute = async () => (await run.setModel("b/plain"), "seen");
    const { events, outcome } = await watch(run);
    expect(ofType(events, "model-switch")).toMatchObject([{ from: "a/able", to: "b/plain", reason: "set-model" }]);
    expect(outcome.error?.failure).toMatchObject({
      kind: "model",
      model: { kind: "invalid-request", message: expect.stringMatching(/^outputMode "tool" needs a model that calls tools/) },
    });
  });

  it("because the run was aborted as it was about to be has used nothing", async () => {
    const model = scriptedModel(["never"], { price });
    let abort: (() => Promise<void>) | undefined;
    const agent = createAgent({ name: "a", model, rules: [ruleBefore("compile", "r", 0, () => abort?.())] });
    const log = createMemoryEventLog();
    const run = runnerOf(agent, { log }).run("go", { session: "s" });
    abort = () => run.abort();
    expect((await run.outcome).reason).toBe("aborted");
    expect(model.requests).toEqual([]);
    const usage = (await recordsOf(log)).filter(({ type }) => type === "usage").map(({ data }) => data);
    expect(usage).toMatchObject([{ cost: "0", usage: { inputTokens: 0, outputTokens: 0 } }]);
    expect(usage[0]).not.toHaveProperty("estimated");
  });
});

describe("what a model call used", () => {
  const usageOf = async (model: Provider & { readonly price?: typeof price }, options: Partial<AgentOptions> = {}) =>
    (await loggedBy(createAgent({ name: "a", model, limits: { maxRetries: 0 }, ...options }))).dataOf("usage")[0];

  it("is what the vendor reports, at its price", async () => {
    expect(await usageOf(scriptedModel(["ok"], { price }))).toEqual({
      usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null },
      cost: "0.02",
      model: "scripted/model",
    });
  });

  it("is estimated in tokens of what was sent and received, and never above its bound, if the vendor does not report it", async () => {
    const unreported = { inputTokens: null, outputTokens: null };
    const model = scriptedModel([{ text: "12345", usage: unreported }], { price });
    const { dataOf } = await loggedBy(createAgent({ name: "a", model }));
    const bound = Number(dataOf("inference")[0]?.["inputBound"]);
    expect(dataOf("usage")[0]).toMatchObject({ usage: unreported, estimated: true });
    const cost = Number(dataOf("usage")[0]?.["cost"]);
    expect(cost).toBeGreaterThan(0);
    expect(cost).toBeLessThanOrEqual(bound / 1000 + 8 / 500);
    const unpriced = await usageOf(scriptedModel([{ text: "12345", usage: unreported }], { name: "nobody/knows" }));
    expect(unpriced).toMatchObject({ cost: null });
    expect(unpriced).not.toHaveProperty("estimated");
  });

  it("is estimated where the stream broke off, from what was sent and received until then", async () => {
    const broken: ScriptedTurn = { text: "12345", ...(overloaded as object) };
    const { dataOf } = await loggedBy(createAgent({ name: "a", model: scriptedModel([broken], { price }), limits: { maxRetries: 0 } }));
    const bound = Number(dataOf("inference")[0]?.["inputBound"]);
    const { usage, cost, estimated } = dataOf("usage")[0] as unknown as {
      readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
      readonly cost: string;
      readonly estimated: true;
    };
    expect(estimated).toBe(true);
    // A short request of some tokens, whose bound counts bytes and frames.
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(usage.inputTokens).toBeLessThan(bound / 4);
    // "12345" is two tokens, and a message four.
    expect(usage.outputTokens).toBe(6);
    expect(Number(cost)).toBeCloseTo(usage.inputTokens / 1000 + usage.outputTokens / 500);
    expect(await usageOf(scriptedModel([broken], { name: "nobody/knows" }))).toMatchObject({ cost: null, estimated: true });
  });

  it("is nothing where it failed before it said anything, at any price", async () => {
    for (const model of [scriptedModel([overloaded], { price }), scriptedModel([overloaded], { name: "nobody/knows" })]) {
      const usage = await usageOf(model);
      expect(usage).toMatchObject({ usage: { inputTokens: 0, outputTokens: 0 }, cost: "0" });
      expect(usage).not.toHaveProperty("estimated");
    }
  });

  it("survives a power cut where a budget counts it, and only there", async () => {
    const kept = async (budgets: readonly BudgetScope[]): Promise<readonly (Durability | undefined)[]> => {
      const log = createMemoryEventLog();
      const found: (Durability | undefined)[] = [];
      const watched: EventLog = {
        ...log,
        append(id, seq, records, options) {
          if (records.some(({ type }) => type === "usage") && !records.some(({ type }) => type === "run-complete"))
            found.push(options?.durability);
          return log.append(id, seq, records, options);
        },
      };
      const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "ok"], { price });
      await runnerOf(createAgent({ name: "a", model, tools: [recordingTool("look", { effect: "read" })] }), { log: watched, budgets }).run(
        "go",
      ).outcome;
      return found;
    };
    expect(await kept([{ id: "b", maxCost: usd("90") }])).toEqual(["power"]);
    expect(await kept([])).toEqual(["process"]);
  });
});

it("a model call has a key of its own, by which a vendor knows it again", async () => {
  const keys: unknown[] = [];
  const provider = streaming([...said("so"), END]);
  const model: Provider = { ...provider, stream: (request, call) => (keys.push(call?.idempotencyKey), provider.stream(request, call)) };
  const runner = runnerOf(createAgent({ name: "a", model }));
  await runner.run("go", { session: "s" }).outcome;
  await runner.run("on", { session: "s" }).outcome;
  expect(keys).toEqual([expect.stringMatching(/^r_.+\/t1\/infer\/0$/), expect.stringMatching(/^r_.+\/infer\/0$/)]);
  expect(new Set(keys).size).toBe(2);
});

describe("the stream of a model", () => {
  it("that is cancelled by nobody here is a failure of the vendor, and tried again", async () => {
    const cancelled = new ModelError({ kind: "cancelled", message: "not now" });
    const { outcome, events } = await watch(
      runnerOf(createAgent({ name: "a", model: streaming(said("half"), cancelled), limits: { maxRetries: 1 } })).run("go"),
    );
    expect(ofType(events, "retry")).toMatchObject([
      {
        reason: "server-error",
        failure: { kind: "server-error", provider: "vendor/model", message: expect.stringMatching(/cancelled its response: not now$/) },
      },
    ]);
    expect(outcome.error?.message).toMatch(/^Max retries \(1\) exceeded: vendor\/model cancelled its response: not now$/);
  });

  it("that ends before its end is one too, and what it said until then is kept as a part of a response", async () => {
    const { outcome, events } = await watch(
      runnerOf(createAgent({ name: "a", model: streaming(said("half")), limits: { maxRetries: 0 } })).run("go"),
    );
    expect(outcome).toMatchObject({ reason: "error", text: "half", cut: true });
    expect(outcome.error?.failure).toMatchObject({
      kind: "model",
      model: {
        kind: "server-error",
        provider: "vendor/model",
        message: expect.stringMatching(/^the stream of vendor\/model ended before its end$/),
      },
    });
    expect(ofType(events, "message").filter(({ message }) => message.role === "assistant")).toMatchObject([{ message: { cut: true } }]);
  });

  it("that fails in a way of its own is told as other than all that is known, and not tried again", async () => {
    const { outcome, events } = await watch(runnerOf(createAgent({ name: "a", model: streaming([], new Error("odd")) })).run("go"));
    expect(outcome.error?.failure).toMatchObject({ kind: "model", model: { message: expect.stringContaining("odd") } });
    expect(types(events)).not.toContain("retry");
  });

  it("that fails as another kind of thing does is a failure of no kind that models have", async () => {
    const other = new ToolError({ kind: "timeout", message: "too slow", tool: "t" } as never);
    const { error } = await runnerOf(createAgent({ name: "a", model: streaming([], other), limits: { maxRetries: 0 } })).run("go").outcome;
    expect(error?.failure).toMatchObject({
      kind: "model",
      model: { kind: "other", provider: "vendor/model", message: expect.any(String) },
    });
    expect((error?.failure as { readonly model?: object }).model).not.toHaveProperty("tool");
  });

  it.each(["authentication", "billing", "invalid-request", "invalid-response", "content-blocked", "other"] as const)(
    "that fails as %s is told as that, with all that is known of it",
    async (kind) => {
      const failure = { kind, message: "no", provider: "vendor", model: "model", status: 418 };
      const agent = createAgent({ name: "a", model: streaming([], new ModelError(failure as never)), limits: { maxRetries: 0 } });
      expect((await runnerOf(agent).run("go").outcome).error?.failure).toMatchObject({ kind: "model", model: failure });
    },
  );

  it("counts what it shows anew with each attempt", async () => {
    const model = scriptedModel([{ text: "half", ...(overloaded as object) } as ScriptedTurn, "whole"]);
    const { events } = await watch(runnerOf(createAgent({ name: "a", model })).run("go"));
    const deltas = ofType(events, "text-delta").map(({ text, attempt, n }) => ({ text, attempt, n }));
    expect(deltas).toEqual([
      { text: "half", attempt: 1, n: 2 },
      { text: "whole", attempt: 2, n: 2 },
    ]);
  });

  it("shows calls by the ids that they have in its message", async () => {
    const look = { name: "look", input: {} };
    const agent = createAgent({
      name: "a",
      model: scriptedModel([{ toolCalls: [look, look] }, "ok"]),
      tools: [recordingTool("look", { effect: "read" })],
    });
    const { events } = await watch(runnerOf(agent).run("go"));
    const ids = ofType(events, "tool-calls-start").flatMap(({ calls }) => calls.map(({ callId }) => callId));
    expect(new Set(ids).size).toBe(2);
    expect(ofType(events, "tool-call-start").map(({ callId }) => callId)).toEqual(ids);
    expect(ofType(events, "tool-call-end").map(({ callId }) => callId)).toEqual(ids);
  });

  it("is shown to watchers from its beginning to its end, parts that come as a whole included", async () => {
    const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
    const stream: readonly InferEvent[] = [
      { type: "thinking-start" },
      { type: "thinking-delta", text: "hm" },
      { type: "thinking-end" },
      ...said("Look:"),
      { type: "content", part: image },
      { type: "rate-limit", rateLimit: { utilization: 0.5, resetAt: 7, allowed: true } },
      END,
    ];
    const { events, outcome } = await loggedBy(createAgent({ name: "a", model: streaming(stream) }));
    expect(outcome).toMatchObject({ reason: "complete", text: "Look:" });
    const shown = types(events).filter((type) => /^(thinking|text)-|^content$/.test(type));
    expect(shown).toEqual(["thinking-start", "thinking-delta", "thinking-end", "text-start", "text-delta", "text-end", "content"]);
    expect(ofType(events, "content").map(({ part }) => part)).toEqual([image]);
    expect(ofType(events, "rate-limit")).toMatchObject([{ utilization: 0.5, resetAt: 7, allowed: true }]);
    expect(types(events)).not.toContain("end");
  });
});

describe("a response whose deltas come together", () => {
  /** Says these as one run behind the first, where it is asked so. */
  const together = (texts: readonly string[]): Provider => ({
    name: "vendor/model",
    wire: "vendor",
    stream() {
      const [text = "", ...others] = texts;
      const left: InferEvent[] = [{ type: "text-start" }, { type: "text-delta", text }, { type: "text-end" }, END];
      let run: readonly string[] | undefined = others;
      const events = {
        [Symbol.asyncIterator]: () => events,
        async next(): Promise<IteratorResult<InferEvent>> {
          const value = left.shift();
          return value === undefined ? { done: true, value } : { done: false, value };
        },
        poll: () => undefined,
        pollTexts() {
          const given = run;
          run = undefined;
          return given;
        },
      };
      return events;
    },
  });

  it("is shown to watchers delta by delta, and is in the message as a whole", async () => {
    const { events, outcome } = await loggedBy(createAgent({ name: "a", model: together(["a", "bc", "d"]) }));
    expect(ofType(events, "text-delta").map(({ text, n }) => [text, n])).toEqual([
      ["a", 2],
      ["bc", 3],
      ["d", 4],
    ]);
    expect(outcome).toMatchObject({ reason: "complete", text: "abcd" });
  });

  it("ends where it becomes too long: what comes behind that delta is neither shown nor kept", async () => {
    const texts = ["a".repeat(30), "b".repeat(30), "c".repeat(30), "d".repeat(30)];
    const { events, outcome } = await loggedBy(createAgent({ name: "a", model: together(texts), limits: { maxAnswerBytes: 70 } }));
    expect(ofType(events, "text-delta").map(({ text }) => text)).toEqual(texts.slice(0, 3));
    expect(outcome.reason).toBe("max-output");
    expect(outcome.text).toBe(texts.slice(0, 2).join(""));
  });
});

describe("a response of many calls", () => {
  const asking = (count: number): ScriptedTurn => ({
    toolCalls: Array.from({ length: count }, (_, n) => ({ name: "look", input: { n } })),
  });
  const asked = async (count: number, limits: AgentOptions["limits"] = {}) => {
    const look = recordingTool("look", { effect: "read" });
    const { events, outcome } = await loggedBy(
      createAgent({ name: "a", model: scriptedModel([asking(count), "done"]), tools: [look], loopGuard: false, limits }),
    );
    return { calls: look.calls.length, reason: outcome.reason, warnings: ofType(events, "status").filter(({ level }) => level === "warn") };
  };

  it("is worked up to 128 of them; one that asks for more ends the run, and says which limit that was", async () => {
    expect(await asked(128)).toMatchObject({ calls: 128, reason: "complete", warnings: [] });
    expect(await asked(129)).toMatchObject({
      calls: 0,
      reason: "max-output",
      warnings: [{ status: expect.stringContaining("limits.maxAnswerCalls (128)") }],
    });
    expect(await asked(3, { maxAnswerCalls: 2 })).toMatchObject({ calls: 0, reason: "max-output" });
    expect(await asked(200, { maxAnswerCalls: 200 })).toMatchObject({ calls: 200, reason: "complete" });
  });
});

describe("a limit of the vendor's that was hit", () => {
  const limited = (retryAfterMs?: number): ScriptedTurn => ({
    error: { kind: "rate-limit", ...(retryAfterMs !== undefined && { retryAfterMs }) } as never,
  });

  it("is told with the time at which it is over, where the vendor says so; no other failure is told as that", async () => {
    const clock = impatientClock(1_000_000);
    const model = scriptedModel([limited(60_000), limited(), overloaded, "ok"]);
    const { events } = await watch(runnerOf(createAgent({ name: "a", model }), { clock }).run("go"));
    expect(ofType(events, "rate-limit")).toMatchObject([
      { utilization: 1, resetAt: 1_060_000, allowed: false },
      { utilization: 1, resetAt: null, allowed: false },
    ]);
  });
});

describe("a failed model call", () => {
  const twoModels = (primary: readonly ScriptedTurn[], fallback: readonly ScriptedTurn[]) => {
    const first = scriptedModel(primary, { name: "a/first" });
    const second = scriptedModel(fallback, { name: "b/second" });
    return { first, second, models: createModelRegistry({ providers: { a: first, b: second } }) };
  };
  const falling = { name: "a", model: "a/first", fallbackModel: "b/second" } as const;

  it("stays with its model where another would fail as well: nothing is asked of the fallback", async () => {
    const { second, models } = twoModels([{ error: { kind: "invalid-request", message: "what?" } }], ["never"]);
    const { error, reason } = await runnerOf(createAgent(falling), { models }).run("go").outcome;
    expect([reason, error?.message, second.requests.length]).toEqual(["error", "what?", 0]);
  });

  it("is tried again no more often than the limit says, whatever onModelError wants; then the fallback has its turn, if it may help", async () => {
    const again = { onModelError: () => ({ type: "retry" }) as const, limits: { maxRetries: 2 } };
    const alone = scriptedModel(Array.from({ length: 9 }, () => overloaded));
    const { error } = await runnerOf(createAgent({ name: "a", model: alone, ...again })).run("go").outcome;
    expect([error?.message, alone.requests.length]).toEqual(["Max retries (2) exceeded: overloaded", 3]);

    const helped = twoModels([overloaded, overloaded, overloaded], ["helped"]);
    expect((await runnerOf(createAgent({ ...falling, ...again }), { models: helped.models }).run("go").outcome).text).toBe("helped");
    expect(helped.first.requests).toHaveLength(3);

    const refused: ScriptedTurn = { error: { kind: "invalid-request" } };
    const stuck = twoModels([refused, refused, refused], ["never"]);
    expect((await runnerOf(createAgent({ ...falling, ...again }), { models: stuck.models }).run("go").outcome).reason).toBe("error");
    expect([stuck.first.requests.length, stuck.second.requests.length]).toEqual([3, 0]);
  });

  it("ends the run where onModelError says so, though a fallback is there", async () => {
    const { second, models } = twoModels([overloaded], ["never"]);
    const agent = createAgent({ ...falling, onModelError: () => ({ type: "abort", message: "not today" }) });
    expect((await runnerOf(agent, { models }).run("go").outcome).error?.message).toBe("not today");
    expect(second.requests).toHaveLength(0);
  });

  it("ends the run where onModelError switches to the model that failed", async () => {
    const { first, models } = twoModels([overloaded, "never"], []);
    const agent = createAgent({ name: "a", model: "a/first", onModelError: () => ({ type: "switch-model", model: "a/first" }) });
    const { events, outcome } = await watch(runnerOf(agent, { models }).run("go"));
    expect([outcome.reason, outcome.error?.message, first.requests.length]).toEqual(["error", "overloaded", 1]);
    expect(types(events)).not.toContain("model-switch");
  });

  const leftAlone: ScriptedTurn = { error: { kind: "server-error", message: "left alone", code: CIRCUIT_OPEN } as never };

  it("of a model that is left alone goes to the fallback at once, and waits there where that is left alone as well", async () => {
    const { first, second, models } = twoModels([leftAlone], [leftAlone, "helped"]);
    const { text } = await runnerOf(createAgent({ ...falling, limits: { maxRetries: 1 } }), { models }).run("go").outcome;
    expect([text, first.requests.length, second.requests.length]).toEqual(["helped", 1, 2]);
  });

  it("of a model that is left alone ends the run as onModelError says, where it says something", async () => {
    const ended = async (options: Partial<AgentOptions>) => {
      const model = scriptedModel([leftAlone]);
      const { reason, error } = await runnerOf(createAgent({ name: "a", model, limits: { maxRetries: 0 }, ...options })).run("go").outcome;
      return [reason, error?.message];
    };
    expect(await ended({})).toEqual(["circuit-breaker", undefined]);
    expect(await ended({ onModelError: () => ({ type: "abort", message: "not today" }) })).toEqual(["error", "not today"]);
  });

  it("compacts the conversation only where this was too long", async () => {
    let compacted = 0;
    const model = scriptedModel([overloaded, "ok"]);
    const agent = createAgent({
      name: "a",
      model,
      compact: async () => (compacted++, { messages: [textMessage("user", "short")], summary: "s" }),
    });
    expect((await runnerOf(agent).run("go").outcome).reason).toBe("complete");
    expect(compacted).toBe(0);
  });

  it("tells who debugs it what is done about it", async () => {
    const { models } = twoModels([overloaded, overloaded], ["helped"]);
    const { events } = await loggedBy(createAgent({ ...falling, debug: true, limits: { maxRetries: 1 } }), { models });
    const told = ofType(events, "status").map(({ status }) => status);
    expect(told).toContainEqual(expect.stringMatching(/turn 1, model call 1: a\/first with 1 messages/));
    expect(told).toContainEqual(expect.stringMatching(/retry 1 of 1 in \d+ ms: server-error: overloaded/));
    expect(told).toContainEqual(expect.stringMatching(/turn 1, model call 2: a\/first with 1 messages/));
    expect(told).toContainEqual(expect.stringMatching(/switch from a\/first to b\/second: server-error: overloaded/));
  });
});

describe("the response of a model", () => {
  it.each([
    ["thinks and says nothing", { thinking: "hm" }, "error"],
    ["says an empty text", { text: "" }, "error"],
    ["thinks and then says something", { thinking: "hm", text: "so" }, "complete"],
  ] as const)("that %s ends the run accordingly", async (_name, turn, reason) => {
    expect((await runnerOf(createAgent({ name: "a", model: scriptedModel([turn, turn, turn]) })).run("go").outcome).reason).toBe(reason);
  });

  it("that is longer than allowed ends the run, also where cut responses are gone on with", async () => {
    const model = scriptedModel([{ text: "x".repeat(5000), chunkSize: 100 }, "never"]);
    const agent = createAgent({ name: "a", model, onMaxTokens: "continue", limits: { maxAnswerBytes: 1000 } });
    const { outcome, dataOf } = await loggedBy(agent);
    expect([outcome.reason, model.requests.length]).toEqual(["max-output", 1]);
    expect(dataOf("answer")).toEqual([{ stopReason: "max-tokens", overflowed: true }]);
    // What it would have cost to its end, nobody told.
    expect(dataOf("usage")).toMatchObject([{ estimated: true }]);
    expect((await loggedBy(createAgent({ name: "a", model: scriptedModel(["short"]) }))).dataOf("answer")).toEqual([
      { stopReason: "end-turn" },
    ]);
  });

  it("that was cut is asked for its rest in so many words", async () => {
    const model = scriptedModel([{ text: "half", stopReason: "max-tokens" }, " and half"]);
    const { outcome } = await watch(runnerOf(createAgent({ name: "a", model, onMaxTokens: "continue" })).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(model.requests[1]?.messages.at(-1)?.content).toEqual([
      { type: "text", text: "Your answer was cut off at its token limit. Go on exactly where it stopped, without repeating anything." },
    ]);
  });

  it("that is cut again and again is asked for its rest each time, which rules may put in other words", async () => {
    const cut = (text: string): ScriptedTurn => ({ text, stopReason: "max-tokens" });
    const model = scriptedModel([cut("a"), cut("b"), "c"]);
    const other = ruleBefore("inject-message", "r", 0, () => ({
      type: "modify-input",
      input: { message: { role: "user", content: [{ type: "text", text: "And?" }] } },
    }));
    const agent = createAgent({ name: "a", model, onMaxTokens: "continue", rules: [other] });
    expect((await runnerOf(agent).run("go").outcome).reason).toBe("complete");
    expect(model.requests[2]?.messages.map(({ content }) => content.map((part) => ("text" in part ? part.text : "")).join())).toEqual([
      "go",
      "a",
      "And?",
      "b",
      "And?",
    ]);
  });

  it("that was cut within a call, or says nothing, is not asked for its rest", async () => {
    const nothing = scriptedModel([{ thinking: "hm", stopReason: "max-tokens" }, "never"]);
    expect((await runnerOf(createAgent({ name: "a", model: nothing, onMaxTokens: "continue" })).run("go").outcome).reason).toBe(
      "max-output",
    );
    expect(nothing.requests).toHaveLength(1);
    const write = recordingTool("write");
    const model = scriptedModel([
      { text: "I write.", toolCalls: [1, 2, 3].map((n) => ({ name: "write", input: { n } })), stopReason: "max-tokens" },
      "ok",
    ]);
    const { events } = await watch(runnerOf(createAgent({ name: "a", model, tools: [write], onMaxTokens: "continue" })).run("go"));
    // Its arguments are whole by chance: more could have been meant.
    expect(write.calls).toEqual([{ n: 1 }, { n: 2 }]);
    expect(ofType(events, "tool-result")[2]).toMatchObject({
      isError: true,
      output:
        "The response was cut off at its token limit while this call was being written, so it did not run. Call again with shorter arguments, or in smaller steps.",
    });
  });
});

it("a model that takes its time is left when the run is aborted, though it ignores its signal", async () => {
  let begun = (): void => {};
  const asked = new Promise<void>((resolve) => (begun = resolve));
  const deaf: Provider = {
    name: "deaf/model",
    wire: "deaf",
    async *stream(): AsyncGenerator<InferEvent> {
      begun();
      await new Promise(() => {});
      yield END;
    },
  };
  const { clock, ...services } = sharedServices();
  const run = createRunner({ ...services, clock, agent: createAgent({ name: "a", model: deaf }) }).run("go", { session: "s" });
  await asked;
  await run.abort();
  expect((await run.outcome).reason).toBe("aborted");
  expect(clock.waits).toContain(500);
  const failed = (await recordsOf(services.log)).filter(({ type }) => type === "inference-failed");
  expect(failed.map(({ data }) => data["failure"])).toMatchObject([
    { kind: "cancelled", message: "the call of deaf/model was cancelled and left behind: it did not end by itself" },
  ]);
});
