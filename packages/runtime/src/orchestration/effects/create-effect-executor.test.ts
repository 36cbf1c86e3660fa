import { DirectiveError, type Effect, type EffectContext, type RunId, type SessionId } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createDirectivePayloads } from "../../agent/features/effects/directive-payloads.ts";
import { createEffectExecutor, noOpExecutor } from "./create-effect-executor.ts";
import { executeEffects } from "./execute-effects.ts";

const never = new AbortController().signal;
const context: EffectContext = {
  runId: "r_1" as RunId,
  session: "s" as SessionId,
  agent: "a",
  idempotencyKey: "e_1",
  attempt: 1,
  signal: never,
  run: {} as EffectContext["run"],
};
const log = (message: string): Effect => ({ type: "log", level: "info", message });
const directive = (given: Extract<Effect, { type: "directive" }>["directive"]): Effect => ({ type: "directive", directive: given });

describe("an executor of effects", () => {
  it("gives each to the handler of its type, with its context, and hands back what that returns, or nothing [DI-13, EF-02]", async () => {
    const seen: unknown[] = [];
    const executor = createEffectExecutor({
      effects: { log: ({ message }, { idempotencyKey }) => void seen.push([message, idempotencyKey]) },
      directives: { "run-instruction": ({ input }) => ({ echoed: input }), "stop": async ({ reason }) => void seen.push(reason) },
      customEffects: { ping: (payload) => [payload, "pong"] },
    });
    expect(await executor.execute(log("hello"), context)).toBeUndefined();
    expect(await executor.execute(directive({ type: "run-instruction", instruction: "i", input: 7 }), context)).toEqual({ echoed: 7 });
    expect(await executor.execute(directive({ type: "stop", reason: "why" }), context)).toBeUndefined();
    expect(await executor.execute({ type: "custom", name: "ping", payload: 1 }, context)).toEqual([1, "pong"]);
    expect(seen).toEqual([["hello", "e_1"], "why"]);
  });

  it("refuses what it has no handler for, and says so beforehand [ER-11, EF-02]", async () => {
    const executor = createEffectExecutor({ effects: { log: () => {} } });
    expect(executor.supports(log("a"))).toBe(true);
    for (const effect of [
      { type: "progress", message: "a" },
      { type: "custom", name: "toString", payload: null },
      directive({ type: "cron", expression: "* * * * *", action: "a" }),
      { type: "other", raw: {} },
    ] satisfies Effect[]) {
      expect(executor.supports(effect)).toBe(false);
      const error = await executor.execute(effect, context).catch((thrown: unknown) => thrown);
      expect(DirectiveError.is(error, "unsupported") && error.failure.directive).toBe(effect.type === "directive" ? "cron" : effect.type);
    }
    const lenient = createEffectExecutor({ unsupported: "ignore" });
    expect(await lenient.execute(log("a"), context)).toBeUndefined();
  });

  it("makes whatever a handler throws a DirectiveError that says what failed and why [ER-11]", async () => {
    const executor = createEffectExecutor({
      effects: {
        log: () => {
          throw new TypeError("disk full");
        },
        progress: () => Promise.reject("odd"),
        metric: () => {
          throw new DirectiveError({ kind: "other", message: "its own" });
        },
      },
    });
    const failed = await executor.execute(log("a"), context).catch((error: unknown) => error);
    expect(DirectiveError.is(failed, "execution-failed") && failed.failure).toEqual({
      kind: "execution-failed",
      directive: "log",
      message: "disk full",
    });
    await expect(executor.execute({ type: "progress", message: "a" }, context)).rejects.toMatchObject({ failure: { message: "odd" } });
    await expect(executor.execute({ type: "metric", name: "m", value: 1 }, context)).rejects.toMatchObject({ failure: { kind: "other" } });
  });

  it("reads the payload of a custom directive by its codec, and refuses one that nobody registered [DI-11, ER-11]", async () => {
    const payloads = createDirectivePayloads()
      .register("wake", { encode: (date: Date) => date.toISOString(), decode: (json) => new Date(String(json)) })
      .register("idle", { type: "object" });
    const executor = createEffectExecutor({ payloads, customDirectives: { wake: (date) => date.getTime() } });
    expect(await executor.execute(directive(payloads.directive("wake", new Date(5))), context)).toBe(5);
    await expect(executor.execute(directive({ type: "custom", customType: "nobody", payload: 1 }), context)).rejects.toMatchObject({
      failure: { kind: "unknown-payload", customType: "nobody" },
    });
    await expect(executor.execute(directive({ type: "custom", customType: "idle", payload: {} }), context)).rejects.toMatchObject({
      failure: { kind: "unsupported", directive: "idle" },
    });
    const raw = createEffectExecutor({ directives: { custom: ({ customType }) => customType } });
    expect(await raw.execute(directive({ type: "custom", customType: "any", payload: 1 }), context)).toBe("any");
  });

  it("gives up on a handler that takes too long, and fires its signal", async () => {
    let fire = (): void => {};
    let signal: AbortSignal | undefined;
    const begun = Promise.withResolvers<void>();
    const executor = createEffectExecutor({
      timeoutMs: 100,
      clock: { now: () => 0, after: (ms, run) => ((fire = run), expect(ms).toBe(100), () => {}) },
      effects: {
        log: (_effect, given) => {
          signal = given.signal;
          begun.resolve();
          return new Promise(() => {});
        },
      },
    });
    const working = executor.execute(log("a"), context);
    await begun.promise;
    fire();
    await expect(working).rejects.toMatchObject({
      failure: { kind: "execution-failed", message: expect.stringContaining("longer than 100 ms") },
    });
    expect(signal?.aborted).toBe(true);
  });

  it("does nothing and routes nothing back where it is the one that does nothing [DI-13]", async () => {
    expect(await noOpExecutor.execute(directive({ type: "run-instruction", instruction: "i", input: 1 }), context)).toBeUndefined();
    expect(noOpExecutor.supports(log("a"))).toBe(true);
  });
});

describe("whoever called an operator", () => {
  it("has its effects executed in order, best effort, under the ids they were declared with [LA-10, EF-02]", async () => {
    const seen: string[] = [];
    const executor = createEffectExecutor({
      effects: {
        log: ({ message }, { idempotencyKey }) => {
          seen.push(`${message} ${idempotencyKey}`);
          if (message === "second") throw new Error("not this one");
        },
      },
    });
    const meta = { seq: 1, at: 0 };
    const results = await executeEffects(
      executor,
      [
        { ...log("first"), meta: { id: "e_a", ...meta } },
        { ...log("done already"), meta: { id: "e_b", ...meta, outcome: "done" } },
        log("second"),
        { type: "progress", message: "unknown here" },
        log("third"),
      ],
      { runId: context.runId, session: context.session, agent: "a", signal: never, run: context.run },
    );
    expect(seen).toEqual(["first e_a", "second r_1/effect/2", "third r_1/effect/4"]);
    expect(results.map((result) => (result.ok ? "ok" : result.error.failure.kind))).toEqual([
      "ok",
      "execution-failed",
      "unsupported",
      "ok",
    ]);
  });
});
