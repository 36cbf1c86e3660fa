import { agentTool, createAgent, createRunner, defineTool, type AgentOptions } from "keelson";
import type { Clock } from "keelson/session";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import {
  addUsd,
  compareUsd,
  textMessage,
  type Decision,
  type Tool,
  type ToolCall,
  type ToolInference,
  type ToolInferenceAnswer,
  type Usd,
} from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ofType, runnerOf, sharedServices, watch } from "./support.ts";

const PRICE = { input: "0", output: "1000", asOf: "2026-01-01" };
const CALL: ScriptedTurn = { toolCalls: [{ name: "sum", input: { of: "notes" } }] };

function asking(text: string, more: Partial<ToolInference> = {}): ToolInference {
  return { messages: [textMessage("user", text)], maxTokens: 100, ...more };
}

type Inferring = Tool & { readonly answers: ToolInferenceAnswer[]; readonly calls: ToolCall[] };

/** A tool that asks the model, and returns what it was told. */
function inferringTool(requests: readonly ToolInference[], fields: Partial<Pick<Tool, "effect" | "timeoutMs">> = {}): Inferring {
  const answers: ToolInferenceAnswer[] = [];
  const calls: ToolCall[] = [];
  const tool = defineTool({
    name: "sum",
    description: "Sums up.",
    effect: "read",
    input: { type: "object" },
    ...fields,
    async execute(_input, call) {
      calls.push(call);
      const given: ToolInferenceAnswer[] = [];
      for (const request of requests) given.push(await (call.infer as NonNullable<ToolCall["infer"]>)(request));
      answers.push(...given);
      return given.map((answer) => (answer.type === "response" ? answer.content : answer.reason)) as never;
    },
  });
  return Object.assign(tool, { answers, calls });
}

function agentOf(tool: Tool, turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  return createAgent({
    name: "a",
    model: scriptedModel(turns, { price: PRICE }),
    tools: [tool],
    permissions: { mode: "bypass-all" },
    ...options,
  } as AgentOptions);
}

function said(text: string, outputTokens = 1): ScriptedTurn {
  return { text, usage: { inputTokens: 3, outputTokens } };
}

describe("what a tool asks the model", () => {
  it("is answered by the model of the run, and counted with what the run itself uses", async () => {
    const tool = inferringTool([asking("Sum this up.", { system: "Be short.", temperature: 0, stopSequences: ["."] })]);
    const model = scriptedModel([CALL, said("A list of milk.", 4), said("done")], { price: PRICE });
    const { events, outcome } = await watch(runnerOf(agentOf(tool, [], { model })).run("go"));
    expect(tool.answers).toMatchObject([
      {
        type: "response",
        content: [{ type: "text", text: "A list of milk." }],
        model: "scripted/model",
        stopReason: "end-turn",
        usage: { inputTokens: 3, outputTokens: 4 },
      },
    ]);
    expect(model.requests[1]).toMatchObject({
      system: "Be short.",
      messages: [textMessage("user", "Sum this up.")],
      maxTokens: 100,
      temperature: 0,
      stopSequences: ["."],
    });
    expect(ofType(events, "usage").map(({ purpose }) => purpose)).toEqual([undefined, "tool", undefined]);
    expect(outcome.cost).toBe(ofType(events, "usage").reduce((sum, { cost }) => addUsd(sum, cost as Usd), "0" as Usd));
    expect(outcome.text).toBe("done");
    // Nothing of it is shown as if the run had said it, and what stands in its result nobody vouches for.
    expect(ofType(events, "message").filter(({ message }) => message.role === "assistant")).toHaveLength(2);
    expect(ofType(events, "text-delta").map(({ text }) => text)).toEqual(["done"]);
    expect(ofType(events, "tool-result")[0]?.untrusted).toEqual(["sum"]);
  });

  it("is told once: a call that is made again gets what it was told, and pays nothing for it", async () => {
    const shared = sharedServices();
    const requests = [asking("one"), asking("two")];
    const tool = defineTool({
      name: "sum",
      description: "Asks the model, then a person, then the model.",
      effect: "read",
      input: { type: "object" },
      async execute(_input, { ask, infer }) {
        const first = await infer?.(requests[0] as ToolInference);
        const person = await ask?.({ message: "Sure?" });
        return [first, person, await infer?.(requests[1] as ToolInference)] as never;
      },
    });
    const model = scriptedModel([CALL, said("first"), said("second"), said("done")], { price: PRICE });
    const runner = createRunner({ ...shared, agent: agentOf(tool, [], { model }) });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    expect(model.requests).toHaveLength(2);
    await runner.approve((waits?.[0] as { readonly token: string }).token, { type: "allow" });
    const { events, outcome } = await watch(await runner.resume("s"));
    expect(outcome.reason).toBe("complete");
    expect(model.requests.map(({ messages }) => messages.at(-1)?.content[0])).toMatchObject([{}, { text: "one" }, { text: "two" }, {}]);
    expect(ofType(events, "tool-result")).toMatchObject([
      { output: [{ content: [{ text: "first" }] }, { type: "provided" }, { content: [{ text: "second" }] }] },
    ]);
  });

  it("is told anew where it asks something else at that place", async () => {
    const shared = sharedServices();
    const request = { ...asking("one") };
    const tool = defineTool({
      name: "sum",
      description: "Asks the model, then a person.",
      effect: "read",
      input: { type: "object" },
      execute: async (_input, { ask, infer }) => [await infer?.(request), await ask?.({ message: "Sure?" })] as never,
    });
    const model = scriptedModel([CALL, said("first"), said("other"), said("done")]);
    const runner = createRunner({ ...shared, agent: agentOf(tool, [], { model }) });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    (request as { messages: ToolInference["messages"] }).messages = [textMessage("user", "two")];
    await runner.approve((waits?.[0] as { readonly token: string }).token, { type: "allow" });
    const { events } = await watch(await runner.resume("s"));
    expect(ofType(events, "tool-result")).toMatchObject([{ output: [{ content: [{ text: "other" }] }, {}] }]);
  });

  it("is refused, not thrown, where the model fails, and the run goes on", async () => {
    const tool = inferringTool([asking("one"), asking("two")]);
    const failing: ScriptedTurn = { error: { kind: "server-error", message: "overloaded" } };
    const { outcome } = await watch(runnerOf(agentOf(tool, [CALL, failing, said("two"), said("done")])).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(tool.answers).toMatchObject([{ type: "refused", reason: "overloaded" }, { type: "response" }]);
  });

  it("fails the call where it is no request, before anything is asked or paid", async () => {
    for (const request of [
      { messages: [], maxTokens: 5 },
      { messages: [textMessage("user", "x")], maxTokens: 0 },
      { messages: [{ role: "nobody", content: "x" }], maxTokens: 5 },
    ]) {
      const model = scriptedModel([CALL, said("done")]);
      const { events } = await watch(runnerOf(agentOf(inferringTool([request as never]), [], { model })).run("go"));
      expect(ofType(events, "tool-result")).toMatchObject([
        { isError: true, output: expect.stringContaining("nothing that can be asked") },
      ]);
      expect(model.requests).toHaveLength(2);
    }
  });

  it("is bounded: by limits.maxInferencesPerCall and by limits.maxModelCalls", async () => {
    const three = [asking("one"), asking("two"), asking("three")];
    const few = inferringTool(three);
    await runnerOf(agentOf(few, [CALL, said("one"), said("two"), said("done")], { limits: { maxInferencesPerCall: 2 } })).run("go").outcome;
    expect(few.answers.map(({ type }) => type)).toEqual(["response", "response", "refused"]);

    const none = inferringTool(three);
    await runnerOf(agentOf(none, [CALL, said("one"), said("done")], { limits: { maxModelCalls: 2 } })).run("go").outcome;
    expect(none.answers).toMatchObject([
      { type: "response" },
      { type: "refused", reason: expect.stringContaining("limits.maxModelCalls is 2") },
      { type: "refused" },
    ]);
  });

  it("is asked one after another, so that several at once do not pass a limit together", async () => {
    const answers: (ToolInferenceAnswer | undefined)[] = [];
    const tool = defineTool({
      name: "sum",
      description: "Asks three things at once.",
      effect: "read",
      input: { type: "object" },
      async execute(_input, { infer }) {
        answers.push(...(await Promise.all(["one", "two", "three"].map((text) => infer?.(asking(text))))));
        return "asked";
      },
    });
    const turns = [CALL, said("one"), said("two"), said("three"), said("done")];
    await runnerOf(agentOf(tool, turns, { limits: { maxModelCalls: 2, maxCost: "100" } })).run("go").outcome;
    expect(answers.map((answer) => answer?.type)).toEqual(["response", "refused", "refused"]);
  });

  it("is cut off when its call runs out of time: what it may have cost is paid", async () => {
    const tool = inferringTool([asking("one")], { timeoutMs: 30 });
    let timeIsOver = (): void => {};
    const never: ScriptedTurn = {
      text: "never",
      wait() {
        timeIsOver();
        return new Promise(() => {});
      },
    };
    const clock: Clock = {
      now: () => 1_000_000,
      after(ms, run, timer) {
        if (ms === 30) timeIsOver = run;
        else if (timer?.keepAlive !== false) queueMicrotask(run);
        return () => {};
      },
    };
    const agent = agentOf(tool, [CALL, never, said("done")], { limits: { maxCost: "10" } });
    const { events, outcome } = await watch(createRunner({ agent, clock }).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "tool-result")).toMatchObject([{ isError: true, output: expect.stringContaining("30 ms") }]);
    const [, paid] = ofType(events, "usage");
    expect(paid).toMatchObject({ purpose: "tool", estimated: true });
    expect(paid?.seq).toBeLessThan(ofType(events, "tool-result")[0]?.seq ?? 0);
  });
});

describe("whether a tool may ask the model", () => {
  const asker = () => inferringTool([asking("Sum this up.", { from: "notes" }), asking("And this.", { from: "notes" })]);
  const turns = [CALL, said("one"), said("two"), said("done")];

  async function answersUnder(permissions: AgentOptions["permissions"], decision?: Decision): Promise<readonly string[]> {
    const tool = asker();
    const agent = agentOf(tool, turns, { permissions: permissions as never });
    await runnerOf(agent, decision ? { approvals: () => decision } : {}).run("go").outcome;
    return tool.answers.map((answer) => (answer.type === "refused" ? answer.reason : answer.type));
  }

  it("is asked of a person in the default mode, who is shown who asks and the prompt", async () => {
    const tool = asker();
    const asked: unknown[] = [];
    const approvals = (request: { readonly operation: string; readonly input: unknown; readonly type: string }): Decision => {
      asked.push(request);
      return { type: "allow" };
    };
    await runnerOf(agentOf(tool, turns, { permissions: {} }), { approvals }).run("go").outcome;
    expect(tool.answers.map(({ type }) => type)).toEqual(["response", "response"]);
    expect(asked).toMatchObject([
      {
        type: "approval",
        operation: "infer",
        input: { who: "notes", tool: "sum", messages: [{ role: "user", text: "Sum this up." }], maxTokens: 100 },
      },
      { input: { messages: [{ text: "And this." }] } },
    ]);
  });

  it("is what a person says: a no refuses it, and what is allowed for good holds at once, and later", async () => {
    expect(await answersUnder({}, { type: "deny", reason: "too dear" })).toEqual([
      "a person declined it: too dear",
      "a person declined it: too dear",
    ]);
    const tool = asker();
    let asked = 0;
    const again = [CALL, said("one"), said("two"), CALL, said("three"), said("four"), said("done")];
    const approvals = (): Decision => {
      asked++;
      return { type: "allow-always" };
    };
    await runnerOf(agentOf(tool, again, { permissions: {} }), { approvals }).run("go").outcome;
    expect(tool.answers.map(({ type }) => type)).toEqual(["response", "response", "response", "response"]);
    expect(asked).toBe(1);
  });

  it("is what rules say of `infer`, and of who asks; deny wins", async () => {
    const rules = (...given: readonly (readonly [string, "allow" | "ask" | "deny"])[]) => ({
      rules: given.map(([pattern, behavior]) => ({ pattern, behavior })),
    });
    expect(await answersUnder(rules(["infer(notes)", "allow"]))).toEqual(["response", "response"]);
    expect(await answersUnder(rules(["infer", "allow"], ["infer(notes)", "deny"]))).toEqual([
      expect.stringContaining('The permission rule "infer(notes)" denies it'),
      expect.stringContaining("denies it"),
    ]);
    expect(await answersUnder({ mode: "bypass-all", ...rules(["infer", "deny"]) })).toMatchObject(
      [/denies it/, /denies it/].map((words) => expect.stringMatching(words)),
    );
    expect(await answersUnder({ mode: "deny-unauthorized", ...rules(["sum", "allow"]) })).toMatchObject([
      expect.stringContaining("deny-unauthorized"),
      expect.anything(),
    ]);
    expect(await answersUnder({ mode: "plan-only" })).toMatchObject([expect.stringContaining("plan-only"), expect.anything()]);
  });

  it("is judged by all policies above: a child's tool may not where its parent may not", async () => {
    const tool = asker();
    const child = createAgent({
      name: "helper",
      model: scriptedModel([CALL, said("helped")]),
      tools: [tool],
      permissions: { mode: "bypass-all" },
    });
    const parent = agentOf(agentTool(child), [{ toolCalls: [{ name: "helper", input: { task: "x" } }] }, said("done")], {
      permissions: { mode: "bypass-all", rules: [{ pattern: "infer", behavior: "deny" }] },
    });
    expect((await runnerOf(parent).run("go").outcome).reason).toBe("complete");
    expect(tool.answers).toMatchObject([{ type: "refused" }, { type: "refused" }]);
  });

  it("suspends the run where nobody is there to be asked, and the call goes on with what was decided elsewhere", async () => {
    const shared = sharedServices();
    const tool = asker();
    const runner = createRunner({ ...shared, agent: agentOf(tool, turns, { permissions: {} }) });
    let { waits, reason } = await runner.run("go", { session: "s" }).outcome;
    for (let question = 0; question < 2; question++) {
      expect(reason).toBe("awaiting-approval");
      expect(waits).toMatchObject([{ operation: "infer" }]);
      await runner.approve((waits?.[0] as { readonly token: string }).token, { type: "allow" });
      ({ waits, reason } = await (await runner.resume("s")).outcome);
    }
    expect(reason).toBe("complete");
    expect(tool.answers.map(({ type }) => type)).toEqual(["response", "response"]);
    expect(tool.calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it("waits in a write no longer than approvalWaitMs, and is refused then", async () => {
    const shared = sharedServices();
    const tool = inferringTool([asking("x")], { effect: "write" });
    const rules = [{ pattern: "sum", behavior: "allow" as const }];
    const agent = agentOf(tool, [CALL, said("done")], { permissions: { rules } });
    expect((await createRunner({ ...shared, agent }).run("go").outcome).reason).toBe("complete");
    expect(tool.answers).toEqual([{ type: "refused", reason: "nobody allowed it in time" }]);
  });
});

describe("budgets", () => {
  it("refuse a tool what they have no room for, and leave the run its own ending", async () => {
    const tool = inferringTool([asking("x", { maxTokens: 2000 }), asking("y", { maxTokens: 2000 })]);
    // Responses of a thousand tokens cost a dollar.
    const turns = [CALL, said("one", 1500), said("done", 1)];
    const { events, outcome } = await watch(runnerOf(agentOf(tool, turns, { limits: { maxCost: "2.5" } })).run("go"));
    expect(tool.answers).toMatchObject([
      { type: "response" },
      { type: "refused", reason: expect.stringMatching(/budget is spent: maxCost is 2.5/) },
    ]);
    expect(ofType(events, "budget").some(({ threshold }) => threshold === undefined)).toBe(true);
    expect(outcome.reason).toBe("budget-exhausted");
    expect(compareUsd(outcome.cost as Usd, "2.5" as Usd)).toBeLessThanOrEqual(0);
  });

  it("are never passed, whatever tools ask and vendors bill, in whatever order [law]", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(
          fc.record({
            maxTokens: fc.integer({ min: 1, max: 4000 }),
            part: fc.double({ min: 0, max: 1, noNaN: true }),
            breaks: fc.boolean(),
          }),
          {
            minLength: 1,
            maxLength: 6,
          },
        ),
        fc.boolean(),
        async (dollars, wanted, atOnce) => {
          const tool = defineTool({
            name: "sum",
            description: "Asks as often as it is told to.",
            effect: "read",
            input: { type: "object" },
            async execute(_input, { infer }) {
              const ask = ({ maxTokens }: { readonly maxTokens: number }) => infer?.(asking("x", { maxTokens }));
              if (atOnce) await Promise.all(wanted.map(ask));
              else for (const one of wanted) await ask(one);
              return "asked";
            },
          });
          let asked = 0;
          const responses = Array.from({ length: 40 }, () => (request: { readonly maxTokens?: number; readonly tools?: unknown }) => {
            if (request.tools !== undefined && asked === 0) return CALL as { text: string };
            const { part = 1, breaks = false } = wanted[asked++ % wanted.length] ?? {};
            const usage = { inputTokens: 0, outputTokens: Math.floor((request.maxTokens ?? 0) * part) };
            return breaks ? { text: "x", error: { kind: "server-error" as const, progress: "streaming" as never } } : { text: "x", usage };
          });
          const agent = agentOf(tool, responses as never, { limits: { maxCost: String(dollars), maxRetries: 0 } });
          const { cost } = await runnerOf(agent).run("go").outcome;
          expect(compareUsd(cost as Usd, String(dollars) as Usd)).toBeLessThanOrEqual(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});
