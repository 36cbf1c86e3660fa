import { createAgent, createRunner, type RunnerOptions } from "keelson";
import { createModelRegistry } from "keelson/providers";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { AgentError, type ModelFailure } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, types, watch } from "./support.ts";

const overloaded = { error: { kind: "server-error" as const, message: "overloaded" } };
const limited = { error: { kind: "rate-limit" as const, retryAfterMs: 90_000 } };

function twoModels(primary: Parameters<typeof scriptedModel>[0], fallback: Parameters<typeof scriptedModel>[0]) {
  const first = scriptedModel(primary, { name: "a/first" });
  const second = scriptedModel(fallback, { name: "b/second" });
  const models = createModelRegistry({ providers: { a: first, b: second } });
  return { first, second, models };
}

describe("a failing model", () => {
  it("is retried up to three times by default, without counting turns [RN-09, RN-12, ER-05, ER-06]", async () => {
    const model = scriptedModel([overloaded, overloaded, overloaded, "ok"]);
    const { events, outcome } = await watch(runnerOf(createAgent({ name: "a", model })).run("go"));
    expect(outcome).toMatchObject({ reason: "complete", text: "ok", turns: 1 });
    expect(ofType(events, "retry").map((retry) => retry.attempt)).toEqual([1, 2, 3]);
  });

  it("ends the run after the last retry, and says how many there were [RN-09, RN-12, ET-07]", async () => {
    const model = scriptedModel([overloaded, overloaded, overloaded, overloaded]);
    const { events, outcome } = await watch(runnerOf(createAgent({ name: "a", model })).run("go"));
    expect(outcome.reason).toBe("error");
    expect(outcome.error).toBeInstanceOf(AgentError);
    expect(outcome.error?.message).toBe("Max retries (3) exceeded: overloaded");
    expect(types(events).at(-1)).toBe("error");
  });

  it("is not retried when the failure would be the same [ER-03, ER-04, ER-07, ET-08]", async () => {
    for (const kind of ["authentication", "billing", "invalid-request", "content-blocked"] as const) {
      const model = scriptedModel([{ error: { kind } }]);
      const { outcome } = await watch(runnerOf(createAgent({ name: "a", model })).run("go"));
      expect(outcome.reason).toBe("error");
      expect(outcome.error?.failure).toMatchObject({ kind: "model", model: { kind } });
      expect(model.requests).toHaveLength(1);
    }
  });

  it("whose response is longer than anybody may hold ends the run as max-output [ER-08, ET-08]", async () => {
    const model = scriptedModel([{ error: { kind: "max-output-tokens" } }]);
    expect((await runnerOf(createAgent({ name: "a", model })).run("go").outcome).reason).toBe("max-output");
    expect(model.requests).toHaveLength(1);
  });

  it("is waited for at least as long as it asked [ET-09]", async () => {
    const clock = impatientClock();
    const { outcome } = await watch(
      runnerOf(createAgent({ name: "a", model: scriptedModel([limited, "ok"]), limits: { maxRetryDelayMs: 120_000 } }), { clock }).run(
        "go",
      ),
    );
    expect(outcome.reason).toBe("complete");
    expect(Math.max(...clock.waits)).toBeGreaterThanOrEqual(90_000);
  });

  it("is not waited for longer than the limit says: the fallback is asked, or the run ends and says so", async () => {
    const clock = impatientClock();
    const alone = createAgent({ name: "a", model: scriptedModel([limited, "never"]) });
    const { outcome } = await watch(runnerOf(alone, { clock }).run("go"));
    expect(outcome.error?.message).toMatch(/asks to wait 90000 ms, and limits\.maxRetryDelayMs allows 60000 ms/);
    expect(Math.max(0, ...clock.waits)).toBeLessThan(60_000);
    const insisting = alone.with({ onModelError: () => ({ type: "retry" }), model: scriptedModel([limited, "never"]) });
    expect((await runnerOf(insisting).run("go").outcome).reason).toBe("error");
    const { first, second, models } = twoModels([limited, "never"], ["helped"]);
    const falling = createAgent({ name: "a", model: "a/first", fallbackModel: "b/second" });
    expect((await runnerOf(falling, { models }).run("go").outcome).text).toBe("helped");
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
    const patient = createAgent({ name: "a", model: scriptedModel([limited, "ok"]), limits: { maxRetryDelayMs: 90_000 } });
    expect((await runnerOf(patient).run("go").outcome).text).toBe("ok");
  });

  it("whose response can't be read is asked again within its retries, though nobody else is told to try again [ET-07, ER-09]", async () => {
    const unreadable = { error: { kind: "invalid-response" as const, message: "half a JSON", progress: "begun" as const } };
    const { events, outcome } = await watch(
      runnerOf(createAgent({ name: "a", model: scriptedModel([unreadable, unreadable, "ok"]) })).run("go"),
    );
    expect([outcome.reason, outcome.text]).toEqual(["complete", "ok"]);
    expect(ofType(events, "retry").map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, "invalid-response"],
      [2, "invalid-response"],
    ]);
    const model = scriptedModel(Array.from({ length: 9 }, () => unreadable));
    const ended = await runnerOf(createAgent({ name: "a", model, limits: { maxRetries: 2 } })).run("go").outcome;
    expect([ended.error?.message, model.requests.length]).toEqual(["Max retries (2) exceeded: half a JSON", 3]);
    expect(ended.error?.failure).toMatchObject({ model: { kind: "invalid-response" } });
    const { second, models } = twoModels([unreadable, unreadable], ["helped"]);
    const falling = createAgent({ name: "a", model: "a/first", fallbackModel: "b/second", limits: { maxRetries: 1 } });
    expect((await runnerOf(falling, { models }).run("go").outcome).text).toBe("helped");
    expect(second.requests).toHaveLength(1);
  });

  it("drops the text of the attempt that failed [EV-21]", async () => {
    const model = scriptedModel([{ text: "half an ans", ...overloaded }, "whole"]);
    const { events, outcome } = await watch(runnerOf(createAgent({ name: "a", model })).run("go"));
    expect(outcome.text).toBe("whole");
    expect(ofType(events, "message").filter(({ message }) => message.role === "assistant")).toHaveLength(1);
    const retry = types(events).indexOf("retry");
    expect(types(events).slice(0, retry)).toContain("text-delta");
  });

  it("gives way to the fallback model with a fresh count of retries [AG-05, RN-12]", async () => {
    const { first, second, models } = twoModels([overloaded, overloaded], [overloaded, "from the fallback"]);
    const agent = createAgent({ name: "a", model: "a/first", fallbackModel: "b/second", limits: { maxRetries: 1 } });
    const { events, outcome } = await watch(runnerOf(agent, { models }).run("go"));
    expect(outcome.text).toBe("from the fallback");
    expect([first.requests.length, second.requests.length]).toEqual([2, 2]);
    expect(ofType(events, "model-switch")).toMatchObject([{ from: "a/first", to: "b/second", reason: "server-error" }]);
  });

  it("ends the run when the fallback fails too [AG-05, RN-12]", async () => {
    const { models } = twoModels([overloaded], [overloaded]);
    const agent = createAgent({ name: "a", model: "a/first", fallbackModel: "b/second", limits: { maxRetries: 0 } });
    expect((await runnerOf(agent, { models }).run("go").outcome).reason).toBe("error");
  });

  it("never makes more calls than the run may make", async () => {
    const model = scriptedModel(Array.from({ length: 20 }, () => overloaded));
    const agent = createAgent({ name: "a", model, limits: { maxRetries: 100, maxModelCalls: 7 } });
    expect((await runnerOf(agent).run("go").outcome).reason).toBe("max-turns");
    expect(model.requests).toHaveLength(7);
  });
});

describe("onModelError", () => {
  it("is told the session, the model, the retries, the cost and the metadata [AG-28, RC-01, RC-02, RC-03, RC-04, RC-05]", async () => {
    const seen: unknown[] = [];
    const agent = createAgent({
      name: "a",
      model: scriptedModel([overloaded, overloaded, "ok"]),
      onModelError: (failure, context) => {
        seen.push([failure.kind, context.session, context.model, context.retryCount, context.cumulativeCost, context.metadata]);
        return { type: "retry" };
      },
    });
    await runnerOf(agent).run("go", { session: "s1", metadata: { user: "ada" } }).outcome;
    expect(seen).toEqual([
      ["server-error", "s1", "scripted/model", 0, "0", { user: "ada" }],
      ["server-error", "s1", "scripted/model", 1, "0", { user: "ada" }],
    ]);
  });

  it("is told what the session cost in all its runs so far, the failed call not included [RC-04]", async () => {
    const price = { input: "1000", output: "1000", asOf: "2026-01-01" };
    const usage = { inputTokens: 1_000, outputTokens: 500 };
    const seen: unknown[] = [];
    const responses: readonly ScriptedTurn[] = [{ text: "one", usage }, { toolCalls: [{ name: "look" }], usage }, overloaded, "three"];
    const agent = createAgent({
      name: "a",
      model: scriptedModel(responses, { price }),
      tools: [recordingTool("look", { effect: "read" })],
      onModelError: (_failure, { cumulativeCost }) => void seen.push(cumulativeCost),
    });
    const runner = runnerOf(agent);
    expect((await runner.run("go", { session: "s" }).outcome).cost).toBe("1.5");
    await runner.run("go on", { session: "s" }).outcome;
    expect(seen).toEqual(["3"]);
  });

  it("may retry what would not be retried, at most as often as retries are allowed [RC-06, RN-11]", async () => {
    const refused: ScriptedTurn = { error: { kind: "invalid-request" } };
    const model = scriptedModel([refused, refused, "ok", refused, refused, refused, "never"]);
    const agent = createAgent({ name: "a", model, onModelError: () => ({ type: "retry" }), limits: { maxRetries: 2 } });
    const runner = runnerOf(agent);
    const { events, outcome } = await watch(runner.run("go"));
    expect(outcome.text).toBe("ok");
    expect(ofType(events, "retry").map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, "invalid-request"],
      [2, "invalid-request"],
    ]);
    const failed = await runner.run("go").outcome;
    expect(failed.error?.message).toMatch(/^Max retries \(2\) exceeded/);
    expect(model.requests).toHaveLength(6);
  });

  it.each([{ type: "continue" }, { type: "switch-model" }, { type: "abort" }, "retry"])(
    "that returns %j ends the run as a panic that says what it may return [RN-11, RN-13]",
    async (response) => {
      const model = scriptedModel([overloaded, "never"]);
      const agent = createAgent({ name: "a", model, onModelError: () => response as never });
      const { error } = await runnerOf(agent).run("go").outcome;
      expect(error?.failure).toMatchObject({ kind: "panic", callback: "onModelError" });
      expect(error?.message).toContain(`returned ${JSON.stringify(response)}`);
      expect(model.requests).toHaveLength(1);
    },
  );

  const FAILURES: { readonly [K in ModelFailure["kind"]]: "asked" | "interrupted" } = {
    "authentication": "asked",
    "billing": "asked",
    "rate-limit": "asked",
    "server-error": "asked",
    "invalid-request": "asked",
    "invalid-response": "asked",
    "max-output-tokens": "asked",
    "context-overflow": "asked",
    "content-blocked": "asked",
    "cancelled": "interrupted",
    "other": "asked",
  };

  it.each(Object.entries(FAILURES).flatMap(([kind, what]) => (what === "asked" ? [kind as ModelFailure["kind"]] : [])))(
    "is asked about a failure of kind %s [AG-28]",
    async (kind) => {
      const agent = createAgent({
        name: "a",
        model: scriptedModel([{ error: { kind } as never }, "ok"]),
        onModelError: (failure) => (failure.kind === kind ? { type: "retry" } : undefined),
      });
      expect((await runnerOf(agent).run("go").outcome).text).toBe("ok");
    },
  );

  it("that leaves a response over the token limit to the runner has the run end so [AG-28, ER-08]", async () => {
    const seen: string[] = [];
    const agent = createAgent({
      name: "a",
      model: scriptedModel([{ error: { kind: "max-output-tokens" } as never }]),
      onModelError: ({ kind }) => void seen.push(kind),
    });
    expect((await runnerOf(agent).run("go").outcome).reason).toBe("max-output");
    expect(seen).toEqual(["max-output-tokens"]);
  });

  it("may end the run with its own message [RC-07, RN-11]", async () => {
    const model = scriptedModel([overloaded, "never"]);
    const agent = createAgent({ name: "a", model, onModelError: () => ({ type: "abort", message: "not today" }) });
    const outcome = await runnerOf(agent).run("go").outcome;
    expect(outcome.error?.message).toBe("not today");
    expect(model.requests).toHaveLength(1);
  });

  it("may switch the model [RC-08, RN-11]", async () => {
    const { models, second } = twoModels([overloaded], ["switched"]);
    const agent = createAgent({ name: "a", model: "a/first", onModelError: () => ({ type: "switch-model", model: "b/second" }) });
    expect((await runnerOf(agent, { models }).run("go").outcome).text).toBe("switched");
    expect(second.requests).toHaveLength(1);
  });

  it("that throws ends the run as a panic, with a terminal event [ET-06]", async () => {
    const agent = createAgent({
      name: "a",
      model: scriptedModel([overloaded]),
      onModelError: () => {
        throw new Error("boom");
      },
    });
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.error?.failure.kind).toBe("panic");
    expect(outcome.error?.message).toContain("boom");
    expect(types(events).at(-1)).toBe("error");
  });
});

describe("the model of a run", () => {
  const call = { toolCalls: [{ name: "look" }] };

  it("is the agent's, unless the run names another [AG-04, RN-07]", async () => {
    const { first, second, models } = twoModels(["one"], ["two"]);
    const runner = runnerOf(createAgent({ name: "a", model: "a/first" }), { models });
    expect((await runner.run("go").outcome).text).toBe("one");
    expect((await runner.run("go", { model: "b/second" }).outcome).text).toBe("two");
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
  });

  it("changes with setModel from the next turn on, and keeps the conversation [RN-03]", async () => {
    const { second, models } = twoModels([call], ["from the second"]);
    let run: ReturnType<ReturnType<typeof runnerOf>["run"]> | undefined;
    const look = recordingTool("look", { effect: "read" });
    const original = look.execute.bind(look);
    look.execute = async (input, toolCall) => {
      await run?.setModel("b/second");
      return original(input, toolCall);
    };
    run = runnerOf(createAgent({ name: "a", model: "a/first", tools: [look] }), { models }).run("go");
    const { events, outcome } = await watch(run);
    expect(outcome.text).toBe("from the second");
    expect(second.requests[0]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool"]);
    expect(ofType(events, "turn-start").map((turn) => turn.model)).toEqual(["a/first", "b/second"]);
  });

  it("that does not exist is refused by setModel, and the run goes on [RN-03]", async () => {
    const { models } = twoModels(["one"], []);
    const run = runnerOf(createAgent({ name: "a", model: "a/first" }), { models }).run("go");
    await expect(run.setModel("c/third")).rejects.toThrow(/there is no provider "c"/);
    expect((await run.outcome).text).toBe("one");
  });

  it("is checked when the runner is made: unknown models, prices under a money limit [AG-02, AG-17]", () => {
    const { models } = twoModels([], []);
    const make =
      (options: Partial<Parameters<typeof createAgent>[0]>, runnerOptions: RunnerOptions = { models }) =>
      () =>
        createRunner({ ...runnerOptions, agent: createAgent({ name: "a", model: "a/first", ...options }) });
    expect(make({ model: "c/x" })).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ kind: "invalid-option", option: "model" }) }),
    );
    expect(make({ fallbackModel: "c/x" })).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ option: "fallbackModel" }) }),
    );
    expect(make({ limits: { maxCost: "1" } })).toThrow(/price of a\/first is unknown/);
    expect(make({})).not.toThrow();
  });
});
