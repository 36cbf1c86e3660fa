import { ModelError } from "@keelson/protocol";
import fc from "fast-check";
import { createAgent, createRunner } from "keelson";
import { createRateLimiter, infer, type RateLimiter, type RateLimiterOptions, type RateLimitPermit } from "keelson/providers";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { startModelServer } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { type ManualClock, manualClock } from "./manual-clock.ts";

function limiterOf(options: RateLimiterOptions): {
  limiter: RateLimiter;
  clock: ManualClock;
  ask(tokens?: number): Promise<RateLimitPermit>;
  through: number[];
} {
  const clock = manualClock();
  const limiter = createRateLimiter({ ...options, clock });
  const through: number[] = [];
  let asked = 0;
  return {
    limiter,
    clock,
    through,
    async ask(tokens = 0) {
      const number = asked++;
      const permit = await limiter.acquire({ tokens });
      through.push(number);
      return permit;
    },
  };
}

describe("a rate limiter", () => {
  it("lets as many through as a minute grants, the others when there is room again, in their order", async () => {
    const { ask, clock, through, limiter } = limiterOf({ requestsPerMinute: 2 });
    for (let at = 0; at < 4; at += 1) void ask();
    await clock.advance(0);
    expect([through, limiter.waiting]).toEqual([[0, 1], 2]);
    await clock.advance(29_999);
    expect(through).toEqual([0, 1]);
    await clock.advance(1);
    expect(through).toEqual([0, 1, 2]);
    await clock.advance(30_000);
    expect(through).toEqual([0, 1, 2, 3]);
  });

  it("counts tokens too, and lets a request through that is larger than a minute's when all of it is there", async () => {
    const { ask, clock, through } = limiterOf({ tokensPerMinute: 1000 });
    void ask(600);
    void ask(600);
    void ask(5000);
    await clock.advance(0);
    expect(through).toEqual([0]);
    await clock.advance(12_000);
    expect(through).toEqual([0, 1]);
    await clock.advance(60_000);
    expect(through).toEqual([0, 1, 2]);
  });

  it("is paused for no longer than it may be, however long a vendor asks: then he is asked anew", async () => {
    const { ask, clock, through, limiter } = limiterOf({});
    limiter.pause(86_400_000);
    void ask();
    await clock.advance(59_999);
    expect(through).toEqual([]);
    await clock.advance(1);
    expect(through).toEqual([0]);
    const patient = limiterOf({ maxPauseMs: 90_000 });
    patient.limiter.pause(86_400_000);
    void patient.ask();
    await patient.clock.advance(89_999);
    expect(patient.through).toEqual([]);
    await patient.clock.advance(1);
    expect(patient.through).toEqual([0]);
  });

  it("holds everybody back while it is paused, and bounds what is under way", async () => {
    const { ask, clock, through, limiter } = limiterOf({ maxConcurrent: 2 });
    limiter.pause(5000);
    const permits = [ask(), ask(), ask()];
    await clock.advance(4999);
    expect(through).toEqual([]);
    await clock.advance(1);
    expect(through).toEqual([0, 1]);
    const first = await permits[0];
    first?.release();
    first?.release();
    await clock.advance(0);
    expect(through).toEqual([0, 1, 2]);
  });

  it("forgets who gave up", async () => {
    const clock = manualClock();
    const limiter = createRateLimiter({ maxConcurrent: 1, clock });
    const held = await limiter.acquire();
    const controller = new AbortController();
    const given = limiter.acquire({ signal: controller.signal });
    const next = limiter.acquire();
    controller.abort();
    await expect(given).rejects.toMatchObject({ failure: { kind: "cancelled" } });
    await expect(limiter.acquire({ signal: controller.signal })).rejects.toSatisfy((error) => ModelError.is(error, "cancelled"));
    held.release();
    await expect(next).resolves.toBeDefined();
    expect(limiter.waiting).toBe(0);
  });

  it("refuses limits that let nobody through", () => {
    for (const options of [{ requestsPerMinute: 0 }, { tokensPerMinute: -1 }, { maxConcurrent: Number.NaN }])
      expect(() => createRateLimiter(options)).toThrow(RangeError);
  });

  it("never lets more through in any minute than twice its grant, whoever asks when", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20_000), { maxLength: 60 }), fc.integer({ min: 1, max: 10 }), async (gaps, perMinute) => {
        const clock = manualClock();
        const limiter = createRateLimiter({ requestsPerMinute: perMinute, clock });
        const times: number[] = [];
        for (const gap of gaps) {
          void limiter.acquire().then(() => times.push(clock.now()));
          await clock.advance(gap);
        }
        await clock.advance(60_000 * (gaps.length + 1));
        expect(times).toHaveLength(gaps.length);
        // What had filled up before, and what fills up meanwhile.
        for (const start of times)
          expect(times.filter((time) => time >= start && time < start + 60_000).length).toBeLessThanOrEqual(2 * perMinute);
      }),
      { numRuns: 50 },
    );
  });
});

describe("providers that share a limiter", () => {
  it("send no more at once than it allows, give their permits back however responses end, and wait together after a 429", async () => {
    const clock = manualClock();
    const rateLimiter = createRateLimiter({ maxConcurrent: 1, clock });
    let open = 0;
    let most = 0;
    await using server = await startModelServer((request) => {
      open += 1;
      most = Math.max(most, open);
      queueMicrotask(() => (open -= 1));
      if (request.index === 1) return { text: "cut off", misbehave: { resetAfterBytes: 40 } };
      return request.index === 2 ? { status: 429, error: { message: "slow down" }, headers: { "retry-after": "7" } } : { text: "ok" };
    });
    const options = { apiKey: "test", baseUrl: server.openAiUrl, rateLimiter };
    const [one, two] = [createOpenAiChatProvider(options), createOpenAiChatProvider(options)];
    for (let at = 0; at < 3; at += 1) expect(await one.listModels?.()).toEqual([]);
    const request = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] } as const;
    const responses = await Promise.allSettled([infer(one, request), infer(two, request), infer(one, request)]);
    expect(responses.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(most).toBe(1);
    const late = infer(two, request);
    await clock.advance(6999);
    expect(server.requests).toHaveLength(3);
    await clock.advance(1);
    expect((await late).content).toMatchObject([{ text: "ok" }]);
  });

  it("serve concurrent runs of one key one after another", async () => {
    const rateLimiter = createRateLimiter({ maxConcurrent: 1 });
    await using server = await startModelServer(() => ({ text: "done" }));
    const provider = createOpenAiChatProvider({ apiKey: "test", baseUrl: server.openAiUrl, rateLimiter, defaultModel: "m" });
    const runs = Array.from({ length: 5 }, () => createRunner({ agent: createAgent({ name: "a", model: provider }) }).run("go").outcome);
    expect((await Promise.all(runs)).map(({ text }) => text)).toEqual(Array.from({ length: 5 }, () => "done"));
    expect(rateLimiter.waiting).toBe(0);
  });
});
