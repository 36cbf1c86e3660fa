import { createAgent, createRunner, textMessage } from "keelson";
import { createMiddlewareStack, definePromptMiddleware, summarisationMark, type PromptMiddleware } from "keelson/agent";
import { createModelRegistry } from "keelson/providers";
import { createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { AgentError, sessionLog, type JsonValue, type MiddlewareInput, type SessionId } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, types, watch } from "./support.ts";

const look: ScriptedTurn = { toolCalls: [{ name: "look" }] };

function agentWith(turns: readonly ScriptedTurn[], middleware: Iterable<PromptMiddleware>, options: object = {}) {
  const model = scriptedModel(turns);
  return { model, agent: createAgent({ name: "a", model, middleware, ...options }) };
}

const optionOf = (act: () => unknown): unknown => {
  try {
    act();
    return "nothing thrown";
  } catch (error) {
    return AgentError.is(error, "invalid-option") ? [error.failure.option, error.message] : error;
  }
};

describe("an agent's prompt middleware", () => {
  it("works on a run's input and context in its order before anything else sees them [AG-12, MW-01, MW-04]", async () => {
    const seen: MiddlewareInput[] = [];
    const redact = definePromptMiddleware({
      name: "redact",
      process(input) {
        seen.push(input);
        const messages = input.messages.map(({ role, content }) => ({
          role,
          content: content.map((part) => (part.type === "text" ? { ...part, text: part.text.replace(/\d{4}/g, "****") } : part)),
        }));
        return { type: "continue", input: { messages, context: { ...input.context, redacted: true } } };
      },
    });
    const remember = definePromptMiddleware({
      name: "remember",
      process: async ({ messages, context }) => (
        seen.push({ messages, context }),
        { type: "continue", input: { messages: [textMessage("system", "Remember the tea."), ...messages], context } }
      ),
    });
    const { agent, model } = agentWith(["done"], [redact, remember], {
      instructions: ({ metadata }: { metadata: JsonValue }) => `Metadata: ${JSON.stringify(metadata)}`,
      metadata: { team: "tea" },
    });
    const log = createMemoryEventLog();
    const runner = runnerOf(agent, { log });
    const { events, outcome } = await watch(runner.run("My code is 1234.", { session: "s", metadata: { of: "run" } }));
    expect(outcome.reason).toBe("complete");
    expect(seen).toEqual([
      { messages: [textMessage("user", "My code is 1234.")], context: { team: "tea", of: "run" } },
      { messages: [textMessage("user", "My code is ****.")], context: { team: "tea", of: "run", redacted: true } },
    ]);
    const given = [textMessage("system", "Remember the tea."), textMessage("user", "My code is ****.")];
    expect(model.requests[0]?.messages).toEqual(given);
    expect(model.requests[0]?.system).toBe('Metadata: {"team":"tea","of":"run","redacted":true}');
    // Watchers see what the model sees, and nothing else of the input.
    expect(ofType(events, "message").map(({ message }) => message)).toEqual([...given, textMessage("assistant", "done")]);
    expect(JSON.stringify(events)).not.toContain("1234");
  });

  it("ends the run as halted by middleware where one terminates: no model is asked, nothing joins the conversation [MW-02, MW-07]", async () => {
    const { agent, model } = agentWith(
      ["first", "never"],
      [
        {
          name: "doorman",
          process: (input) =>
            JSON.stringify(input.messages).includes("forbidden") ? { type: "terminate", reason: "not here" } : { type: "continue", input },
        },
        {
          name: "later",
          process: (input) => (JSON.stringify(input).includes("forbidden") ? expect.unreachable() : { type: "continue", input }),
        },
      ],
    );
    const runner = runnerOf(agent);
    await runner.run("go", { session: "s" }).outcome;
    const { outcome, events } = await watch(runner.run("something forbidden", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "halted", halted: { by: "middleware", reason: "not here" }, turns: 0, cost: "0" });
    expect(types(events)).toEqual(["run-start", "run-result", "run-complete"]);
    expect(model.requests).toHaveLength(1);
    expect((await runner.sessions.get("s")).messages).toEqual([textMessage("user", "go"), textMessage("assistant", "first")]);
  });

  it("adds tools and paragraphs of the system prompt to the definition, in order [MW-05, MW-06]", async () => {
    const tool = recordingTool("look", { effect: "read" });
    const { agent, model } = agentWith(
      [look, "done"],
      [
        { name: "a", systemPromptAdditions: () => ["First.", "Second."], tools: () => [tool] },
        { name: "b", systemPromptAdditions: () => ["Third."] },
      ],
      { instructions: "Be brief." },
    );
    expect([...agent.tools].map(({ name }) => name)).toEqual(["look"]);
    expect((await runnerOf(agent).run("go").outcome).reason).toBe("complete");
    expect(tool.calls).toHaveLength(1);
    expect(model.requests[0]?.system).toBe("Be brief.\n\nFirst.\n\nSecond.\n\nThird.");
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(["look"]);
  });

  it("is frozen with the agent: what is pushed to a stack later is not in it [AG-12, MW-07]", async () => {
    const stack = createMiddlewareStack([{ name: "a", systemPromptAdditions: () => ["First."] }]);
    const { agent, model } = agentWith(["done", "done"], stack);
    stack.push({ name: "b", systemPromptAdditions: () => ["Second."] });
    await runnerOf(agent).run("go").outcome;
    expect(model.requests[0]?.system).toBe("First.");
    await runnerOf(agent.with({ middleware: stack })).run("go").outcome;
    expect(model.requests[1]?.system).toBe("First.\n\nSecond.");
    expect(agent.with({ middleware: stack }).digest).not.toBe(agent.digest);
    expect(optionOf(() => agent.middleware?.stack.push({ name: "c" }))).toMatchObject(["middleware", expect.anything()]);
  });

  it("is refused where it is none, and where its tools have the name of another", () => {
    expect(optionOf(() => agentWith([], [{} as PromptMiddleware]))).toMatchObject(["middleware[0]", expect.anything()]);
    const tools = [recordingTool("look")];
    expect(optionOf(() => agentWith([], [{ name: "m", tools: () => tools }], { tools }))).toMatchObject([
      "tools[1]",
      'tools[1] is the second of two tools that are named "look": rename one with aliasTool.',
    ]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new RangeError("oops");
      },
      "threw: oops",
    ],
    ["answers nothing", () => undefined, "must return"],
    ["leaves no message", ({ context }: MiddlewareInput) => ({ type: "continue", input: { messages: [], context } }), "left no message"],
    [
      "makes no message of one",
      ({ context }: MiddlewareInput) => ({ type: "continue", input: { messages: [{ role: "user" }], context } }),
      "something else of the input",
    ],
  ])("ends the run in a panic that names it, where it %s", async (_what, process, said) => {
    const { agent, model } = agentWith(["never"], [{ name: "clumsy", process: process as never }]);
    const { outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.error?.failure).toMatchObject({ kind: "panic", callback: 'middleware "clumsy"' });
    expect(outcome.error?.message).toContain(said);
    expect(model.requests).toHaveLength(0);
  });

  it("without process leaves no trace in the log", async () => {
    const log = createMemoryEventLog();
    await runnerOf(agentWith(["done"], [{ name: "quiet" }]).agent, { log }).run("go", { session: "s" }).outcome;
    const records: string[] = [];
    for await (const { type } of log.read(sessionLog("s" as SessionId))) records.push(type);
    expect(records).not.toContain("run-input");
    expect(records).not.toContain("decision");
  });
});

describe("a conversation that middleware marks for summarising", () => {
  const shorten = async () => ({ messages: [textMessage("user", "Short.")], summary: "Short." });
  const tools = [recordingTool("look", { effect: "read" })];

  it("is compacted in the same turn, before the model is asked, and each time it has grown over a threshold again", async () => {
    const { agent, model } = agentWith([look, look, "done"], [summarisationMark({ maxMessages: 2 })], {
      tools,
      compact: shorten,
      loopGuard: false,
    });
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome).toMatchObject({ reason: "complete", turns: 3 });
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 1, 1]);
    expect(ofType(events, "compaction").map(({ messagesBefore }) => messagesBefore)).toEqual([3, 3]);
    const order = types(events).filter((type) => ["turn-start", "compaction", "usage"].includes(type));
    expect(order).toEqual(["turn-start", "usage", "turn-start", "compaction", "usage", "turn-start", "compaction", "usage"]);
  });

  it("is measured in tokens by what the model counted last, with what came since; and by its share of what the model can read", async () => {
    const usage = { inputTokens: 900, outputTokens: 50, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 };
    const sizes: unknown[] = [];
    const measuring: PromptMiddleware = { name: "measuring", marksForSummary: (size) => (sizes.push(size), false) };
    const provider = scriptedModel([{ ...look, usage } as ScriptedTurn, "done"], { name: "scripted/model" });
    const models = createModelRegistry({
      providers: { scripted: provider },
      facts: { "scripted/model": { contextWindow: 2000 } },
    });
    const agent = createAgent({ name: "a", model: "scripted/model", middleware: [measuring], tools, compact: shorten });
    await createRunner({ agent, models }).run("Go and look, please.").outcome;
    const [first, second] = sizes as { messages: number; tokens: number; contextUtilization: number | null }[];
    expect(first?.messages).toBe(1);
    expect(first?.tokens).toBeGreaterThan(3);
    expect(first?.tokens).toBeLessThan(30);
    expect(second?.messages).toBe(3);
    expect(second?.tokens).toBeGreaterThan(900);
    expect(second?.tokens).toBeLessThan(1000);
    expect(second?.contextUtilization).toBeCloseTo((second?.tokens ?? 0) / 2000, 5);
  });

  it("is told as a warning where it is still too long after that", async () => {
    const { agent } = agentWith(["done"], [summarisationMark({ maxTokens: 1 })], { compact: shorten });
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(ofType(events, "status").filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  it("needs an agent that can compact", () => {
    expect(optionOf(() => agentWith([], [summarisationMark()]))).toMatchObject(["compact", expect.anything()]);
  });
});
