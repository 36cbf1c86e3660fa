import {
  OrchestratorError,
  ZERO_USD,
  type Authority,
  type DispatchResult,
  type Effect,
  type ExitReason,
  type JsonValue,
  type Operator,
  type OperatorInput,
  type OperatorOutput,
  type RunId,
} from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLocalOrchestrator } from "../local-orchestrator.ts";
import { chain } from "./chain.ts";
import { delegate } from "./delegate.ts";
import { fanIn } from "./fan-in.ts";
import { fanOut } from "./fan-out.ts";
import { handoff } from "./handoff.ts";
import { intervene } from "./intervene.ts";
import { observe } from "./observe.ts";

function output(text: string, exitReason: ExitReason = { type: "complete" }, effects: readonly Effect[] = []): OperatorOutput {
  return {
    message: [{ type: "text", text }],
    exitReason,
    metadata: { tokensIn: 0, tokensOut: 0, cost: ZERO_USD, turnsUsed: 1, subDispatches: [], durationMs: 0, untracked: [] },
    effects,
  };
}

const textOf = ({ message }: Pick<OperatorInput, "message">): string =>
  message.map((part) => (part.type === "text" ? part.text : "")).join("|");

function set(operators: { readonly [id: string]: (input: OperatorInput) => OperatorOutput | Promise<OperatorOutput> }) {
  const inputs: { [id: string]: OperatorInput[] } = {};
  const wrapped = Object.fromEntries(
    Object.entries(operators).map(([id, run]): [string, Operator] => [
      id,
      {
        async execute(input) {
          (inputs[id] ??= []).push(input);
          return run(input);
        },
      },
    ]),
  );
  return { inputs, orchestrator: createLocalOrchestrator({ operators: wrapped }) };
}

const add = (letter: string) => (input: OperatorInput) => output(`${textOf(input)}${letter}`);
const fail = (message: string) => (): never => {
  throw new Error(message);
};

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return OrchestratorError.is(error) ? error.failure : error;
}

describe("chain", () => {
  it("tells each operator what the one before it said; a session stays with the first", async () => {
    const { orchestrator, inputs } = set({ a: add("a"), b: add("b"), c: add("c") });
    const result = await chain(orchestrator, ["a", "b", "c"], {
      message: [{ type: "text", text: "0" }],
      trigger: "task",
      metadata: { of: "mine" },
      session: "s" as never,
    });
    expect(result.ok).toBe(true);
    expect(result.outputs.map(textOf)).toEqual(["0a", "0ab", "0abc"]);
    expect(inputs["c"]).toMatchObject([{ message: [{ text: "0ab" }], metadata: { of: "mine" } }]);
    expect([inputs["a"]?.[0]?.session, inputs["b"]?.[0]?.session]).toEqual(["s", undefined]);
    expect(await chain(orchestrator, [], "nothing to do")).toEqual({ ok: true, outputs: [] });
  });

  it("breaks off behind an operator that ended without an output", async () => {
    const { orchestrator, inputs } = set({ a: () => output("", { type: "no-action" }), b: add("b") });
    expect(await chain(orchestrator, ["a", "b"], "go")).toMatchObject({ ok: false, outputs: [{ exitReason: { type: "no-action" } }] });
    expect(inputs["b"]).toBeUndefined();
  });

  it("ends with the first that fails, with what was done and why", async () => {
    const { orchestrator, inputs } = set({ a: add("a"), b: fail("b broke"), c: add("c") });
    const result = await chain(orchestrator, ["a", "b", "c"], "0");
    expect(result).toMatchObject({ ok: false, error: { failure: { kind: "operator-error", message: "b broke" } } });
    expect(result.outputs.map(textOf)).toEqual(["0a"]);
    expect(inputs["c"]).toBeUndefined();
  });

  it("takes an early end for no success: nobody is told half a result as if it were whole", async () => {
    const { orchestrator, inputs } = set({ a: () => output("half", { type: "max-turns" }), b: add("b") });
    const result = await chain(orchestrator, ["a", "b"], "0");
    expect(result).toMatchObject({ ok: false, outputs: [{ exitReason: { type: "max-turns" } }] });
    expect([result.error, inputs["b"]]).toEqual([undefined, undefined]);
  });

  it("stops where it is cancelled", async () => {
    const controller = new AbortController();
    const { orchestrator, inputs } = set({ a: (input) => (controller.abort("enough"), add("a")(input)), b: add("b") });
    const result = await chain(orchestrator, ["a", "b"], "0", { signal: controller.signal });
    expect(result.ok).toBe(false);
    expect(result.error?.failure).toMatchObject({ kind: "cancelled" });
    expect(inputs["b"]).toBeUndefined();
  });

  it("goes on with what was done when it is begun again under its id", async () => {
    let broken = true;
    const { orchestrator, inputs } = set({ a: add("a"), b: (input) => (broken ? fail("not yet")() : add("b")(input)) });
    await chain(orchestrator, ["a", "b"], "0", { id: "once" });
    broken = false;
    await chain(orchestrator, ["a", "b"], "0", { id: "once" });
    expect(inputs["a"]).toHaveLength(1);
  });
});

describe("fanOut", () => {
  it("gives results in the order of the tasks, whichever ends first, with no more at once than it may", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (waits, maxParallel) => {
        let working = 0;
        let most = 0;
        const { orchestrator } = set({
          wait: async (input) => {
            most = Math.max(most, ++working);
            for (let left = Number(textOf(input).split(" ")[1]); left > 0; left--) await null;
            working--;
            return output(textOf(input));
          },
        });
        const tasks = waits.map((wait, index) => ({ operator: "wait", task: `${index} ${wait}` }));
        const results = await fanOut(orchestrator, tasks, { maxParallel });
        expect(results.map((result) => result.ok && textOf(result.output))).toEqual(tasks.map(({ task }) => task));
        expect(most).toBeLessThanOrEqual(maxParallel);
      }),
    );
  });

  it("lets each fail alone", async () => {
    const { orchestrator } = set({ a: add("a"), b: fail("b broke") });
    const results = await fanOut(orchestrator, [
      { operator: "b", task: "0" },
      { operator: "a", task: "1" },
      { operator: "nobody", task: "2" },
    ]);
    expect(results).toMatchObject([
      { ok: false, error: { failure: { kind: "operator-error" } } },
      { ok: true, output: { message: [{ text: "1a" }] } },
      { ok: false, error: { failure: { kind: "operator-not-found" } } },
    ]);
    expect(await fanOut(orchestrator, [])).toEqual([]);
    expect(await failureOf(fanOut(orchestrator, [], { maxParallel: 0 }))).toMatchObject({
      message: "maxParallel must be at least 1, not 0.",
    });
  });

  it("begins nothing more once it is cancelled, and says so of each", async () => {
    const controller = new AbortController();
    const { orchestrator, inputs } = set({ a: (input) => (controller.abort(), add("a")(input)), b: add("b") });
    const tasks = ["a", "b", "b"].map((operator) => ({ operator, task: "0" }));
    const results = await fanOut(orchestrator, tasks, { maxParallel: 1, signal: controller.signal });
    expect(results.map((result) => (result.ok ? "ok" : (result.error.failure as { kind: string }).kind))).toEqual([
      "ok",
      "cancelled",
      "cancelled",
    ]);
    expect(inputs["b"]).toBeUndefined();
  });
});

describe("fanIn", () => {
  const results: readonly DispatchResult[] = [
    { ok: true, output: output("found") },
    { ok: false, error: new OrchestratorError({ kind: "other", message: "lost" }).toJSON() },
    { ok: true, output: output("half", { type: "timeout" }) },
  ];

  it("tells one operator all results in order, failures and early ends as such", async () => {
    const { orchestrator, inputs } = set({ editor: () => output("one text") });
    const made = await fanIn(orchestrator, "editor", results, { task: "Make one text.", names: ["web", "books"] });
    expect(textOf(made)).toBe("one text");
    expect(inputs["editor"]?.[0]?.message.map((part) => part.type === "text" && part.text)).toEqual([
      "Make one text.",
      "Result web:",
      "found",
      "Result books failed: lost",
      "Result 3, which ended early (timeout):",
      "half",
    ]);
  });

  it("counts an end without an output as none that is good, and tells it as such", async () => {
    const { orchestrator, inputs } = set({ editor: () => output("one text") });
    const silent: readonly DispatchResult[] = [{ ok: true, output: output(" \n", { type: "no-action" }) }];
    expect(await failureOf(fanIn(orchestrator, "editor", silent))).toMatchObject({ kind: "dispatch-failed" });
    await fanIn(orchestrator, "editor", silent, { least: 0 });
    expect(inputs["editor"]?.[0]?.message[0]).toEqual({ type: "text", text: "Result 1, which ended without an output (no-action):" });
  });

  it("asks nobody where too few ended well", async () => {
    const { orchestrator, inputs } = set({ editor: () => output("of nothing") });
    expect(await failureOf(fanIn(orchestrator, "editor", results, { least: 2 }))).toMatchObject({
      kind: "dispatch-failed",
      message: '"editor" was not asked: 1 of 3 results ended well, and 2 must. lost',
    });
    expect(await failureOf(fanIn(orchestrator, "editor", []))).toMatchObject({ kind: "dispatch-failed" });
    expect(inputs["editor"]).toBeUndefined();
    expect(textOf(await fanIn(orchestrator, "editor", [], { least: 0 }))).toBe("of nothing");
  });
});

describe("delegate", () => {
  it("is one dispatch within limits, with the authority that it is given", async () => {
    const seen: unknown[] = [];
    const authority: Authority = { policies: [{ mode: "plan-only", rules: [] }], depth: 2 };
    const orchestrator = createLocalOrchestrator({
      operators: {
        clerk: {
          async execute(input, context) {
            seen.push(input, context.authority.policies);
            return output("done");
          },
        },
      },
    });
    const limits = { maxTurns: 3, maxDurationMs: 1000 };
    const made = await delegate(orchestrator, "clerk", "Book it.", {
      limits,
      allowedOperators: ["book"],
      session: "books",
      metadata: { a: 1 },
      authority,
    });
    expect(textOf(made)).toBe("done");
    expect(seen).toEqual([
      {
        message: [{ type: "text", text: "Book it." }],
        trigger: "task",
        config: { maxTurns: 3, maxDurationMs: 1000, allowedOperators: ["book"] },
        session: "books",
        metadata: { a: 1 },
      },
      authority.policies,
    ]);
  });

  it("fails as its operator fails, and is cancelled by its signal", async () => {
    const { orchestrator } = set({ broken: fail("no"), slow: () => new Promise<never>(() => {}) });
    expect(await failureOf(delegate(orchestrator, "broken", "0"))).toMatchObject({ kind: "operator-error", message: "no" });
    const aborted = AbortSignal.abort("enough");
    expect(await failureOf(delegate(orchestrator, "slow", "0", { signal: aborted }))).toMatchObject({ kind: "cancelled" });
  });
});

describe("handoff", () => {
  const to = (operator: string, task: string, session?: string): OperatorOutput =>
    output("handed on", { type: "handed-off" }, [
      { type: "handoff", operator, task, ...(session !== undefined && { history: { session } }) },
    ]);

  it("goes on with whoever is handed the task, in the session that it names, until one gives the output", async () => {
    const { orchestrator, inputs } = set({
      triage: () => to("billing", "Refund order 7."),
      billing: () => to("manager", "Sign this.", "s1"),
      manager: () => output("signed"),
    });
    const result = await handoff(orchestrator, "triage", "I want my money back.");
    expect([textOf(result.output), result.operators]).toEqual(["signed", ["triage", "billing", "manager"]]);
    expect(inputs["billing"]).toEqual([{ message: [{ type: "text", text: "Refund order 7." }], trigger: "task", metadata: {} }]);
    expect(inputs["manager"]?.[0]?.session).toBe("s1");
  });

  it("leaves a handoff that was carried out already, and an output is an output", async () => {
    const done: Effect = { type: "handoff", operator: "b", task: "t", meta: { id: "e_1", seq: 1, at: 1, outcome: "done" } };
    const { orchestrator } = set({ a: () => output("gone", { type: "handed-off" }, [done]) });
    expect((await handoff(orchestrator, "a", "0")).operators).toEqual(["a"]);
    const declined = set({ a: () => output("stays", { type: "complete" }, [{ type: "handoff", operator: "b", task: "t" }]) });
    expect((await handoff(declined.orchestrator, "a", "0")).operators).toEqual(["a"]);
  });

  it("fails where the task goes in circles, where nobody is at the end, and where one fails", async () => {
    const { orchestrator, inputs } = set({
      a: () => to("b", "t"),
      b: () => to("a", "t"),
      lost: () => to("nobody", "t"),
      c: () => to("broken", "t"),
      broken: fail("no"),
    });
    expect(await failureOf(handoff(orchestrator, "a", "0", { maxHandoffs: 3 }))).toMatchObject({
      message: "The task was handed on more than 3 times: a, b, a, b, a.",
    });
    expect([inputs["a"]?.length, inputs["b"]?.length]).toEqual([2, 2]);
    expect(await failureOf(handoff(orchestrator, "lost", "0"))).toMatchObject({ kind: "operator-not-found", operator: "nobody" });
    expect(await failureOf(handoff(orchestrator, "c", "0"))).toMatchObject({ kind: "operator-error" });
  });
});

/** An operator that shows a number, which a test changes, and hears signals. */
function shown() {
  const heard: unknown[] = [];
  const heardThree = Promise.withResolvers<void>();
  let value = 0;
  let finish = (_text: string): void => {};
  let giveUp = (_error: Error): void => {};
  const ended = new Promise<string>((resolve, reject) => {
    finish = resolve;
    giveUp = reject;
  });
  ended.catch(() => {});
  const orchestrator = createLocalOrchestrator();
  orchestrator.register(
    "worker",
    {
      async execute(_input, context) {
        const listening = (async () => {
          for (let round = 0; ; round++) {
            await context.select(`inbox/${round}`, [{ type: "inbox" }]);
            heard.push(...(await context.inbox(`inbox/${round}`)).map((entry) => (entry.type === "signal" ? entry.signal : entry.type)));
            if (heard.length >= 3) heardThree.resolve();
          }
        })();
        listening.catch(() => {});
        return output(await ended);
      },
    },
    { query: () => value },
  );
  let waiting = Promise.withResolvers<() => void>();
  const clock = { now: () => 0, after: (_ms: number, run: () => void) => (waiting.resolve(run), () => {}) };
  return {
    orchestrator,
    heard,
    heardThree: heardThree.promise,
    clock,
    set: (next: number) => (value = next),
    /** Lets the time pass that somebody waits for, once somebody does. */
    tick: async () => {
      const run = await waiting.promise;
      waiting = Promise.withResolvers();
      run();
    },
    finish: (text: string) => finish(text),
    giveUp: (error: Error) => giveUp(error),
  };
}
const query = { name: "value", params: {} };

describe("observe", () => {
  it("gives each answer that differs, the last once it is over, and changes nothing", async () => {
    const work = shown();
    const id = await work.orchestrator.start("worker", { message: [], trigger: "task", metadata: {} });
    const seen: JsonValue[] = [];
    const watching = (async () => {
      for await (const answer of observe(work.orchestrator, id, { query, clock: work.clock })) seen.push(answer);
    })();
    await work.tick();
    work.set(1);
    await work.tick();
    await work.tick();
    work.set(2);
    work.finish("done");
    await watching;
    expect(seen).toEqual([0, 1, 2]);
    expect([work.heard, textOf(await work.orchestrator.attach(id))]).toEqual([[], "done"]);
  });

  it("ends with its signal, or when its watcher leaves; the dispatch works on, and its failure is told to whoever attaches", async () => {
    const work = shown();
    const id = await work.orchestrator.start("worker", { message: [], trigger: "task", metadata: {} });
    const controller = new AbortController();
    const seen: JsonValue[] = [];
    const watching = (async () => {
      for await (const answer of observe(work.orchestrator, id, { query, clock: work.clock, signal: controller.signal })) seen.push(answer);
    })();
    await work.tick();
    controller.abort();
    await watching;
    for await (const answer of observe(work.orchestrator, id, { query, clock: work.clock })) {
      seen.push(answer);
      break;
    }
    expect(seen).toEqual([0, 0]);
    const last = (async () => {
      for await (const answer of observe(work.orchestrator, id, { query, clock: work.clock })) seen.push(answer);
    })();
    work.giveUp(new Error("gave up"));
    await last;
    expect(await failureOf(work.orchestrator.attach(id))).toMatchObject({ message: "gave up" });
  });

  it("asks for the status unless told otherwise, and fails for what is not known", async () => {
    const { orchestrator } = set({ a: add("a") });
    const id = await orchestrator.start("a", { message: [], trigger: "task", metadata: {} });
    const seen: JsonValue[] = [];
    for await (const answer of observe(orchestrator, id)) seen.push(answer);
    expect(seen.at(-1)).toMatchObject({ status: "done", operator: "a" });
    expect(await failureOf(observe(orchestrator, "r_nobody").next())).toMatchObject({ kind: "workflow-not-found" });
  });
});

describe("intervene", () => {
  it("acts where it is told to, once for each answer, in order", async () => {
    const work = shown();
    const id = await work.orchestrator.start("worker", { message: [], trigger: "task", metadata: {} });
    const acting = intervene(
      work.orchestrator,
      id,
      (answer) =>
        answer === 1
          ? { type: "steer", text: "hurry" }
          : answer === 2
            ? { type: "signal", signal: { kind: "price", payload: 7 } }
            : answer === 3
              ? { type: "stop" }
              : undefined,
      { query, clock: work.clock },
    );
    for (const value of [0, 1, 1, 2, 3]) {
      work.set(value);
      await work.tick();
    }
    await work.tick();
    await work.heardThree;
    work.finish("done");
    expect((await acting).map(({ type }) => type)).toEqual(["steer", "signal", "stop"]);
    expect(work.heard).toEqual([{ kind: "user-message", payload: "hurry" }, { kind: "price", payload: 7 }, "stop"]);
  });

  it("can end the dispatch at once", async () => {
    const work = shown();
    const id = await work.orchestrator.start("worker", { message: [], trigger: "task", metadata: {} });
    const acting = intervene(work.orchestrator, id, () => ({ type: "abort" }), { query, clock: work.clock });
    await work.tick();
    work.giveUp(new Error("aborted"));
    expect(await acting).toEqual([{ type: "abort" }]);
    expect(await failureOf(work.orchestrator.attach(id as RunId))).toMatchObject({ kind: "cancelled" });
  });

  it("does nothing to what is over, and fails as its decider fails", async () => {
    const work = shown();
    const id = await work.orchestrator.start("worker", { message: [], trigger: "task", metadata: {} });
    const acting = intervene(
      work.orchestrator,
      id,
      async () => {
        work.finish("done");
        await work.orchestrator.attach(id);
        return { type: "steer", text: "too late" };
      },
      { query, clock: work.clock },
    );
    expect(await acting).toEqual([]);
    const other = await work.orchestrator.start("worker", { message: [], trigger: "task", metadata: {} });
    await expect(
      intervene(work.orchestrator, other, () => Promise.reject(new Error("undecided")), { query, clock: work.clock }),
    ).rejects.toThrow("undecided");
  });
});
