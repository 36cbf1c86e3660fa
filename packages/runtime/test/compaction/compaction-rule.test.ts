import { textMessage, type Message } from "keelson";
import { reactLoop } from "keelson/agent";
import { compactionRule, compileRequest, Context, ruleBefore, slidingWindow, stubResults, summarise } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { createAgent } from "keelson";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, watch } from "../agent/support.ts";

const long = (n: number): Message => textMessage(n % 2 === 0 ? "user" : "assistant", `message ${n} ${"word ".repeat(100)}`);

async function contextWith(count: number, options: ConstructorParameters<typeof Context>[0] = {}): Promise<Context> {
  const context = new Context(options);
  for (let n = 0; n < count; n++) await context.injectMessage(long(n));
  return context;
}

/** Compiles a request as a pipeline of one's own does. */
const compile = (context: Context): Promise<number> =>
  context.run({ type: "compile", execute: () => compileRequest({ model: "m", messages: context.messages }).messages.length });

const texts = (messages: readonly Message[]): readonly string[] =>
  messages.map(({ content }) => content.map((part) => (part.type === "text" ? part.text.slice(0, 10).trim() : part.type)).join());

describe("compaction of a context without a run", () => {
  it("shortens the conversation before a request once it is over a limit of the rule [CE-21]", async () => {
    const context = await contextWith(7, { rules: [compactionRule({ strategy: slidingWindow({ keep: 4 }), when: { maxMessages: 6 } })] });
    expect(await compile(context)).toBe(4);
    expect(texts(context.messages)).toEqual(["message 3", "message 4", "message 5", "message 6"]);
    expect(await compile(context)).toBe(4);
  });

  it("keeps pinned messages, and counts tokens if the rule has a limit of them", async () => {
    const rule = compactionRule({ strategy: slidingWindow({ keep: 1 }), when: { maxTokens: 200 } });
    const context = new Context({ rules: [rule] });
    await context.injectSystem("pinned");
    await context.injectMessage(long(0));
    expect(await compile(context)).toBe(2);
    for (let n = 1; n < 5; n++) await context.injectMessage(long(n));
    await compile(context);
    expect(texts(context.messages)).toEqual(["pinned", "message 4"]);
  });

  it("asks the given model for a summary, and needs one for a strategy that summarises", async () => {
    const provider = scriptedModel(["What was said before."]);
    const many = await contextWith(60);
    expect(await many.compact(summarise({ keep: 2 }), { provider })).toBe(true);
    expect(texts(many.messages).at(-1)).toBe("message 59");
    expect(JSON.stringify(many.messages)).toContain("What was said before.");
    expect(provider.requests[0]?.system).toContain("Summarise the transcript");
    await expect((await contextWith(60)).compact(summarise({ keep: 2 }))).rejects.toThrow(
      /this context belongs to no run: give the provider/,
    );
  });

  it("fires other rules around it, and none around what it does itself", async () => {
    const seen: unknown[] = [];
    const context = await contextWith(6, { rules: [ruleBefore("compact", "watch", 0, ({ input }) => void seen.push(input))] });
    expect(await context.compact(slidingWindow({ keep: 2 }))).toBe(true);
    expect(seen).toEqual([{ messages: 6 }]);
    context.addRule(compactionRule({ strategy: slidingWindow({ keep: 1 }), when: { maxMessages: 1 } }));
    await context.injectMessage(long(7));
    await compile(context);
    expect(texts(context.messages)).toEqual(["message 4"]);
    expect(seen).toHaveLength(1);
  });

  it("leaves the conversation as it is if there is nothing to gain, and stops after three attempts", async () => {
    let attempts = 0;
    const context = await contextWith(4, { rules: [compactionRule({ strategy: stubResults(), when: { maxMessages: 1 } })] });
    const compact = context.compact.bind(context);
    context.compact = (...given) => (attempts++, compact(...given));
    for (let n = 0; n < 6; n++) await compile(context);
    expect(context.messages).toHaveLength(4);
    expect(attempts).toBe(3);
  });

  it.each([
    [{ strategy: { type: "window" } }, /strategy is no strategy: make it with slidingWindow/],
    [{ strategy: slidingWindow({ keep: 1 }), when: { maxMesages: 3 } }, /maxMesages/],
    [{ strategy: slidingWindow({ keep: 1 }), when: { maxMessages: 0 } }, /maxMessages must be a whole number of at least 1, not 0/],
    [{ stategy: slidingWindow({ keep: 1 }) }, /stategy/],
  ])("refuses %j", (options, message) => {
    expect(() => compactionRule(options as never)).toThrow(message);
  });
});

const look: ScriptedTurn = { text: "I look.", toolCalls: [{ name: "look" }] };
const tool = () => recordingTool("look", { effect: "read", output: () => "page ".repeat(100) });

describe("compaction of a run by a rule", () => {
  it("is recorded, so that a resume and a new run see the shorter conversation [CE-21]", async () => {
    const services = sharedServices();
    const rules = [compactionRule({ strategy: slidingWindow({ keep: 4 }), when: { maxMessages: 6 } })];
    const model = scriptedModel([look, look, look, look, "done", "again"]);
    const agent = createAgent({ name: "a", model, tools: [tool()], rules });
    const { events, outcome } = await watch(runnerOf(agent, services).run("go", { session: "s" }));
    expect(outcome.reason).toBe("complete");
    const compactions = ofType(events, "compaction");
    expect(compactions.length).toBeGreaterThan(0);
    expect(compactions[0]).toMatchObject({ strategy: "sliding-window", cause: "size" });
    for (const { messages } of model.requests) expect(messages.length).toBeLessThanOrEqual(8);
    const before = (await runnerOf(agent, services).sessions.get("s")).messages;
    await runnerOf(agent, services).run("and again", { session: "s" }).outcome;
    expect(model.requests.at(-1)?.messages.length).toBeLessThanOrEqual(before.length + 1);
  });

  it("has the model of the run write the summary, and counts what that costs", async () => {
    const rules = [compactionRule({ strategy: summarise({ keep: 2 }), when: { maxMessages: 10 } })];

    const talk: ScriptedTurn = { text: "I look at it. ".repeat(1000), toolCalls: [{ name: "look" }] };
    const model = scriptedModel([talk, talk, talk, talk, talk, "A summary.", "done"]);
    const { events, outcome } = await watch(runnerOf(createAgent({ name: "a", model, tools: [tool()], rules })).run("go"));
    expect(outcome).toMatchObject({ reason: "complete", turns: 6, usage: { outputTokens: 35 } });
    expect(ofType(events, "compaction").map(({ summary }) => summary)).toEqual([expect.stringContaining("A summary.")]);
    expect(model.requests).toHaveLength(7);
  });
});

describe("reactLoop", () => {
  const run = async (options: Partial<Parameters<typeof reactLoop>[0]>, context = new Context()) => {
    await context.injectMessage(textMessage("user", "go"));
    const provider = scriptedModel([look, look, look, look, "done"]);
    const output = await reactLoop({ context, provider, tools: [tool()], clock: impatientClock(), ...options });
    return { context, provider, output };
  };

  it("shortens the conversation of its context by its option compaction [CE-21, CE-22]", async () => {
    const { context, provider, output } = await run({ compaction: { strategy: slidingWindow({ keep: 4 }), when: { maxMessages: 6 } } });
    expect(output.exitReason).toEqual({ type: "complete" });
    expect(Math.max(...provider.requests.map(({ messages }) => messages.length))).toBeLessThanOrEqual(8);
    expect(context.messages.length).toBeLessThan(10);
  });

  it("shortens it by a rule of the context as well", async () => {
    const rule = compactionRule({ strategy: slidingWindow({ keep: 4 }), when: { maxMessages: 6 } });
    const { context, provider } = await run({}, new Context({ rules: [rule] }));
    expect(Math.max(...provider.requests.map(({ messages }) => messages.length))).toBeLessThanOrEqual(8);
    expect(context.messages.length).toBeLessThan(10);
  });

  it("refuses a compaction that is none", async () => {
    await expect(run({ compaction: { strategy: { type: "window" } as never } })).rejects.toThrow(/compaction\.strategy is no strategy/);
  });
});
