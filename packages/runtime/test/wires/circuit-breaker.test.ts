import { type InferRequest, ModelError, type Provider, textMessage } from "@keelson/protocol";
import { createAgent } from "keelson";
import { CIRCUIT_OPEN, createModelRegistry, infer, withCircuitBreaker } from "keelson/providers";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { type ScriptedTurn, scriptedModel, startModelServer } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, runnerOf, watch } from "../agent/support.ts";
import { manualClock } from "./manual-clock.ts";

const down: ScriptedTurn = { error: { kind: "server-error", message: "down" } };
const request = (model: string): InferRequest => ({ model, messages: [textMessage("user", "hi")] });

async function outcomes(provider: Provider, models: readonly string[]): Promise<(string | undefined)[]> {
  const seen: (string | undefined)[] = [];
  for (const model of models)
    seen.push(
      await infer(provider, request(model)).then(
        () => "ok",
        (error: unknown) => (ModelError.is(error) ? (error.failure.code ?? error.failure.kind) : String(error)),
      ),
    );
  return seen;
}

describe("a circuit breaker", () => {
  it("leaves a model alone after failures in a row, says when to come back, and lets one try then", async () => {
    const clock = manualClock();
    const model = scriptedModel([down, "fine", down, down, down, down, "back", "again"]);
    const provider = withCircuitBreaker(model, { failures: 3, openMs: 10_000, clock });
    expect(await outcomes(provider, ["m", "m", "m", "m", "m", "m"])).toEqual([
      "server-error",
      "ok",
      "server-error",
      "server-error",
      "server-error",
      CIRCUIT_OPEN,
    ]);
    await clock.advance(4000);
    await expect(infer(provider, request("m"))).rejects.toMatchObject({
      retryable: true,
      failure: { kind: "server-error", code: CIRCUIT_OPEN, retryAfterMs: 6000 },
    });
    expect(model.requests).toHaveLength(5);
    await clock.advance(6000);
    expect(await outcomes(provider, ["m", "m"])).toEqual(["server-error", CIRCUIT_OPEN]);
    await clock.advance(10_000);
    expect(await outcomes(provider, ["m", "m"])).toEqual(["ok", "ok"]);
  });

  it("is one for each model, and counts no failure that is the request's own", async () => {
    const refused: ScriptedTurn = { error: { kind: "invalid-request" } };
    const provider = withCircuitBreaker(scriptedModel([down, refused, refused, "other", down]), { failures: 2, clock: manualClock() });
    expect(await outcomes(provider, ["m", "m", "m", "n", "m", "m", "n"])).toEqual([
      "server-error",
      "invalid-request",
      "invalid-request",
      "ok",
      "server-error",
      CIRCUIT_OPEN,
      "invalid-request",
    ]);
  });

  it("lets only one request try at a time, and lets the next try when that one was left", async () => {
    const clock = manualClock();
    const provider = withCircuitBreaker(scriptedModel([down, "slow", "ok"]), { failures: 1, openMs: 1000, clock });
    await outcomes(provider, ["m"]);
    await clock.advance(1000);
    const trying = provider.stream(request("m"))[Symbol.asyncIterator]();
    await trying.next();
    expect(await outcomes(provider, ["m"])).toEqual([CIRCUIT_OPEN]);
    await trying.return?.();
    expect(await outcomes(provider, ["m"])).toEqual(["ok"]);
  });

  it("reads a real stream as fast as without it", async () => {
    await using server = await startModelServer(() => ({ text: Array.from({ length: 500 }, (_, at) => `piece ${at} `) }));
    const provider = withCircuitBreaker(createOpenAiChatProvider({ apiKey: "test", baseUrl: server.openAiUrl }));
    const agent = createAgent({ name: "a", model: "openai/m" });
    const { outcome } = await watch(runnerOf(agent, { models: createModelRegistry({ providers: { openai: provider } }) }).run("go"));
    expect(outcome.text).toHaveLength(Array.from({ length: 500 }, (_, at) => `piece ${at} `).join("").length);
  });
});

describe("a run whose model is left alone", () => {
  it("waits as long as it is told, and goes on", async () => {
    const clock = impatientClock();
    const model = withCircuitBreaker(scriptedModel([down, down, "recovered"]), { failures: 2, openMs: 40_000, clock });
    const { outcome, events } = await watch(runnerOf(createAgent({ name: "a", model }), { clock }).run("go"));
    expect(outcome).toMatchObject({ reason: "complete", text: "recovered" });
    expect(ofType(events, "retry")).toHaveLength(3);
    expect(Math.max(...clock.waits)).toBeGreaterThan(30_000);
  });

  it("goes to its fallback at once", async () => {
    const clock = impatientClock();
    const first = withCircuitBreaker(scriptedModel([down], { name: "one/a" }), { failures: 1, openMs: 1e9, clock });
    const second = scriptedModel(["taken over"], { name: "two/b" });
    const agent = createAgent({ name: "a", model: first, fallbackModel: second, limits: { maxRetries: 3 } });
    const { outcome, events } = await watch(runnerOf(agent, { clock }).run("go"));
    expect(outcome.text).toBe("taken over");
    expect(ofType(events, "retry").map(({ attempt }) => attempt)).toEqual([1, 0]);
  });

  it("ends as circuit-breaker when there is nowhere to go", async () => {
    const clock = impatientClock();
    const failing = scriptedModel([down, down, down, down]);
    const model = withCircuitBreaker(failing, { failures: 1, openMs: 1e9, clock: manualClock() });
    const { outcome } = await watch(runnerOf(createAgent({ name: "a", model }), { clock }).run("go"));
    expect(outcome.reason).toBe("circuit-breaker");
    expect(failing.requests).toHaveLength(1);
  });
});
