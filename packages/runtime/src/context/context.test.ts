import { AgentError, OperatorError, textMessage, usd, type JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Context } from "./context.ts";
import type { ContextBinding, Operation } from "./rule.ts";
import { ruleAfter, ruleBefore, ruleWhen, type ContextMetrics, type Rule } from "./rule.ts";

const METRICS: ContextMetrics = {
  turnsCompleted: 0,
  modelCalls: 0,
  toolCallsTotal: 0,
  usage: { inputTokens: null, outputTokens: null, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null },
  cost: usd("0"),
  elapsedMs: 0,
};

/** A binding that remembers what it was told, as a log does: a point is decided once. */
function recorder(
  metrics: () => ContextMetrics = () => METRICS,
): ContextBinding & { readonly decided: Map<string, unknown>; readonly keys: (string | undefined)[] } {
  const decided = new Map<string, unknown>();
  const keys: (string | undefined)[] = [];
  return {
    decided,
    keys,
    append(key) {
      keys.push(key);
    },
    async decide(point, run) {
      if (!decided.has(point)) decided.set(point, await run());
      return decided.get(point) as never;
    },
    metrics,
  };
}

function operation<Output extends JsonValue>(type: string, output: Output, fields: Partial<Operation<Output>> = {}): Operation<Output> {
  return {
    type,
    input: { given: true },
    execute: () => output,
    show: (shown) => shown,
    accept: (accepted) => accepted as Output,
    ...fields,
  };
}

const noted =
  (notes: string[], name: string): Rule["run"] =>
  () =>
    void notes.push(name);
const textOf = (context: Context): readonly unknown[] =>
  context.messages.map(({ role, content }) => [role, "text" in (content[0] ?? {}) && content[0]?.type === "text" ? content[0].text : ""]);

describe("a context", () => {
  it("starts empty, and holds one conversation [CE-03, CE-04]", async () => {
    const context = new Context();
    const other = new Context();
    expect(context.messages).toEqual([]);
    expect(context.metrics).toMatchObject({ turnsCompleted: 0, cost: "0", toolCallsTotal: 0 });
    await context.injectMessage(textMessage("user", "hello"));
    expect([context.messages.length, other.messages.length]).toEqual([1, 0]);
  });

  it("injects system messages, which compaction must keep, and messages with a policy of their own [CE-05]", async () => {
    const context = new Context();
    await context.injectSystem("Be brief.");
    await context.injectMessage(textMessage("user", "hello"));
    await context.injectMessage(textMessage("user", "a long log"), "compress-first");
    expect(textOf(context)).toEqual([
      ["system", "Be brief."],
      ["user", "hello"],
      ["user", "a long log"],
    ]);
    expect([0, 1, 2].map((index) => context.conversation.policyAt(index))).toEqual(["pinned", "normal", "compress-first"]);
  });

  it("passes every operation through run, and reads its metrics from whoever it is bound to [CE-06, CE-08]", async () => {
    const notes: string[] = [];
    const context = new Context({
      rules: [{ name: "all", trigger: { type: "before-any" }, run: ({ operation }) => void notes.push(operation) }],
    });
    await context.injectSystem("a");
    await context.injectMessage(textMessage("user", "b"));
    expect(await context.run({ type: "mine", execute: () => 7 })).toBe(7);
    expect(notes).toEqual(["inject-system", "inject-message", "mine"]);
    context.bind(recorder(() => ({ ...METRICS, turnsCompleted: 3, toolCallsTotal: 5, cost: usd("0.25") })));
    expect(context.metrics).toMatchObject({ turnsCompleted: 3, toolCallsTotal: 5, cost: "0.25" });
  });

  it("gives what an operation gives, at once or later, where it has no rules", async () => {
    expect(await new Context().run({ type: "mine", execute: () => 7 })).toBe(7);
    expect(await new Context().run({ type: "mine", execute: async () => 7 })).toBe(7);
  });
});

describe("rules", () => {
  it("may wait or not; what one of them refuses is a rejection either way", async () => {
    const pure = (name: string, run: Rule["run"]): Rule => ({ name, trigger: { type: "before", operation: "look" }, pure: true, run });
    const quick = new Context({ rules: [pure("quick", () => undefined), ruleAfter("look", "after", 0, () => {})] });
    expect(await quick.run(operation("look", "seen"))).toBe("seen");
    const slow = new Context({ rules: [pure("slow", async () => undefined)] });
    expect(await slow.run(operation("look", "seen"))).toBe("seen");
    const halting = new Context({ rules: [pure("strict", () => ({ type: "halt", reason: "enough" }))] });
    await expect(halting.run(operation("look", "seen"))).rejects.toThrow("enough");
    expect([quick.watches("look", "after"), slow.watches("look", "after"), slow.watches("look"), slow.watches("infer")]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it("fire before and after the operation they name, and no other [CE-09]", async () => {
    const notes: string[] = [];
    const context = new Context({
      rules: [ruleBefore("look", "before", 0, noted(notes, "before")), ruleAfter("look", "after", 0, noted(notes, "after"))],
    });
    await context.run(operation("look", 1, { execute: () => (notes.push("look"), 1) }));
    await context.run(operation("other", 1));
    expect(notes).toEqual(["before", "look", "after"]);
  });

  it("fire around every operation where they say so [CE-09]", async () => {
    const notes: string[] = [];
    const context = new Context();
    context.addRule({ name: "b", trigger: { type: "before-any" }, run: ({ operation: type }) => void notes.push(`before ${type}`) });
    context.addRule({
      name: "a",
      trigger: { type: "after-any" },
      run: ({ operation: type, output }) => void notes.push(`after ${type} ${String(output)}`),
    });
    await context.run(operation("one", 1));
    await context.run(operation("two", 2));
    expect(notes).toEqual(["before one", "after one 1", "before two", "after two 2"]);
  });

  it("fire when a predicate holds, which is asked at the start of every run [CE-12]", async () => {
    const notes: string[] = [];
    let asked = 0;
    const context = new Context({
      rules: [
        ruleWhen(
          "long",
          0,
          ({ messages }) => (asked++, messages.length > 1),
          ({ operation: type }) => void notes.push(type),
        ),
      ],
    });
    for (let n = 1; n <= 3; n++) await context.injectMessage(textMessage("user", `${n}`));
    await context.run(operation("look", 1));
    expect(asked).toBe(4);
    expect(notes).toEqual(["inject-message", "look"]);
  });

  it("fire as their predicates held before any rule acted, whatever those before them did meanwhile [CE-12]", async () => {
    const notes: string[] = [];
    let isOpen = false;
    const watching = (name: string, priority: number, expected: boolean): Rule =>
      ruleWhen(
        name,
        priority,
        () => (notes.push(`asked ${name}`), isOpen === expected),
        () => {
          notes.push(name);
          isOpen = true;
        },
      );
    const context = new Context({
      rules: [
        watching("first", 3, false),
        watching("second", 2, false),
        watching("third", 1, true),
        ruleBefore("look", "named", 4, noted(notes, "named")),
      ],
    });
    await context.run(operation("look", 1, { execute: () => (notes.push("look"), 1) }));
    expect(notes).toEqual(["asked first", "asked second", "asked third", "named", "first", "second", "look"]);
    notes.length = 0;
    await context.run(operation("look", 1));
    expect(notes).toEqual(["asked first", "asked second", "asked third", "named", "third"]);
  });

  it("whose predicate throws end the run as a panic that names the rule, before any of them acts [CE-12, ET-06]", async () => {
    const notes: string[] = [];
    const context = new Context({
      rules: [
        ruleBefore("look", "named", 9, noted(notes, "named")),
        ruleWhen(
          "careless",
          0,
          () => {
            throw new TypeError("of undefined");
          },
          noted(notes, "careless"),
        ),
      ],
    });
    const error = await Promise.resolve(context.run(operation("look", 1))).catch((thrown: unknown) => thrown);
    expect(AgentError.is(error, "panic") && error.failure.callback).toBe("rule careless");
    expect(notes).toEqual([]);
  });

  it("are not asked by what a predicate does itself [CE-11, CE-12]", async () => {
    let asked = 0;
    const context = new Context();
    context.addRule(
      ruleWhen(
        "looks",
        0,
        () => {
          void context.run(operation("look", 1));
          return ++asked < 10;
        },
        () => {},
      ),
    );
    await context.run(operation("look", 1));
    expect(asked).toBe(1);
  });

  it("warn of a high cost by a system message, as soon as it is high and not before [CE-14]", async () => {
    let cost = usd("0.50");
    const context = new Context({
      rules: [
        ruleWhen(
          "warn_high_cost",
          50,
          ({ metrics }) => Number(metrics.cost) > 1,
          ({ context: inner }) => inner.injectSystem("This is getting expensive: come to an end."),
        ),
      ],
    });
    context.bind({
      ...recorder(() => ({ ...METRICS, cost })),
      append: (_key, message, policy) => context.conversation.append(message, policy),
    });
    await context.run(operation("infer", 1));
    expect(context.messages).toEqual([]);
    cost = usd("1.01");
    await context.run(operation("infer", 1));
    expect(textOf(context)).toEqual([["system", "This is getting expensive: come to an end."]]);
  });

  it("fire by priority, highest first; among equals in the order they were given [CE-10, CE-04]", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined }), { maxLength: 12 }),
        fc.nat({ max: 12 }),
        async (priorities, split) => {
          const fired: number[] = [];
          const rules = priorities.map((priority, index): Rule => ({
            name: `${index}`,
            trigger: { type: "before-any" },
            ...(priority !== undefined && { priority }),
            run: () => void fired.push(index),
          }));
          const context = new Context({ rules: rules.slice(0, split) });
          for (const rule of rules.slice(split)) context.addRule(rule);
          await context.run(operation("look", 1));
          const expected = priorities
            .map((priority, index) => ({ priority: priority ?? 0, index }))
            .sort((a, b) => b.priority - a.priority || a.index - b.index);
          expect(fired).toEqual(expected.map(({ index }) => index));
        },
      ),
    );
  });

  it("never trigger rules: what a rule runs itself meets none, not even the rule [CE-11]", async () => {
    const notes: string[] = [];
    const context = new Context({
      rules: [
        {
          name: "recursive",
          trigger: { type: "before-any" },
          run: async ({ context: inner, operation: type }) => {
            notes.push(type);
            await Promise.resolve();
            await inner.run(operation("inner", 1));
            await inner.injectSystem("from a rule");
          },
        },
      ],
    });
    await context.run(operation("outer", 1));
    expect(notes).toEqual(["outer"]);
    expect(context.messages).toHaveLength(1);
  });

  it("never trigger rules through other contexts either, pure ones and others inside each other [CE-11]", async () => {
    for (const [outerIsPure, innerIsPure] of [
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ] as const) {
      const notes: string[] = [];
      const context: Context = new Context({
        rules: [{ name: "outer", trigger: { type: "before-any" }, pure: outerIsPure, run: visit("outer", () => other) }],
      });
      const other: Context = new Context({
        rules: [{ name: "inner", trigger: { type: "before-any" }, pure: innerIsPure, run: visit("inner", () => context) }],
      });
      function visit(name: string, next: () => Context): Rule["run"] {
        return ({ context: own }) => {
          notes.push(name);
          void own.run(operation("own", 1));
          void next().run(operation("next", 1));
        };
      }
      await context.run(operation("look", 1));
      expect(notes).toEqual(["outer", "inner"]);
      // And what comes after them meets them again.
      await context.run(operation("look", 1));
      expect(notes).toEqual(["outer", "inner", "outer", "inner"]);
    }
  });

  it("never trigger rules once they waited, whatever pure rules of others ran meanwhile [CE-11]", async () => {
    const notes: string[] = [];
    const meanwhile = Promise.withResolvers<void>();
    const waiting = new Context({
      rules: [
        ruleBefore("look", "waits", 0, async ({ context }) => {
          notes.push("waits");
          await meanwhile.promise;
          await context.run(operation("look", 1));
        }),
      ],
    });
    const other = new Context({ rules: [{ ...ruleBefore("look", "pure", 0, noted(notes, "pure")), pure: true }] });
    const looking = waiting.run(operation("look", 1));
    await other.run(operation("look", 1));
    meanwhile.resolve();
    await looking;
    expect(notes).toEqual(["waits", "pure"]);
  });

  it("are met by each of several operations that run side by side [CE-11]", async () => {
    const notes: string[] = [];
    const slow = ruleBefore("look", "slow", 0, async ({ input }) => {
      await new Promise<void>((resolve) => setImmediate(resolve));
      notes.push(String(input));
    });
    const context = new Context({ rules: [slow] });
    await Promise.all(["a", "b", "c"].map((input) => context.run(operation("look", 1, { input }))));
    expect(notes.sort()).toEqual(["a", "b", "c"]);
  });

  it("of one name have each their own verdict", async () => {
    const notes: string[] = [];
    const context = new Context({ rules: ["a", "b"].map((name) => ruleBefore("look", "same", 0, noted(notes, name))) });
    const binding = recorder();
    context.bind(binding);
    await context.run(operation("look", 1, { key: "t1/look" }));
    expect(notes).toEqual(["a", "b"]);
    expect([...binding.decided.keys()]).toEqual(["t1/look/rule/before/same", "t1/look/rule/before/same#2"]);
  });

  it("are decided once for a place in the log, unless they are pure; what they inject is named after that place [CE-18]", async () => {
    const notes: string[] = [];
    const rules = [
      ruleBefore("look", "recorded", 2, async ({ context }) => {
        notes.push("recorded");
        await context.injectSystem("once");
        await context.injectSystem("and again");
      }),
      { ...ruleBefore("look", "pure", 1, noted(notes, "pure")), pure: true },
    ];
    const binding = recorder();
    for (let life = 0; life < 2; life++) {
      const context = new Context({ rules, binding });
      await context.run(operation("look", 1, { key: "t1/look" }));
    }
    expect(notes).toEqual(["recorded", "pure", "pure"]);
    expect(binding.keys).toEqual(["t1/look/rule/before/recorded/inject/1", "t1/look/rule/before/recorded/inject/2"]);
  });
});

describe("the verdict of a rule", () => {
  const run = (rules: readonly Rule[], fields: Partial<Operation<JsonValue>> = {}) =>
    new Context({ rules }).run(operation<JsonValue>("look", "out", { execute: (_context, input) => ({ saw: input ?? null }), ...fields }));

  it("continue, like none, changes nothing [CE-18, CE-20]", async () => {
    expect(await run([ruleBefore("look", "a", 0, () => ({ type: "continue" })), ruleAfter("look", "b", 0, () => undefined)])).toEqual({
      saw: { given: true },
    });
  });

  it("modify-input before the operation is what later rules and the operation see [CE-20]", async () => {
    const seen: unknown[] = [];
    const rules = [
      ruleBefore("look", "first", 2, () => ({ type: "modify-input", input: "changed" })),
      ruleBefore("look", "second", 1, ({ input }) => void seen.push(input)),
    ];
    expect(await run(rules)).toEqual({ saw: "changed" });
    expect(seen).toEqual(["changed"]);
  });

  it("modify-output after the operation is what later rules and the caller see [CE-20]", async () => {
    const seen: unknown[] = [];
    const rules = [
      ruleAfter("look", "first", 2, () => ({ type: "modify-output", output: "changed" })),
      ruleAfter("look", "second", 1, ({ output }) => void seen.push(output)),
    ];
    expect(await run(rules)).toBe("changed");
    expect(seen).toEqual(["changed"]);
  });

  it("skip gives an output in the operation's place, and nothing after it happens [CE-20]", async () => {
    let executed = 0;
    const later: string[] = [];
    const rules = [
      ruleBefore("look", "skip", 2, () => ({ type: "skip", output: "instead" })),
      ruleBefore("look", "later", 1, noted(later, "before")),
      ruleAfter("look", "after", 1, noted(later, "after")),
    ];
    expect(await run(rules, { execute: () => ++executed })).toBe("instead");
    expect([executed, later]).toEqual([0, []]);
  });

  it("skip drops a message that was to be injected [CE-20]", async () => {
    const context = new Context({ rules: [ruleBefore("inject-message", "drop", 0, () => ({ type: "skip", output: null }))] });
    await context.injectMessage(textMessage("user", "secret"));
    expect(context.messages).toEqual([]);
  });

  it("halt, before or after, stops the pipeline with who and why [CE-08, CE-18]", async () => {
    let executed = 0;
    const halting = (make: typeof ruleBefore) =>
      run([make("look", "stopper", 0, () => ({ type: "halt", reason: "enough" }))], { execute: () => ++executed });
    for (const make of [ruleBefore, ruleAfter]) {
      const error: unknown = await Promise.resolve(halting(make)).catch((caught: unknown) => caught);
      expect(OperatorError.is(error, "halted") && error.failure).toMatchObject({ by: "rule", reason: "enough" });
    }
    expect(executed).toBe(1);
  });

  it.each<[string, Rule, Partial<Operation<JsonValue>>]>([
    ["modify-output before an operation", ruleBefore("look", "r", 0, () => ({ type: "modify-output", output: 1 })), {}],
    ["modify-input after it", ruleAfter("look", "r", 0, () => ({ type: "modify-input", input: 1 })), {}],
    ["skip after it", ruleAfter("look", "r", 0, () => ({ type: "skip", output: 1 })), {}],
    ["modify-input of what is only shown", ruleBefore("look", "r", 0, () => ({ type: "modify-input", input: 1 })), { inputIsFixed: true }],
  ])("%s is refused as the rule's mistake, not passed over", async (_case, rule, fields) => {
    const error: unknown = await Promise.resolve(run([rule], fields)).catch((caught: unknown) => caught);
    expect(AgentError.is(error, "panic") && error.failure.callback).toBe("rule r");
  });

  it("for an output that can't be replaced is refused, too", async () => {
    const context = new Context({ rules: [ruleBefore("infer", "r", 0, () => ({ type: "skip", output: 1 }))] });
    await expect(context.run({ type: "infer", execute: () => 1 })).rejects.toThrow(/cannot do that at "infer"/);
  });

  it("is a panic where the rule throws, whatever it throws [ET-06]", async () => {
    for (const thrown of [new Error("boom"), "boom", undefined]) {
      for (const rule of [
        ruleBefore("look", "bad", 0, () => {
          throw thrown;
        }),
        ruleWhen(
          "bad",
          0,
          () => {
            throw thrown;
          },
          () => {},
        ),
        {
          ...ruleAfter("look", "bad", 0, async () => {
            throw thrown;
          }),
          pure: true,
        },
      ]) {
        const error: unknown = await Promise.resolve(run([rule])).catch((caught: unknown) => caught);
        expect(AgentError.is(error, "panic") && error.failure.callback).toBe("rule bad");
      }
    }
  });
});
