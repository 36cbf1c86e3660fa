import {
  LogError,
  OrchestratorError,
  ZERO_USD,
  type Authority,
  type ExecutionContext,
  type JsonValue,
  type Operator,
  type OperatorInput,
  type OperatorOutput,
  type Orchestrator,
  type RunId,
  type SessionId,
  type Signal,
  errorFromJSON,
  toOrchestratorError,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { systemClock, type Clock } from "../platform/clock.ts";
import { describeOrchestrator } from "../testing/orchestrator-contract.ts";
import { toolToOperator } from "../tools/tool-to-operator.ts";
import { defineTool } from "../tools/define-tool.ts";
import { authorityBelow } from "./authority-below.ts";
import { dispatchTasks } from "./dispatch-tasks.ts";
import { createLocalOrchestrator } from "./local-orchestrator.ts";
import { OperatorContext } from "./operator-context.ts";

const INPUT: OperatorInput = { message: [{ type: "text", text: "go" }], trigger: "task", metadata: {} };
const output = (text: string): OperatorOutput => ({
  message: [{ type: "text", text }],
  exitReason: { type: "complete" },
  metadata: { tokensIn: 0, tokensOut: 0, cost: ZERO_USD, turnsUsed: 0, subDispatches: [], durationMs: 0, untracked: [] },
  effects: [],
});
const failureOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => (OrchestratorError.is(error) ? error.failure : error),
  );

/** A clock whose timers fire when told. */
function manualClock(): Clock & { fire(): void; readonly waits: number[] } {
  const timers = new Set<() => void>();
  const waits: number[] = [];
  return {
    waits,
    now: () => 1000,
    after(ms, run) {
      waits.push(ms);
      timers.add(run);
      return () => timers.delete(run);
    },
    fire() {
      for (const run of timers) run();
      timers.clear();
    },
  };
}

describeOrchestrator("createLocalOrchestrator", (operators) => createLocalOrchestrator({ operators }));

/**
 * An orchestrator of another kind: the operators live behind a wire that carries JSON only, and what it needs beside that
 * is what the library shares.
 */
function createWireOrchestrator(operators: { readonly [id: string]: Operator }): Orchestrator {
  const far = new Map<
    string,
    {
      readonly operator: string;
      readonly context: OperatorContext;
      readonly result: Promise<string>;
      readonly abort: AbortController;
      over?: "done" | "failed";
    }
  >();
  const overTheWire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  let ids = 0;
  const find = (id: string) => {
    const found = far.get(id);
    if (found === undefined)
      throw new OrchestratorError({ kind: "workflow-not-found", workflow: id, message: `there is no "${id}" at the other end` });
    return found;
  };
  const wire: Orchestrator = {
    async start(operator, input, { id = `w_${++ids}` as RunId, authority, parent } = {}) {
      if (far.has(id)) return id;
      const found = operators[operator];
      if (found === undefined)
        throw new OrchestratorError({
          kind: "operator-not-found",
          operator,
          available: Object.keys(operators),
          message: `there is no operator "${operator}"`,
        });
      const abort = new AbortController();
      const context = new OperatorContext({
        clock: systemClock,
        operator,
        runId: id,
        session: id as string as SessionId,
        signal: abort.signal,
        authority: authorityBelow(parent === undefined ? undefined : far.get(parent)?.context.authority, authority, operator),
        startChild: (spec) => wire.dispatch(spec.operator, spec.input, { parent: id, id: `${id}/${spec.key}` as RunId }),
      });
      const run = async (): Promise<string> => {
        await Promise.resolve();
        try {
          const result = await context.execute(found, overTheWire(input));
          record.over = "done";
          return JSON.stringify({ output: result });
        } catch (error) {
          record.over = "failed";
          const failure = abort.signal.aborted
            ? new OrchestratorError({ kind: "cancelled", message: "cancelled" })
            : toOrchestratorError(error);
          return JSON.stringify({ error: failure.toJSON() });
        }
      };
      const record: ReturnType<typeof find> = { operator, context, abort, result: run() };
      far.set(id, record);
      return id;
    },
    async attach(id) {
      const result = JSON.parse(await find(id).result) as { readonly output?: OperatorOutput; readonly error?: unknown };
      if (result.error) throw errorFromJSON(result.error);
      return result.output as OperatorOutput;
    },
    async cancel(id, how) {
      const { context, abort } = find(id);
      await context.write(`${how}/${++ids}`, { type: how });
      if (how === "abort") abort.abort();
    },
    dispatch: async (operator, input, options) => wire.attach(await wire.start(operator, input, options)),
    dispatchMany: (tasks) => dispatchTasks(tasks, (task) => wire.dispatch(task.operator, task.input, task.options)),
    async signal(target, signal: Signal) {
      if (find(target).over) throw new OrchestratorError({ kind: "signal-failed", message: "it is over" });
      await find(target).context.write(`signal/${++ids}`, overTheWire({ type: "signal" as const, signal }));
    },
    async query(target, { name }): Promise<JsonValue> {
      const { operator, over } = find(target);
      if (name !== "status") throw new OrchestratorError({ kind: "other", message: `there is no query "${name}"` });
      return { status: over ?? "working", operator };
    },
  };
  return wire;
}

// The same behaviour over a wire, of the parts that every orchestrator can use [OR-05, OR-08].
describeOrchestrator("an orchestrator over a wire, made of the shared parts [OR-05, OR-08]", createWireOrchestrator);

describe("a local orchestrator", () => {
  it("takes operators when it is made and later; the same id replaces [OR-07]", async () => {
    const orchestrator = createLocalOrchestrator({ operators: { a: { execute: async () => output("a1") } } });
    orchestrator.register("b", { execute: async () => output("b") });
    orchestrator.register("a", { execute: async () => output("a2") });
    expect((await orchestrator.dispatch("a", INPUT)).message).toEqual(output("a2").message);
    expect((await orchestrator.dispatch("b", INPUT)).message).toEqual(output("b").message);
  });

  it("dispatches to a tool as to any operator [OR-07, TL-06]", async () => {
    const add = defineTool({
      name: "add",
      description: "Adds.",
      effect: "read",
      input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
      execute: ({ a, b }) => (a as number) + (b as number),
    });
    const orchestrator = createLocalOrchestrator({ operators: { add: toolToOperator(add) } });
    expect((await orchestrator.dispatch("add", { ...INPUT, metadata: { input: { a: 2, b: 3 } } })).message).toEqual([
      { type: "text", text: "5" },
    ]);
    expect(await failureOf(orchestrator.dispatch("add", { ...INPUT, metadata: { input: { a: 2 } } }))).toMatchObject({
      kind: "operator-error",
      operator: { kind: "non-retryable" },
    });
  });

  it("answers what an operator registered as its own queries [OR-04]", async () => {
    const orchestrator = createLocalOrchestrator();
    orchestrator.register("counter", { execute: async () => output("x") }, { query: (name, params) => ({ name, params }) });
    const id = await orchestrator.start("counter", INPUT);
    expect(await orchestrator.query(id, { name: "progress", params: { since: 3 } })).toEqual({ name: "progress", params: { since: 3 } });
  });

  it("ends a dispatch at its deadline, and by the caller's signal [OR-07]", async () => {
    const clock = manualClock();
    let begun = Promise.withResolvers<void>();
    const endless: Operator = {
      execute: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("interrupted")), { once: true });
          begun.resolve();
        }),
    };
    const orchestrator = createLocalOrchestrator({ clock, operators: { endless } });
    const timed = failureOf(orchestrator.dispatch("endless", INPUT, { deadline: 1500 }));
    await begun.promise;
    expect(clock.waits).toEqual([500]);
    clock.fire();
    expect(await timed).toMatchObject({ kind: "cancelled", message: expect.stringContaining("timeout") });
    const controller = new AbortController();
    begun = Promise.withResolvers();
    const id = await orchestrator.start("endless", INPUT, { signal: controller.signal });
    const signalled = failureOf(orchestrator.attach(id));
    await begun.promise;
    controller.abort("enough");
    expect(await signalled).toMatchObject({ kind: "cancelled", message: expect.stringContaining("enough") });
    const never: Operator = { execute: () => expect.unreachable("it was cancelled before it began") };
    orchestrator.register("never", never);
    expect(await failureOf(orchestrator.dispatch("never", INPUT, { signal: controller.signal }))).toMatchObject({ kind: "cancelled" });
  });

  it("leaves an operator behind that ignores its signal", async () => {
    const clock = manualClock();
    const orchestrator = createLocalOrchestrator({ clock, abandonMs: 77, operators: { deaf: { execute: () => new Promise(() => {}) } } });
    const id = await orchestrator.start("deaf", INPUT);
    const attached = failureOf(orchestrator.attach(id));
    await orchestrator.cancel(id, "abort");
    expect(clock.waits).toEqual([77]);
    clock.fire();
    expect(await attached).toMatchObject({ kind: "cancelled" });
    expect(await orchestrator.query(id, { name: "status", params: {} })).toMatchObject({ status: "failed" });
  });

  it("gives a child never more than its parent has: authority, deadline and depth", async () => {
    const seen: Pick<ExecutionContext, "authority" | "deadline" | "parent">[] = [];
    const leaf: Operator = {
      execute: async (_input, { authority, deadline, parent }) => (
        seen.push({ authority, ...(deadline !== undefined && { deadline }), ...(parent && { parent }) }),
        output("leaf")
      ),
    };
    const node: Operator = {
      async execute(_input, context) {
        await context.startChild({ key: "plain", operator: "leaf", input: INPUT });
        await context.startChild({
          key: "greedy",
          operator: "leaf",
          input: INPUT,
          authority: { policies: [], allowedTools: ["read", "write"], depth: 99, deadline: 9_999_999 },
        });
        return output("node");
      },
    };
    const given: Authority = { policies: [{ mode: "plan-only", rules: [] }], allowedTools: ["read"], depth: 3 };
    const orchestrator = createLocalOrchestrator({ clock: manualClock(), operators: { leaf, node } });
    await orchestrator.dispatch("node", INPUT, { id: "r_top" as RunId, authority: given, deadline: 5000 });
    expect(seen[0]).toEqual({ authority: { ...given, depth: 2 }, deadline: 5000, parent: { run: "r_top" } });
    expect(seen[1]).toMatchObject({ authority: { policies: given.policies, allowedTools: ["read"], depth: 2 }, deadline: 5000 });
  });

  it("nests no deeper than the depth it was given", async () => {
    let deepest = 0;
    const nest: Operator = {
      async execute(input, context) {
        const level = input.metadata["level"] as number;
        deepest = Math.max(deepest, level);
        return context.startChild({ key: "child", operator: "nest", input: { ...INPUT, metadata: { level: level + 1 } } });
      },
    };
    const orchestrator = createLocalOrchestrator({ operators: { nest } });
    expect(
      await failureOf(orchestrator.dispatch("nest", { ...INPUT, metadata: { level: 0 } }, { authority: { policies: [], depth: 3 } })),
    ).toMatchObject({ kind: "dispatch-failed", message: expect.stringContaining("nested dispatches") });
    expect(deepest).toBe(3);
  });

  it("keeps so many finished dispatches, and forgets the oldest; those that work are kept", async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const orchestrator = createLocalOrchestrator({
      maxFinished: 2,
      operators: { quick: { execute: async () => output("quick") }, slow: { execute: async () => (await gate, output("slow")) } },
    });
    const slow = await orchestrator.start("slow", INPUT);
    const ids: RunId[] = [];
    for (let n = 0; n < 4; n++) {
      ids.push(await orchestrator.start("quick", INPUT));
      await orchestrator.attach(ids.at(-1) as RunId);
    }
    expect(await failureOf(orchestrator.attach(ids[0] as RunId))).toMatchObject({ kind: "workflow-not-found" });
    expect((await orchestrator.attach(ids[3] as RunId)).message).toEqual(output("quick").message);
    release();
    expect((await orchestrator.attach(slow)).message).toEqual(output("slow").message);
  });

  it("gives its operators the execution context of runs: their keys last, whatever they commit, and are of a kind", async () => {
    const events: string[] = [];
    const orchestrator = createLocalOrchestrator({
      onEvent: (event, { operator }) => events.push(`${operator} ${event.type}`),
      operators: {
        careful: {
          async execute(_input, context) {
            let acts = 0;
            const seen: unknown[] = [];
            for (let round = 0; round < 2; round++) {
              const step = await context.step("a", async () => ++acts);
              seen.push(step.ok && step.value, await context.decide("a", () => `decided ${++acts}`));
              await context.sleepUntil("a", 0);
              seen.push(await context.select("a", [{ type: "timer", at: 0 }]), (await context.inbox("a")).length);
              // What ends a turn, or a run, of an agent ends nothing here.
              seen.push(
                await context.commit("a", { type: "turn-end", turn: 1 }),
                await context.commit("b", { type: "tool-calls-complete" }),
              );
              context.emit({ type: "text-start" });
            }
            expect(seen.slice(seen.length / 2)).toEqual(seen.slice(0, seen.length / 2));
            return output(`${acts}`);
          },
        },
      },
    });
    expect((await orchestrator.dispatch("careful", INPUT)).message).toEqual(output("2").message);
    const told = ["careful turn-end", "careful tool-calls-complete", "careful text-start", "careful text-start"];
    expect(events).toEqual(told);
  });

  it("refuses to suspend an operator, since nothing keeps it, and says what to do instead", async () => {
    const orchestrator = createLocalOrchestrator({
      operators: { patient: { execute: async (_input, context) => context.suspend("awaiting-timer", [{ type: "timer", at: 9e15 }]) } },
    });
    expect(await failureOf(orchestrator.dispatch("patient", INPUT))).toMatchObject({
      kind: "operator-error",
      operator: { kind: "non-retryable", message: expect.stringMatching(/"patient" wants to wait .*awaiting-timer.*select or sleepUntil/) },
    });
  });

  it("lets go of the log of a dispatch with it: an operator that works on records nothing more, and shows nothing", async () => {
    const events: string[] = [];
    const contexts: ExecutionContext[] = [];
    const orchestrator = createLocalOrchestrator({
      onEvent: ({ type }) => events.push(type),
      operators: {
        used: { execute: async (_input, context) => (contexts.push(context), await context.step("a", async () => 1), output("done")) },
        unused: { execute: async (_input, context) => (contexts.push(context), output("done")) },
      },
    });
    for (const operator of ["used", "unused"]) await orchestrator.dispatch(operator, INPUT);
    for (const context of contexts) {
      const late = [context.step("b", async () => 2), context.commit("c", { type: "turn-end", turn: 1 })];
      for (const act of late) await expect(act).rejects.toSatisfy((error) => LogError.is(error, "closed"));
    }
    expect(events).toEqual([]);
  });

  it("has no unhandled rejection when nobody attaches to what fails [ET-16]", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const orchestrator = createLocalOrchestrator({
      operators: {
        broken: { execute: () => Promise.reject(new Error("alone")) },
        throwing: {
          execute: () => {
            throw new Error("at once");
          },
        },
      },
    });
    await orchestrator.start("broken", INPUT);
    await orchestrator.start("throwing", INPUT);
    await new Promise<void>((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});
