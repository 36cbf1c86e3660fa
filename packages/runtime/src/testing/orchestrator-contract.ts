import {
  ModelError,
  OperatorError,
  OrchestratorError,
  ZERO_USD,
  type DispatchResult,
  type Operator,
  type OperatorInput,
  type OperatorOutput,
  type Orchestrator,
  type RunId,
  type StepResult,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";

/** Creates an orchestrator that knows these operators. */
export type CreateOrchestrator = (operators: { readonly [id: string]: Operator }) => Orchestrator | Promise<Orchestrator>;

const input = (text: string, fields: Partial<OperatorInput> = {}): OperatorInput => ({
  message: [{ type: "text", text }],
  trigger: "task",
  metadata: {},
  ...fields,
});

function output(text: string): OperatorOutput {
  return {
    message: [{ type: "text", text }],
    exitReason: { type: "complete" },
    metadata: { tokensIn: 1, tokensOut: 2, cost: ZERO_USD, turnsUsed: 1, subDispatches: [], durationMs: 0, untracked: ["duration"] },
    effects: [{ type: "log", level: "info", message: "done" }],
  };
}

const echo: Operator = { execute: async ({ message, metadata }) => ({ ...output(`${textOf(message)} ${JSON.stringify(metadata)}`) }) };
const failing = (error: unknown): Operator => ({ execute: () => Promise.reject(error) });

/** The tests that every `Orchestrator` must pass. */
export function describeOrchestrator(name: string, create: CreateOrchestrator): void {
  describe(`${name} keeps the Orchestrator contract`, () => {
    it("dispatches to an operator by its id, and gives its output whole [OR-01, OR-05, OP-01]", async () => {
      const orchestrator = await create({ echo });
      expect(await orchestrator.dispatch("echo", input("hello", { metadata: { a: [1, null] } }))).toEqual(output('hello {"a":[1,null]}'));
    });

    it("starts once under one id, however often it is asked, and lets many attach [OR-01]", async () => {
      let executions = 0;
      const orchestrator = await create({ count: { execute: async () => output(`${++executions}`) } });
      const id = "r_one" as RunId;
      expect([await orchestrator.start("count", input("a"), { id }), await orchestrator.start("count", input("b"), { id })]).toEqual([
        id,
        id,
      ]);
      const outputs = await Promise.all([orchestrator.attach(id), orchestrator.attach(id)]);
      expect(outputs.map(({ message }) => textOf(message))).toEqual(["1", "1"]);
      await orchestrator.start("count", input("c"), { id });
      expect(textOf((await orchestrator.attach(id)).message)).toBe("1");
      const [first, second] = [await orchestrator.start("count", input("d")), await orchestrator.start("count", input("e"))];
      expect(first).not.toBe(second);
    });

    it("rejects for operators and dispatches that it does not know, and says what there is [OR-09]", async () => {
      const orchestrator = await create({ echo });
      expect(await failureOf(orchestrator.dispatch("ehco", input("a")))).toMatchObject({
        kind: "operator-not-found",
        operator: "ehco",
        available: ["echo"],
      });
      const unknown = "r_unknown" as RunId;
      for (const act of [
        orchestrator.attach(unknown),
        orchestrator.cancel(unknown, "stop"),
        orchestrator.signal(unknown, { kind: "x", payload: null }),
        orchestrator.query(unknown, { name: "status", params: {} }),
      ]) {
        expect(await failureOf(act)).toMatchObject({ kind: "workflow-not-found", workflow: "r_unknown" });
      }
    });

    it("gives many results in the order of the tasks; each fails alone, as data [OR-02]", async () => {
      const orchestrator = await create({
        echo,
        broken: failing(new OperatorError({ kind: "retryable", message: "busy", retryAfterMs: 5 })),
      });
      const results = await orchestrator.dispatchMany([
        { operator: "echo", input: input("one") },
        { operator: "broken", input: input("two") },
        { operator: "none", input: input("three") },
        { operator: "echo", input: input("four") },
      ]);
      expect(
        results.map((result: DispatchResult) =>
          result.ok ? textOf(result.output.message) : (result.error.failure as { readonly kind: string }).kind,
        ),
      ).toEqual(["one {}", "operator-error", "operator-not-found", "four {}"]);
      expect(JSON.parse(JSON.stringify(results))).toEqual(results);
      expect(await orchestrator.dispatchMany([])).toEqual([]);
    });

    it("runs many at once: each may wait for another [OR-02]", async () => {
      let arrived = 0;
      let release = (): void => {};
      const all = new Promise<void>((resolve) => (release = resolve));
      const barrier: Operator = {
        async execute() {
          if (++arrived === 3) release();
          await all;
          return output("met");
        },
      };
      const orchestrator = await create({ barrier });
      const results = await orchestrator.dispatchMany([1, 2, 3].map((n) => ({ operator: "barrier", input: input(`${n}`) })));
      expect(results.every((result) => result.ok)).toBe(true);
    });

    it("wraps what an operator throws: callers see an orchestrator's error, never a model's or a tool's [OR-09, TE-01, OP-14]", async () => {
      const orchestrator = await create({
        operator: failing(new OperatorError({ kind: "non-retryable", message: "no" })),
        model: failing(new ModelError({ kind: "rate-limit", message: "slow down", retryAfterMs: 9 })),
        other: failing(new TypeError("undefined is not a function")),
      });
      expect(await failureOf(orchestrator.dispatch("operator", input("a")))).toMatchObject({
        kind: "operator-error",
        operator: { kind: "non-retryable", message: "no" },
      });
      expect(await failureOf(orchestrator.dispatch("model", input("a")))).toMatchObject({
        kind: "operator-error",
        operator: { kind: "retryable", retryAfterMs: 9 },
      });
      expect(await failureOf(orchestrator.dispatch("other", input("a")))).toMatchObject({
        kind: "operator-error",
        operator: { kind: "other" },
      });
    });

    it("takes a signal at once, while its target is busy, and hands it over when that looks [OR-03, OR-06]", async () => {
      const gate = createGate();
      const orchestrator = await create({
        listener: {
          async execute(_input, context) {
            await gate.passed;
            const entries = await context.inbox("start");
            return output(entries.map((entry) => (entry.type === "signal" ? JSON.stringify(entry.signal) : entry.type)).join(" "));
          },
        },
      });
      const id = await orchestrator.start("listener", input("a"));
      await orchestrator.signal(id, { kind: "order", payload: { n: 1 } });
      await orchestrator.signal(id, { kind: "order", payload: { n: 2 } });
      gate.open();
      expect(textOf((await orchestrator.attach(id)).message)).toBe('{"kind":"order","payload":{"n":1}} {"kind":"order","payload":{"n":2}}');
      expect(await failureOf(orchestrator.signal(id, { kind: "late", payload: null }))).toMatchObject({ kind: "signal-failed" });
    });

    it("answers a query without disturbing what it asks about [OR-04]", async () => {
      const gate = createGate();
      const orchestrator = await create({ slow: { execute: async () => (await gate.passed, output("slept")) } });
      const id = await orchestrator.start("slow", input("a"));
      expect(await orchestrator.query(id, { name: "status", params: {} })).toMatchObject({ status: "working", operator: "slow" });
      expect(await orchestrator.query(id, { name: "status", params: {} })).toMatchObject({ status: "working" });
      gate.open();
      expect(textOf((await orchestrator.attach(id)).message)).toBe("slept");
      expect(await orchestrator.query(id, { name: "status", params: {} })).toMatchObject({ status: "done" });
      expect(await failureOf(orchestrator.query(id, { name: "no-such-query", params: {} }))).toMatchObject({ kind: "other" });
    });

    it("aborts a dispatch: its signal fires, and whoever attached learns that it was cancelled", async () => {
      const orchestrator = await create({
        endless: {
          async execute(_input, { signal }) {
            await aborted(signal);
            throw new Error("interrupted");
          },
        },
      });
      const id = await orchestrator.start("endless", input("a"));
      const attached = failureOf(orchestrator.attach(id));
      await orchestrator.cancel(id, "abort");
      expect(await attached).toMatchObject({ kind: "cancelled" });
      await orchestrator.cancel(id, "abort");
    });

    it("asks a dispatch to stop, which goes to its inbox and lets it finish", async () => {
      const orchestrator = await create({
        polite: {
          async execute(_input, context) {
            await context.select("until told", [{ type: "inbox" }]);
            const [entry] = await context.inbox("told");
            return output(`${entry?.type} ${context.signal.aborted}`);
          },
        },
      });
      const id = await orchestrator.start("polite", input("a"));
      await orchestrator.cancel(id, "stop");
      expect(textOf((await orchestrator.attach(id)).message)).toBe("stop false");
    });

    it("gives operators steps that happen once, and children that are dispatches of their own", async () => {
      let acts = 0;
      const orchestrator = await create({
        echo,
        parent: {
          async execute(_input, context) {
            const results: StepResult<number>[] = [];
            for (let n = 0; n < 2; n++) results.push(await context.step("act", async () => ++acts));
            const child = await context.startChild({ key: "child", operator: "echo", input: input("from the parent") });
            return output(`${results.map((result) => (result.ok ? result.value : "failed")).join(" ")} ${textOf(child.message)}`);
          },
        },
      });
      expect(textOf((await orchestrator.dispatch("parent", input("a"))).message)).toBe("1 1 from the parent {}");
    });
  });
}

function textOf(message: OperatorOutput["message"]): string {
  return message.map((part) => (part.type === "text" ? part.text : "")).join("");
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(OrchestratorError.is(error), `an OrchestratorError, not ${String(error)}`).toBe(true);
  return (error as OrchestratorError).failure;
}

function createGate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
