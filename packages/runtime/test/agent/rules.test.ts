import { createAgent, createRunner, textMessage, usd, type Run } from "keelson";
import { budgetGuard, injectReminder, ruleAfter, ruleBefore, rulesFrom, ruleWhen, telemetryRecorder, type Rule } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import type { JsonObject, JsonValue } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, types, watch } from "./support.ts";

const look = (input: JsonValue = {}): ScriptedTurn => ({ toolCalls: [{ name: "look", input }] });

function agentWith(turns: readonly ScriptedTurn[], rules: readonly Rule[], options: Partial<Parameters<typeof createAgent>[0]> = {}) {
  const tool = recordingTool("look", { effect: "read" });
  const model = scriptedModel(turns);
  return { tool, model, agent: createAgent({ name: "a", model, tools: [tool], rules, ...options }) };
}

describe("a run passes through its rules", () => {
  it("in the order of a turn: infer, for which the request is compiled, append the response, call tools, check for an exit; then again [CE-07, CE-10, TL-07]", async () => {
    const seen: string[] = [];
    const { agent } = agentWith(
      [look(), "done"],
      [{ name: "watch", trigger: { type: "before-any" }, run: ({ operation }) => void seen.push(operation) }],
    );
    await runnerOf(agent).run("go").outcome;
    expect(seen).toEqual([
      "infer",
      "compile",
      "append-response",
      "execute-tool",
      "exit-check",
      "infer",
      "compile",
      "append-response",
      "exit-check",
    ]);
  });

  it("which see the model, its response, each tool's input and its result [CE-17, CE-08, TL-07]", async () => {
    const told: unknown[] = [];
    const rules = rulesFrom({
      name: "told",
      beforeInference: (view) => void told.push(["before", view.turnsCompleted, view.modelCalls]),
      afterInference: (response) => void told.push(["after", (response as { stopReason: string }).stopReason]),
      beforeToolCall: (tool, input) => void told.push([tool, input]),
      afterToolCall: (tool, result) => void told.push([tool, result]),
    });
    const { agent } = agentWith([look({ at: "door" }), "done"], rules);
    await runnerOf(agent).run("go").outcome;
    expect(told).toEqual([
      ["before", 0, 0],
      ["after", "tool-use"],
      ["look", { at: "door" }],
      ["look", { output: "look done", isError: false }],
      ["before", 1, 1],
      ["after", "end-turn"],
    ]);
  });
});

describe("a rule that asks for more at the last exit check", () => {
  it("is answered in another turn; the response before is not the run's last word [CE-07]", async () => {
    const rule = ruleBefore("exit-check", "ask", 0, async ({ context }) => {
      if (context.metrics.turnsCompleted === 0) await context.injectMessage(textMessage("user", "And the sources?"));
    });
    const { agent, model } = agentWith(["Forty-two.", "From the guide."], [rule]);
    expect(await runnerOf(agent).run("go").outcome).toMatchObject({ reason: "complete", text: "From the guide.", turns: 2 });
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: "user", content: [{ text: "And the sources?" }] });
  });
});

describe("a rule that halts", () => {
  it.each<[string, (reason: string) => readonly Rule[], number, boolean]>([
    ["before an inference", (reason) => rulesFrom({ name: "r", beforeInference: () => ({ type: "halt", reason }) }), 0, false],
    ["after an inference", (reason) => rulesFrom({ name: "r", afterInference: () => ({ type: "halt", reason }) }), 1, false],
    ["before a tool call", (reason) => rulesFrom({ name: "r", beforeToolCall: () => ({ type: "halt", reason }) }), 1, false],
    ["after a tool call", (reason) => rulesFrom({ name: "r", afterToolCall: () => ({ type: "halt", reason }) }), 1, true],
    ["at an exit check", (reason) => rulesFrom({ name: "r", whenExitCheck: () => ({ type: "halt", reason }) }), 1, true],
  ])("%s ends the run as halted, says by whom and why, and leaves a whole history [CE-18, OP-09]", async (_where, rules, requests, ran) => {
    const { agent, model, tool } = agentWith([look(), "never"], rules("that is enough"));
    const runner = runnerOf(agent);
    const { events, outcome } = await watch(runner.run("go", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "halted", halted: { by: "rule", reason: "that is enough" } });
    expect(ofType(events, "run-complete")[0]?.halted).toEqual({ by: "rule", reason: "that is enough" });
    expect([model.requests.length, tool.calls.length > 0]).toEqual([requests, ran]);
    const { messages } = await runner.sessions.get("s");
    const calls = messages.flatMap(({ content }) => content.filter((part) => part.type === "tool-call"));
    const results = messages.flatMap(({ content }) => content.filter((part) => part.type === "tool-result"));
    expect(results.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
  });

  it("before an inference spends nothing and says nothing to the model; what a rule injects there is in the request [CE-17]", async () => {
    const halted = agentWith(["never"], rulesFrom({ name: "r", beforeInference: () => ({ type: "halt", reason: "no" }) }));
    const { events, outcome } = await watch(runnerOf(halted.agent).run("go"));
    expect([ofType(events, "usage"), outcome.turns, outcome.usage.inputTokens]).toEqual([[], 0, null]);
    const injecting = agentWith(["ok"], [ruleBefore("infer", "r", 0, ({ context }) => context.injectSystem("It is late."))]);
    await runnerOf(injecting.agent).run("go").outcome;
    expect(injecting.model.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "system"]);
  });

  it("after an inference keeps the response, and what it cost [CE-17]", async () => {
    const { agent } = agentWith(
      [{ text: "expensive", usage: { inputTokens: 70 } }],
      rulesFrom({ name: "r", afterInference: () => ({ type: "halt", reason: "no" }) }),
    );
    const runner = runnerOf(agent);
    const outcome = await runner.run("go", { session: "s" }).outcome;
    expect(outcome).toMatchObject({ reason: "halted", text: "expensive", turns: 1, usage: { inputTokens: 70 } });
    expect((await runner.sessions.get("s")).messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("after an inference over a budget is the budget rule of the guide [CE-19]", async () => {
    const price = { input: "1000", output: "1000", asOf: "2026-01-01" };
    const budget = rulesFrom({
      name: "budget",
      afterInference: (_response, view) => (Number(view.cost) > 1 ? { type: "halt", reason: "budget exceeded $1.00" } : undefined),
    });
    const tool = recordingTool("look", { effect: "read" });
    const turn = (n: number): ScriptedTurn => ({
      toolCalls: [{ name: "look", input: { n } }],
      usage: { inputTokens: 300, outputTokens: 300 },
    });
    const model = scriptedModel([turn(1), turn(2), turn(3), "never"], { price });
    const outcome = await runnerOf(createAgent({ name: "a", model, tools: [tool], rules: budget })).run("go").outcome;
    expect(outcome).toMatchObject({ reason: "halted", halted: { reason: "budget exceeded $1.00" }, cost: "1.2" });
  });
});

describe("a rule that changes something", () => {
  it("takes a secret out of a tool's input; the tool, the log's result and the guard see what is left [CE-19, CE-20]", async () => {
    const strip = rulesFrom({
      name: "strip-secret",
      beforeToolCall: (_tool, input) => {
        const { api_key: _secret, ...rest } = input as { readonly api_key?: string };
        return { type: "modify-input", input: rest };
      },
    });
    const { agent, tool } = agentWith([look({ url: "u", api_key: "secret" }), "done"], strip);
    await runnerOf(agent).run("go").outcome;
    expect(tool.calls).toEqual([{ url: "u" }]);
  });

  it("into an input that is not valid does not run the tool, and the model learns why [CE-20]", async () => {
    const tool = recordingTool("look", { effect: "read" });
    const strict = {
      ...tool,
      parse: (input: unknown) => ("at" in (input as object) ? { value: input } : { issues: [{ message: "at is missing" }] }),
    };
    const { agent } = agentWith(
      [look({ at: 1 }), "done"],
      [ruleBefore("execute-tool", "r", 0, () => ({ type: "modify-input", input: { name: "look", input: {} } }))],
      { tools: [strict] },
    );
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(tool.calls).toEqual([]);
    expect(ofType(events, "tool-result")[0]).toMatchObject({ isError: true, output: expect.stringContaining("at is missing") });
  });

  it("replaces a tool's output, and may give a result in the tool's place [CE-20, TL-07]", async () => {
    const replaced = agentWith(
      [look(), "done"],
      [ruleAfter("execute-tool", "r", 0, () => ({ type: "modify-output", output: "[redacted]" }))],
    );
    await runnerOf(replaced.agent).run("go").outcome;
    expect(replaced.model.requests[1]?.messages.at(-1)?.content[0]).toMatchObject({ output: "[redacted]" });
    expect(replaced.tool.calls).toHaveLength(1);
    const skipped = agentWith([look(), "done"], [ruleBefore("execute-tool", "r", 0, () => ({ type: "skip", output: "from the cache" }))]);
    await runnerOf(skipped.agent).run("go").outcome;
    expect(skipped.model.requests[1]?.messages.at(-1)?.content[0]).toMatchObject({ output: "from the cache" });
    expect(skipped.tool.calls).toHaveLength(0);
  });

  it("redacts a result in the shape in which it was shown, a failure as well; it is not wrapped again [CE-20, BM-10]", async () => {
    const redacted = async (rules: readonly Rule[], output: () => JsonValue) => {
      const tool = recordingTool("look", { effect: "read", output });
      const agent = createAgent({ name: "a", model: scriptedModel([look(), "done"]), tools: [tool], rules });
      const { events } = await watch(runnerOf(agent).run("go"));
      return ofType(events, "tool-result")[0];
    };
    const hide = (text: JsonValue) => String(text).replaceAll("AKIA", "****");
    const method = rulesFrom({
      name: "redact",
      afterToolCall: (_tool, result) => ({ type: "modify-output", output: { ...result, output: hide(result.output) } }),
    });
    const rule = ruleAfter("execute-tool", "redact", 0, ({ output }) => {
      const result = output as { readonly output: JsonValue };
      return { type: "modify-output", output: { ...result, output: hide(result.output) } };
    });
    for (const rules of [method, [rule]]) {
      expect(await redacted(rules, () => "key AKIA")).toMatchObject({ output: "key ****", isError: false });
      const failing = (): never => {
        throw new Error("no such key: AKIA");
      };
      expect(await redacted(rules, failing)).toMatchObject({ output: expect.stringMatching(/key: \*{4}/), isError: true });
    }
  });

  it("looks at steering first, and may change or drop it [CE-17, CE-18]", async () => {
    const seen: unknown[] = [];
    const steer = async (rules: readonly Rule[]) => {
      let run: Run | undefined;
      const tool = recordingTool("look", { effect: "read" });
      tool.execute = async () => (await run?.steer("go left"), "seen");
      const model = scriptedModel([look(), "ok"]);
      run = runnerOf(createAgent({ name: "a", model, tools: [tool], rules })).run("go");
      await run.outcome;
      return model.requests[1]?.messages.at(-1);
    };
    const changed = textMessage("user", "go right");
    expect(
      await steer(
        rulesFrom({
          name: "r",
          beforeSteeringInject: (messages) => (
            seen.push(messages),
            { type: "modify-input", input: { messages: [changed] } as unknown as JsonValue }
          ),
        }),
      ),
    ).toEqual(changed);
    expect(seen).toEqual([[textMessage("user", "go left")]]);
    expect((await steer([ruleBefore("inject-steering", "r", 0, () => ({ type: "skip", output: null }))]))?.role).toBe("tool");
  });

  it("learns which calls a steering message pushed aside [CE-17]", async () => {
    const skipped: unknown[] = [];
    let run: Run | undefined;
    const first = recordingTool("first", { effect: "write" });
    first.execute = async () => (await run?.steer("stop that", { interrupt: true }), "did");
    const model = scriptedModel([{ toolCalls: [{ name: "first" }, { name: "second" }, { name: "third" }] }, "ok"]);
    const rules = rulesFrom({ name: "r", whenSteeringSkip: (calls) => void skipped.push(calls.map(({ name }) => name)) });
    run = runnerOf(createAgent({ name: "a", model, tools: [first, recordingTool("second"), recordingTool("third")], rules })).run("go");
    await run.outcome;
    expect(skipped).toEqual([["second", "third"]]);
  });
});

describe("built-in rules in a run", () => {
  it("guard its budget: turns, tool calls, money and time end it with their own reason [CE-13]", async () => {
    const turns = (): ScriptedTurn[] => Array.from({ length: 20 }, (_, n) => look({ n }));
    const exit = async (rule: Rule, options: Partial<Parameters<typeof createAgent>[0]> = {}) =>
      runnerOf(agentWith(turns(), [rule], options).agent).run("go").outcome;
    expect(await exit(budgetGuard({ maxTurns: 2 }))).toMatchObject({ reason: "max-turns", turns: 2 });
    expect((await exit(budgetGuard({}))).reason).toBe("max-turns");
    expect((await exit(budgetGuard({ maxToolCalls: 3 }))).reason).toBe("budget-exhausted");
    const price = { input: "1000", output: "1000", asOf: "2026-01-01" };
    expect((await exit(budgetGuard({ maxCost: usd("0.04") }), { model: scriptedModel(turns(), { price }) })).reason).toBe(
      "budget-exhausted",
    );
    const clock = impatientClock();
    const tool = recordingTool("look", { effect: "read", output: () => (clock.advance(200), "later") });
    expect(
      (
        await runnerOf(
          createAgent({ name: "a", model: scriptedModel(turns()), tools: [tool], rules: [budgetGuard({ maxDurationMs: 300 })] }),
          { clock },
        ).run("go").outcome
      ).reason,
    ).toBe("timeout");
  });

  it("warn the model when the run gets expensive [CE-14]", async () => {
    const price = { input: "1000", output: "1000", asOf: "2026-01-01" };
    const usage = { inputTokens: 600, outputTokens: 0 };
    const warn = ruleWhen(
      "warn_high_cost",
      50,
      ({ metrics, messages }) => Number(metrics.cost) > 1 && !messages.some(({ role }) => role === "system"),
      ({ context }) => context.injectSystem("This is getting expensive."),
    );
    const model = scriptedModel(
      [1, 2, 3].map((n): ScriptedTurn => ({ toolCalls: [{ name: "look", input: { n } }], usage })).concat("done" as never),
      { price },
    );
    const { agent } = agentWith([], [warn], { model });
    await runnerOf(agent).run("go").outcome;
    const warned = model.requests.map(({ messages }) => messages.filter(({ role }) => role === "system").length);
    expect(warned).toEqual([0, 0, 1, 1]);
  });

  it("remind the model after each response, before the next inference [CE-15]", async () => {
    const { agent, model } = agentWith([look(), "done"], [injectReminder("Stay on topic.")]);
    const { outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "system", "tool"]);
  });

  it("record telemetry without changing the run, also when the recorder throws [CE-16]", async () => {
    const entries: string[] = [];
    const plain = await watch(runnerOf(agentWith([look(), "done"], []).agent).run("go"));
    const told = await watch(
      runnerOf(
        agentWith(
          [look(), "done"],
          [telemetryRecorder(({ operation, metrics }) => void entries.push(`${operation} ${metrics.turnsCompleted}`))],
        ).agent,
      ).run("go"),
    );
    expect(entries).toEqual([
      "compile 0",
      "append-response 0",
      "infer 0",
      "execute-tool 0",
      "exit-check 0",
      "compile 1",
      "append-response 1",
      "infer 1",
      "exit-check 1",
    ]);
    expect(types(told.events)).toEqual(types(plain.events));
    const broken = await watch(
      runnerOf(
        agentWith(
          [look(), "done"],
          [
            telemetryRecorder(() => {
              throw new Error("no disk");
            }),
          ],
        ).agent,
      ).run("go"),
    );
    expect(broken.outcome.reason).toBe("complete");
    expect(ofType(broken.events, "status")[0]).toMatchObject({ level: "warn", status: expect.stringContaining("no disk") });
  });

  it("that throw end the run as a panic that names the rule, with a terminal event [ET-06]", async () => {
    const { agent, tool } = agentWith(
      [look(), "never"],
      [
        ruleBefore("execute-tool", "careless", 0, () => {
          throw new TypeError("of undefined");
        }),
      ],
    );
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.error?.failure).toMatchObject({ kind: "panic", callback: "rule careless" });
    expect(types(events).at(-1)).toBe("error");
    expect(tool.calls).toEqual([]);
  });

  it("are decided once for each place of a run: what a suspended run decided is read when it goes on [CE-18]", async () => {
    const services = sharedServices();
    let decided = 0;
    const model = scriptedModel([{ toolCalls: [{ name: "deploy", input: {} }] }, "done"]);
    const deploy = recordingTool("deploy", { effect: "write", risk: "high" });
    const agent = createAgent({
      name: "a",
      model,
      tools: [deploy],
      rules: [
        ruleBefore("execute-tool", "stamp", 0, () => ({ type: "modify-input", input: { name: "deploy", input: { stamp: ++decided } } })),
      ],
    });
    const runner = createRunner({ ...services, agent });
    const first = await runner.run("go", { session: "s" }).outcome;
    const [wait] = first.waits ?? [];
    await runner.approve((wait as { readonly token: string }).token, { type: "allow" });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    expect([decided, deploy.calls]).toEqual([1, [{ stamp: 1 }]]);
  });

  it("ask no predicate again whose verdict the log holds, whatever it would say by now [CE-12, CE-18]", async () => {
    const services = sharedServices();
    const asked: string[] = [];
    const model = scriptedModel([{ toolCalls: [{ name: "deploy", input: {} }] }, "done"]);
    const deploy = recordingTool("deploy", { effect: "write", risk: "high" });
    // Both predicates change their mind once the run waits.
    let isLater = false;
    const stamping = (name: string, stamp: JsonObject, holds: () => boolean): Rule =>
      ruleWhen(
        name,
        0,
        ({ messages }) => (messages.at(-1)?.content[0]?.type === "tool-call" && asked.push(name), holds()),
        ({ operation }) => (operation === "execute-tool" ? { type: "modify-input", input: { name: "deploy", input: stamp } } : undefined),
      );
    const rules = [stamping("early", { by: "early" }, () => !isLater), stamping("late", { by: "late" }, () => isLater)];
    const runner = createRunner({ ...services, agent: createAgent({ name: "a", model, tools: [deploy], rules }) });
    const first = await runner.run("go", { session: "s" }).outcome;
    const [wait] = first.waits ?? [];
    expect(asked).toEqual(["early", "late"]);
    isLater = true;
    await runner.approve((wait as { readonly token: string }).token, { type: "allow" });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    expect(deploy.calls).toEqual([{ by: "early" }]);
    expect(asked).toEqual(["early", "late"]);
  });
});
