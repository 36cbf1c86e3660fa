import { agentTool, createAgent, createModelRegistry, createRunner } from "keelson";
import type { AgentOptions, ExtractContext } from "keelson/agent";
import { ruleBefore } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import type { InferRequest, JsonObject, Message } from "@keelson/protocol";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { ofType, recordingTool, runnerOf, types, watch } from "./support.ts";

const invoice = z.object({ total: z.number(), currency: z.string().default("EUR") });
const giveOutput = (input: object, text?: string): ScriptedTurn => ({
  ...(text !== undefined && { text }),
  toolCalls: [{ name: "final_answer", input: input as JsonObject }],
});
const look: ScriptedTurn = { toolCalls: [{ name: "look", input: {} }] };

function clerk(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns);
  return { model, runner: runnerOf(createAgent({ name: "clerk", model, ...(options as object), output: invoice })) };
}

function told(request: InferRequest | undefined): string {
  const last = request?.messages.at(-1) as Message;
  return last.content.map((part) => (part.type === "text" ? part.text : part.type === "tool-result" ? String(part.output) : "")).join("\n");
}

describe("a structured output that is given by a tool", () => {
  it("is the default: the call of a tool made of the schema ends the run, and its input is the output [MC-06, AG-14]", async () => {
    const { model, runner } = clerk([giveOutput({ total: 12.5 })]);
    const { outcome, events } = await watch(runner.run("How much?"));
    expectTypeOf(outcome.output).toEqualTypeOf<{ total: number; currency: string } | undefined>();
    expect(outcome).toMatchObject({ reason: "complete", turns: 1, output: { total: 12.5, currency: "EUR" } });
    expect(outcome.text).toBe('{"total":12.5,"currency":"EUR"}');
    const [request] = model.requests;
    expect(request?.output).toBeUndefined();
    expect(request?.tools).toEqual([
      {
        name: "final_answer",
        description: expect.stringContaining("final answer"),
        inputSchema: expect.objectContaining({ type: "object", properties: expect.objectContaining({ total: { type: "number" } }) }),
      },
    ]);
    expect(types(events).filter((type) => /^(tool-|turn|run-(result|complete))/.test(type))).toEqual([
      "turn-start",
      "tool-call-start",
      "tool-call-delta",
      "tool-call-end",
      "tool-calls-start",
      "tool-result",
      "tool-calls-complete",
      "turn-end",
      "run-result",
      "run-complete",
    ]);
    expect(ofType(events, "tool-result")[0]).toMatchObject({ name: "final_answer", isError: false });
    expect(ofType(events, "run-complete")[0]?.output).toEqual({ total: 12.5, currency: "EUR" });
  });

  it("is offered behind the agent's own tools, which stay free to be used before it [MC-06]", async () => {
    const tool = recordingTool("look", { effect: "read" });
    const { model, runner } = clerk([look, giveOutput({ total: 1 })], { tools: [tool] });
    expect(await runner.run("go").outcome).toMatchObject({ reason: "complete", turns: 2, output: { total: 1 } });
    expect(tool.calls).toHaveLength(1);
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(["look", "final_answer"]);
    expect(model.requests[1]?.tools).toEqual(model.requests[0]?.tools);
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, undefined]);
  });

  it("is forced where nothing else can be called, or the model just responded otherwise; never while it thinks, nor against the settings", async () => {
    const choices = async (turns: readonly ScriptedTurn[], options: Partial<AgentOptions>) => {
      const { model, runner } = clerk(turns, options);
      await runner.run("go").outcome;
      return model.requests.map(({ toolChoice }) => toolChoice);
    };
    const tools = [recordingTool("look", { effect: "read" })];
    const turns = ["It is one.", giveOutput({ total: 1 })];
    expect(await choices([giveOutput({ total: 1 })], {})).toEqual(["required"]);
    expect(await choices(turns, { tools })).toEqual([undefined, "required"]);
    expect(await choices(["It is one.", look, giveOutput({ total: 1 })], { tools })).toEqual([undefined, "required", undefined]);
    expect(await choices(turns, { thinking: { type: "adaptive" } })).toEqual([undefined, undefined]);
    expect(await choices(turns, { thinking: { type: "disabled" } })).toEqual(["required", "required"]);
    expect(await choices(turns, { settings: { toolChoice: "auto" } })).toEqual(["auto", "auto"]);
  });

  it("can have another name and description; a name that a tool has already is refused when the agent is made", async () => {
    const model = scriptedModel([{ toolCalls: [{ name: "Submit", input: { total: 2 } }] }]);
    const options = { name: "a", model, output: invoice } as const;
    const agent = createAgent({ ...options, outputMode: { type: "tool", name: "submit", description: "Hand it in." } });
    expect((await runnerOf(agent).run("go").outcome).output).toEqual({ total: 2, currency: "EUR" });
    expect(model.requests[0]?.tools?.[0]).toMatchObject({ name: "submit", description: "Hand it in." });
    expect(() => createAgent({ ...options, tools: [recordingTool("Final_Answer")] })).toThrow(/outputMode.*"Final_Answer"/);
    const aliased = { ...recordingTool("reply"), aliases: ["final_answer"] };
    expect(() => createAgent({ ...options, tools: [aliased] })).toThrow(/outputMode.*"reply"/);
    expect(() =>
      createAgent({ ...options, tools: [recordingTool("submit")] }).with({ outputMode: { type: "tool", name: "submit" } }),
    ).toThrow(/outputMode/);
  });

  it("does not count when it comes with other calls: they run, and the model reads their results first", async () => {
    const tool = recordingTool("look", { effect: "read", output: () => "It is 7." });
    const { model, runner } = clerk(
      [{ toolCalls: [{ name: "final_answer", input: { total: 3 } }, { name: "look" }] }, giveOutput({ total: 7 })],
      { tools: [tool] },
    );
    const { outcome, events } = await watch(runner.run("go"));
    expect(outcome).toMatchObject({ reason: "complete", turns: 2, output: { total: 7 } });
    expect(tool.calls).toHaveLength(1);
    expect(ofType(events, "tool-result").map(({ name, isError }) => [name, isError])).toEqual([
      ["final_answer", true],
      ["look", false],
      ["final_answer", false],
    ]);
    expect(ofType(events, "tool-result")[0]?.output).toMatch(/without their results/);
    expect(model.requests).toHaveLength(2);
  });

  it("is the first that fits where several are given at once, and each call has its response", async () => {
    const { runner } = clerk([
      {
        toolCalls: [
          { name: "final_answer", input: { total: "1" } },
          { name: "final_answer", input: { total: 2 } },
          { name: "final_answer", input: { total: 3 } },
        ],
      },
    ]);
    const { outcome, events } = await watch(runner.run("go"));
    expect(outcome.output).toEqual({ total: 2, currency: "EUR" });
    expect(ofType(events, "tool-result").map(({ isError }) => isError)).toEqual([true, false, true]);
  });

  it("is taken, and its call has a result, also where the vendor paused behind it; after a text such a pause is gone on with [MC-06]", async () => {
    const pause = { stopReason: "pause" as const };
    const { model, runner } = clerk([
      { text: "Let me see.", ...pause },
      { ...(giveOutput({ total: 9 }) as object), ...pause },
    ]);
    const { outcome, events } = await watch(runner.run("go"));
    expect(outcome).toMatchObject({ reason: "complete", turns: 1, output: { total: 9, currency: "EUR" } });
    expect(ofType(events, "tool-result").map(({ name, isError }) => [name, isError])).toEqual([["final_answer", false]]);
    expect(model.requests).toHaveLength(2);
  });

  it("is given back where it is wrong, also where the vendor paused behind it: no request holds a call without its result", async () => {
    const { model, runner } = clerk([{ ...(giveOutput({ total: "nine" }) as object), stopReason: "pause" }, giveOutput({ total: 9 })]);
    expect(await runner.run("go").outcome).toMatchObject({ reason: "complete", turns: 1, output: { total: 9 } });
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(model.requests).toHaveLength(2);
  });

  it("is taken from a text that is nothing but it; any other text is given back", async () => {
    expect(await clerk(['```json\n{"total": 4}\n```']).runner.run("go").outcome).toMatchObject({ output: { total: 4 }, turns: 1 });
    const { model, runner } = clerk(['The total is {"total": 4}.', giveOutput({ total: 4 })]);
    expect(await runner.run("go").outcome).toMatchObject({ output: { total: 4 }, turns: 1 });
    expect(told(model.requests[1])).toMatch(/not given by a call of final_answer[^]*calling final_answer/);
  });

  it("may be written with a slip that is safe to repair", async () => {
    const turns = [{ toolCalls: [{ name: "final_answer", inputText: "{'total': 5,}" }] }];
    expect((await clerk(turns).runner.run("go").outcome).output).toEqual({ total: 5, currency: "EUR" });
  });

  it("ends the run `max-output` when it was cut off at its token limit; with onMaxTokens `continue` the model is told to be shorter", async () => {
    const cut: ScriptedTurn = { toolCalls: [{ name: "final_answer", inputText: '{"total": 1' }], stopReason: "max-tokens" };
    const { outcome, events } = await watch(clerk([cut]).runner.run("go"));
    expect(outcome.reason).toBe("max-output");
    expect("output" in outcome).toBe(false);
    expect(ofType(events, "tool-result")).toHaveLength(1);
    const { model, runner } = clerk([cut, giveOutput({ total: 1 })], { onMaxTokens: "continue" });
    expect(await runner.run("go").outcome).toMatchObject({ reason: "complete", output: { total: 1 } });
    expect(told(model.requests[1])).toMatch(/cut off at its token limit/);
  });

  it("leaves a conversation that the next run of the session can go on with", async () => {
    const { model, runner } = clerk([giveOutput({ total: 1 }), giveOutput({ total: 2 })]);
    await runner.run("one", { session: "s" }).outcome;
    expect((await runner.run("two", { session: "s" }).outcome).output).toEqual({ total: 2, currency: "EUR" });
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  });

  it("is asked for again when somebody steers while it is given", async () => {
    const steering: { steer?: () => Promise<void> } = {};
    const { model, runner } = clerk([
      async () => {
        await steering.steer?.();
        return giveOutput({ total: 1 }) as object;
      },
      giveOutput({ total: 2 }),
    ]);
    const run = runner.run("go");
    steering.steer = () => run.steer("In dollars.");
    const outcome = await run.outcome;
    expect(outcome).toMatchObject({ reason: "complete", turns: 2, output: { total: 2 } });
    expect(told(model.requests[1])).toBe("In dollars.");
  });

  it.each(["tool", "native"] as const)(
    "counts no response that was wrong when somebody steers while it is given, in mode %s",
    async (outputMode) => {
      const steering: { steer?: () => Promise<void> } = {};
      const turns = [giveOutput({}), giveOutput({ total: 2 })].map((turn) =>
        outputMode === "tool"
          ? turn
          : JSON.stringify((turn as { readonly toolCalls: readonly { readonly input: unknown }[] }).toolCalls[0]?.input),
      );
      const { runner } = clerk(
        [
          async () => {
            await steering.steer?.();
            return turns[0] as string;
          },
          turns[1] as string,
        ],
        { outputMode, limits: { maxRepairs: 0 } },
      );
      const run = runner.run("go");
      steering.steer = () => run.steer("In dollars.");
      expect(await run.outcome).toMatchObject({ reason: "complete", turns: 2, output: { total: 2 } });
    },
  );

  it("is none of a run that was halted in the end", async () => {
    const halt = ruleBefore("exit-check", "halt", 0, () => ({ type: "halt", reason: "enough" }));
    const outcome = await clerk([giveOutput({ total: 1 })], { rules: [halt] }).runner.run("go").outcome;
    expect(outcome.reason).toBe("halted");
    expect("output" in outcome).toBe(false);
  });

  it("is told to the agent that has this one as a tool", async () => {
    const helper = createAgent({ name: "helper", model: scriptedModel([giveOutput({ total: 9 }, "Here you are:")]), output: invoice });
    const model = scriptedModel([{ toolCalls: [{ name: "helper", input: { task: "go" } }] }, "done"]);
    const { events } = await watch(runnerOf(createAgent({ name: "boss", model, tools: [agentTool(helper)] })).run("go"));
    const results = ofType(events, "tool-result").filter(({ name }) => name === "helper");
    expect(results.map(({ output, isError }) => [output, isError])).toEqual([['{"total":9,"currency":"EUR"}', false]]);
  });
});

describe("a response that does not give the output", () => {
  it("goes back to the model with what is wrong with it, within the turn [AG-15, MC-06]", async () => {
    const { model, runner } = clerk([giveOutput({ total: "12" }), "twelve", giveOutput({ total: 12 })], { limits: { maxTurns: 1 } });
    const { outcome, events } = await watch(runner.run("go"));
    expect(outcome).toMatchObject({ reason: "complete", turns: 1, output: { total: 12 } });
    expect(told(model.requests[1])).toMatch(/- total: .*expected number/);
    expect(model.requests[1]?.messages.at(-1)?.role).toBe("tool");
    expect(model.requests[2]?.messages.at(-1)?.role).toBe("user");
    expect(ofType(events, "turn-start")).toHaveLength(1);
    expect(ofType(events, "usage")).toHaveLength(3);
  });

  it("may use tools before it tries again", async () => {
    const tool = recordingTool("look", { effect: "read" });
    const { runner } = clerk([giveOutput({}), look, giveOutput({ total: 1 })], { tools: [tool] });
    expect(await runner.run("go").outcome).toMatchObject({ output: { total: 1 }, turns: 2 });
    expect(tool.calls).toHaveLength(1);
  });

  it.each([
    ["tool", giveOutput({ total: "x" }), /"total":"x"/],
    ["native", '{"total": "x"}', /"total": "x"/],
    ["prompt", 'It is {"total": "x"}.', /It is \{"total": "x"\}/],
  ] as const)("fails the run once there were repairs enough, and says why, in mode %s [MC-06, AG-14]", async (outputMode, turn, text) => {
    const { model, runner } = clerk([turn, turn, turn, turn], { outputMode });
    const { outcome, events } = await watch(runner.run("go"));
    expect(model.requests).toHaveLength(3);
    expect(outcome.reason).toBe("error");
    expect(outcome.error?.failure).toMatchObject({
      kind: "invalid-output",
      issues: [expect.stringMatching(/^total: .*number/)],
      text: expect.stringMatching(text),
      message: expect.stringMatching(/after 2 repairs.*total/),
    });
    expect("output" in outcome).toBe(false);
    expect(types(events).at(-1)).toBe("error");
    expect(types(events)).not.toContain("run-result");
  });

  it("is given back as often as `limits.maxRepairs` says, in all of the run, and never past `limits.maxModelCalls`", async () => {
    const wrong = giveOutput({});
    const calls = async (limits: NonNullable<AgentOptions["limits"]>, turns: readonly ScriptedTurn[]) => {
      const { model, runner } = clerk(turns, { limits, tools: [recordingTool("look", { effect: "read" })] });
      const { reason } = await runner.run("go").outcome;
      return [reason, model.requests.length];
    };
    expect(await calls({ maxRepairs: 0 }, [wrong, wrong])).toEqual(["error", 1]);
    expect(await calls({ maxRepairs: 1 }, [wrong, look, wrong, wrong])).toEqual(["error", 3]);
    expect(await calls({ maxRepairs: 3 }, [wrong, wrong, wrong, giveOutput({ total: 1 })])).toEqual(["complete", 4]);
    expect(await calls({ maxRepairs: 9, maxModelCalls: 2 }, [wrong, wrong, wrong])).toEqual(["max-turns", 2]);
  });

  it("is an empty response, too, and nothing is made of one that the vendor withheld", async () => {
    const { model, runner } = clerk(["", giveOutput({ total: 1 })], { outputMode: "tool" });
    expect((await runner.run("go").outcome).output).toEqual({ total: 1, currency: "EUR" });
    expect(model.requests).toHaveLength(2);
    const withheld = clerk([{ text: '{"total": 1}', stopReason: "content-filter" }], { outputMode: "native" });
    const outcome = await withheld.runner.run("go").outcome;
    expect(outcome.reason).toBe("safety-stop");
    expect("output" in outcome).toBe(false);
  });
});

describe("a structured output by the vendor's native means", () => {
  it("is asked for in the request, and read from the text even where words stand around it [MC-06, AG-14]", async () => {
    const { model, runner } = clerk(['Sure: {"total": 3}'], { outputMode: "native" });
    expect(await runner.run("go").outcome).toMatchObject({ output: { total: 3 }, text: 'Sure: {"total": 3}' });
    expect(model.requests[0]?.output).toMatchObject({
      name: "clerk",
      schema: { type: "object", properties: { total: { type: "number" } } },
    });
    expect(model.requests[0]?.tools).toBeUndefined();
    expect(model.requests[0]?.toolChoice).toBeUndefined();
  });

  it("is put together where it was cut off and gone on with", async () => {
    const { runner } = clerk([{ text: '{"tot', stopReason: "max-tokens" }, 'al": 3}'], { outputMode: "native", onMaxTokens: "continue" });
    expect(await runner.run("go").outcome).toMatchObject({ reason: "complete", output: { total: 3 }, turns: 1 });
  });

  it("is refused for a model that can't, when the runner is made, or when such a model is switched to [MC-06]", async () => {
    const models = createModelRegistry({
      providers: { v: scriptedModel([giveOutput({ total: 1 }), giveOutput({ total: 1 })], { name: "v" }) },
      facts: {
        old: { capabilities: { structuredOutput: false } },
        mute: { capabilities: { toolCalling: false } },
      },
    });
    const make = (model: string, outputMode: "native" | "tool" | "prompt") =>
      createRunner({ agent: createAgent({ name: "a", model, output: invoice, outputMode }), models });
    expect(() => make("v/old", "native")).toThrow(/outputMode "native".*v\/old.*use "tool"/);
    expect(() => make("v/mute", "tool")).toThrow(/outputMode "tool" needs a model that calls tools.*v\/mute.*"native"/);
    expect(() => make("v/old", "tool")).not.toThrow();
    expect(() => make("v/mute", "prompt")).not.toThrow();
    const outcome = await make("v/new", "native").run("go", { model: "v/old" }).outcome;
    expect(outcome.error?.failure).toMatchObject({ kind: "model", message: expect.stringMatching(/outputMode "native"/) });
  });
});

describe("a structured output that is told in the prompt", () => {
  const read = async (text: string) => {
    const { runner } = clerk([text], { outputMode: "prompt", limits: { maxRepairs: 0 } });
    const { output, error } = await runner.run("go").outcome;
    return output ?? (error?.failure as { readonly issues: readonly string[] }).issues;
  };

  it("is the first JSON in the text that fits, whatever stands around it [MC-06, AG-14]", async () => {
    const { model, runner } = clerk(['{"total": 6}'], { outputMode: "prompt", instructions: "Add up." });
    expect((await runner.run("go").outcome).output).toEqual({ total: 6, currency: "EUR" });
    expect(model.requests[0]?.system).toMatch(/^Add up\.\n\n[^]*JSON Schema[^]*"total"/);
    expect(model.requests[0]).not.toHaveProperty("output");
    expect(model.requests[0]).not.toHaveProperty("tools");
  });

  it.each([
    ["alone", '{"total": 1, "currency": "USD"}', { total: 1, currency: "USD" }],
    ["in a fence", 'Here:\n```json\n{"total": 2}\n```\nAnything else?', { total: 2, currency: "EUR" }],
    ["behind something in brackets", 'As [1] says {sic}, it is {"total": 3}.', { total: 3, currency: "EUR" }],
    ["behind JSON that does not fit", 'From {"sum": 1} follows {"total": 4}', { total: 4, currency: "EUR" }],
    ["behind many citations", `${"[1] ".repeat(100)}{"total": 6}`, { total: 6, currency: "EUR" }],
    ["with a slip", "It is {'total': 5,}", { total: 5, currency: "EUR" }],
  ])("is found %s", async (_where, text, expected) => {
    expect(await read(text)).toEqual(expected);
  });

  it.each([
    ["It is twelve.", ["there is no complete JSON in the response"]],
    ['{"total": 1, "lines": [1, 2', ["there is no complete JSON in the response"]],
    [`${"[1] ".repeat(1_001)}{"total": 1}`, [expect.stringContaining("expected object")]],
    ['[1] {"total": "all of it"} {"a": 1}', [expect.stringMatching(/^total: .*string/)]],
  ])("is not found in %s, and the model is told why", async (text, issues) => {
    expect(await read(text)).toEqual(issues);
  });
});

describe("a structured output that a function of the user reads", () => {
  it("is what the function gives, held against the schema; the model is told nothing of it [MC-06, AG-14]", async () => {
    const asked: { readonly text: string; readonly context: ExtractContext }[] = [];
    const extract = async (text: string, context: ExtractContext) => {
      asked.push({ text, context });
      const found = /total: (\S+)/.exec(text)?.[1];
      return found === undefined ? undefined : { total: Number(found) };
    };
    const { model, runner } = clerk(["no idea", "total: much", "total: 8"], { outputMode: { type: "custom", extract } });
    const run = runner.run("go", { session: "s" });
    expect(await run.outcome).toMatchObject({ reason: "complete", output: { total: 8, currency: "EUR" }, text: "total: 8" });
    expect(model.requests[0]).toMatchObject({ messages: [{ role: "user" }] });
    for (const member of ["output", "tools", "system"]) expect(model.requests[0]).not.toHaveProperty(member);
    expect(told(model.requests[1])).toMatch(/no output was found/);
    expect(told(model.requests[2])).toMatch(/total: .*number/);
    expect(asked.map(({ text, context }) => [text, context.repairs])).toEqual([
      ["no idea", 0],
      ["total: much", 1],
      ["total: 8", 2],
    ]);
    expect(asked[0]?.context).toMatchObject({
      session: "s",
      runId: run.id,
      model: "scripted/model",
      message: { role: "assistant", content: [{ type: "text", text: "no idea" }] },
      schema: { type: "object" },
    });
  });

  it("may be read from a response without a word", async () => {
    const { runner } = clerk([""], { outputMode: { type: "custom", extract: () => ({ total: 0 }) } });
    expect(await runner.run("go").outcome).toMatchObject({ reason: "complete", output: { total: 0 } });
  });

  it("ends the run as a panic when the function throws, or the schema does [ET-06]", async () => {
    const thrown = () => {
      throw new Error("no parser");
    };
    const custom = clerk(["text"], { outputMode: { type: "custom", extract: thrown } });
    expect((await custom.runner.run("go").outcome).error?.failure).toMatchObject({
      kind: "panic",
      callback: "outputMode.extract",
      message: expect.stringContaining("no parser"),
    });
    for (const outputMode of ["tool", "native"] as const) {
      const output = z.object({ total: z.number().refine(thrown) });
      const model = scriptedModel([outputMode === "tool" ? giveOutput({ total: 1 }) : '{"total": 1}']);
      const { error } = await runnerOf(createAgent({ name: "a", model, output, outputMode })).run("go").outcome;
      expect(error?.failure).toMatchObject({ kind: "panic", callback: "output", message: expect.stringContaining("no parser") });
    }
  });
});

describe("the schema of a structured output", () => {
  it("may be a plain JSON Schema, which is told to the model and checked [AG-15]", async () => {
    const schema = {
      type: "object",
      properties: { count: { type: "integer", minimum: 1 } },
      required: ["count"],
      additionalProperties: false,
    };
    const model = scriptedModel([giveOutput({ count: 0.5, more: 1 }), giveOutput({ count: 3 })]);
    const outcome = await runnerOf(createAgent({ name: "a", model, output: schema })).run("go").outcome;
    expect(outcome.output).toEqual({ count: 3 });
    expect(model.requests[0]?.tools?.[0]?.inputSchema).toEqual(schema);
    expect(told(model.requests[1])).toMatch(/count[^]*more/);
  });

  it("may check asynchronously, and change what the model wrote", async () => {
    const output = z.object({
      day: z
        .string()
        .refine(async (day) => Promise.resolve(/^\d{4}-/.test(day)), "must be a date")
        .transform((day) => new Date(day)),
    });
    const model = scriptedModel([giveOutput({ day: "today" }), giveOutput({ day: "2026-01-02" })]);
    const schema = { schema: output, jsonSchema: { type: "object", properties: { day: { type: "string" } }, required: ["day"] } };
    const { outcome, events } = await watch(runnerOf(createAgent({ name: "a", model, output: schema })).run("go"));
    expect(outcome.output).toEqual({ day: new Date("2026-01-02") });
    expect(ofType(events, "run-complete")[0]?.output).toEqual({ day: "2026-01-02T00:00:00.000Z" });
    expect(told(model.requests[1])).toMatch(/day: must be a date/);
  });

  it.each([
    ["a list", z.array(z.number()), [1, 2]],
    ["a text", z.string(), "yes"],
    ["a choice", z.enum(["red", "green"]), "green"],
    ["nothing or a number", z.number().nullable(), null],
  ] as const)("may describe %s, which the model gives within an object", async (_what, output, value) => {
    for (const outputMode of ["tool", "native", "prompt"] as const) {
      const turn = outputMode === "tool" ? giveOutput({ answer: value }) : JSON.stringify({ answer: value });
      const model = scriptedModel([turn]);
      const outcome = await runnerOf(createAgent({ name: "a", model, output: output as z.ZodType<unknown>, outputMode } as never)).run("go")
        .outcome;
      expect(outcome).toMatchObject({ reason: "complete", output: value });
      const asked = outputMode === "tool" ? model.requests[0]?.tools?.[0]?.inputSchema : model.requests[0]?.output?.schema;
      if (outputMode !== "prompt") expect(asked).toMatchObject({ type: "object", required: ["answer"] });
    }
    const bare = scriptedModel([JSON.stringify(value)]);
    const agent = createAgent({ name: "a", model: bare, output: output as z.ZodType<unknown>, outputMode: "prompt" } as never);
    expect(await runnerOf(agent).run("go").outcome).toMatchObject({ reason: "complete", output: value });
  });

  it("is told of within that object", async () => {
    const model = scriptedModel([giveOutput({}), giveOutput({ answer: [1, "2"] }), giveOutput({ answer: [3] })]);
    const outcome = await runnerOf(createAgent({ name: "a", model, output: z.array(z.number()) })).run("go").outcome;
    expect(outcome.output).toEqual([3]);
    expect(told(model.requests[1])).toContain("answer: is missing");
    expect(told(model.requests[2])).toMatch(/answer\[1\]: .*number/);
  });

  it("may be a union of objects", async () => {
    const output = z.discriminatedUnion("kind", [z.object({ kind: z.literal("a"), a: z.number() }), z.object({ kind: z.literal("b") })]);
    const model = scriptedModel([giveOutput({ kind: "b" })]);
    expect((await runnerOf(createAgent({ name: "a", model, output })).run("go").outcome).output).toEqual({ kind: "b" });
    expect(model.requests[0]?.tools?.[0]?.inputSchema).toMatchObject({ type: "object" });
  });
});

it.each<[string, object]>([
  ["outputMode", { outputMode: "xml", output: invoice }],
  ["outputMode", { outputMode: { type: "native" }, output: invoice }],
  ["outputMode", { outputMode: "native" }],
  ["outputMode.extract", { outputMode: { type: "custom" }, output: invoice }],
  ["outputMode.name", { outputMode: { type: "tool", name: "two words" }, output: invoice }],
  ["outputMode.description", { outputMode: { type: "tool", description: 1 }, output: invoice }],
  ["settings.toolChoice", { settings: { toolChoice: "none" }, output: invoice }],
  ["limits.maxRepairs", { limits: { maxRepairs: -1 }, output: invoice }],
  ["output", { output: { type: 7 } }],
])("names the option %s of an output that is wrong: %o [AG-14, AG-15]", (option, change) => {
  expect(() => createAgent({ name: "a", model: "v/m", ...change } as never)).toThrow(
    expect.objectContaining({ failure: expect.objectContaining({ kind: "invalid-option", option }) }),
  );
});

it("belongs to an agent's digest, with its mode", () => {
  const options = { name: "a", model: "v/m", output: invoice } as const;
  const digests = [
    createAgent(options),
    createAgent({ ...options, outputMode: "native" }),
    createAgent({ ...options, outputMode: { type: "tool", name: "give" } }),
    createAgent({ ...options, outputMode: { type: "custom", extract: function first() {} } }),
    createAgent({ ...options, outputMode: { type: "custom", extract: function second() {} } }),
  ].map(({ digest }) => digest);
  expect(new Set(digests).size).toBe(digests.length);
});

describe("a structured output with an integer of more digits than a double keeps", () => {
  const digits = "1917043659912705296";
  const schema = { type: "object", properties: { id: {} }, required: ["id"] } as const;

  it.each([
    [
      "by a tool",
      "tool",
      { toolCalls: [{ name: "final_answer", inputText: `{"id":${digits}}` }] },
      { toolCalls: [{ name: "final_answer", input: { id: digits } }] },
    ],
    ["as the whole text", "prompt", { text: `{"id":${digits}}` }, { text: `{"id":"${digits}"}` }],
    ["within a text", "prompt", { text: `The note is {"rows":[{"id":-${digits}}],"id":1}.` }, { text: `{"id":"${digits}"}` }],
    ["in notation that is repaired", "prompt", { text: `{'id': ${digits},}` }, { text: `{"id":"${digits}"}` }],
    ["held to the schema by the vendor", "native", { text: `{"id":${digits}}` }, { text: `{"id":"${digits}"}` }],
  ] as const)("is invalid, and asked for again, if it is given %s", async (_, outputMode, wrong, right) => {
    const model = scriptedModel([wrong, right]);
    const runner = runnerOf(createAgent({ name: "clerk", model, output: schema, outputMode }));
    expect(await runner.run("Which note?").outcome).toMatchObject({ reason: "complete", output: { id: digits } });
    expect(told(model.requests[1])).toMatch(new RegExp(`id: -?${digits} has more digits than a number keeps: write it as text`));
  });

  it("ends the run as an invalid output if the model insists, and keeps the digits", async () => {
    const model = scriptedModel(Array.from({ length: 9 }, () => ({ text: `{"id":${digits}}` })));
    const runner = runnerOf(createAgent({ name: "clerk", model, output: schema, outputMode: "prompt" }));
    const outcome = await runner.run("Which note?").outcome;
    expect(outcome.reason).toBe("error");
    expect(outcome.error?.failure).toMatchObject({ kind: "invalid-output", text: `{"id":${digits}}` });
  });
});
