import { createAgent } from "keelson";
import type { AgentOptions, PartialValue } from "keelson/agent";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { ModelError, type InferEvent, type JsonObject, type Provider } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { recordingTool, runnerOf } from "./support.ts";

const report = z.object({ title: z.string(), lines: z.array(z.object({ text: z.string(), count: z.number() })) });
type Report = z.infer<typeof report>;

const whole: Report = {
  title: "Stock",
  lines: [
    { text: "pens", count: 12 },
    { text: "ink", count: 3 },
  ],
};

function runOf(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const agent = createAgent({ name: "a", model: scriptedModel(turns), ...(options as object), output: report });
  return runnerOf(agent).run("go");
}

async function collect<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

function given(value: unknown, chunkSize = 1): ScriptedTurn {
  return { toolCalls: [{ name: "final_answer", input: value as JsonObject }], chunkSize };
}

/** A model whose stream goes on when it is told to. */
function steppedModel(attempts: readonly (readonly (InferEvent | Error)[])[]) {
  let call = 0;
  let go = (): void => {};
  let ready = (): void => {};
  let waiting = new Promise<void>((resolve) => (ready = resolve));
  const model: Provider = {
    name: "stepped/model",
    wire: "stepped",
    async *stream() {
      for (const step of attempts[call++] ?? []) {
        const told = new Promise<void>((resolve) => (go = resolve));
        ready();
        await told;
        if (step instanceof Error) throw step;
        yield step;
      }
    },
  };
  return {
    model,
    /** Lets so many events through, and waits until the model stands before the next. */
    async pass(count = 1) {
      for (; count > 0; count--) {
        await waiting;
        waiting = new Promise<void>((resolve) => (ready = resolve));
        go();
      }
    },
    /** Resolves when the model stands before its next event: what came before was taken in. */
    stand: () => waiting,
  };
}

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null };
const start: InferEvent = { type: "tool-call-start", index: 0, id: "x", name: "final_answer" };
const piece = (text: string): InferEvent => ({ type: "tool-call-delta", index: 0, text });
const stop: InferEvent = { type: "tool-call-end", index: 0 };
const end: InferEvent = { type: "end", stopReason: "tool-use", rawStopReason: null, usage, model: "m" };

describe("the structured output of a run as it streams", () => {
  it.each([
    ["tool", given(whole)],
    ["native", { text: JSON.stringify(whole), chunkSize: 1 }],
    ["prompt", { text: `As [asked] for {it}:\n\`\`\`json\n${JSON.stringify(whole, null, 2)}\n\`\`\``, chunkSize: 1 }],
  ] as const)("grows from nothing to the output, in mode %s [AG-14, MC-06]", async (outputMode, turn) => {
    const run = runOf([turn as ScriptedTurn], { outputMode });
    const values = await collect(run.partialOutput());
    expect(values.at(-1)).toEqual(whole);
    expect((await run.outcome).output).toBe(values.at(-1));
    expect(values.length).toBeGreaterThan(20);
    for (const [index, value] of values.entries()) {
      const next = values[index + 1];
      if (next !== undefined) expect(JSON.stringify(next).length).toBeGreaterThanOrEqual(JSON.stringify(value).length);
    }
    const counts = values.map(({ lines }) => lines?.[0]?.count);
    expect(new Set(counts)).toEqual(new Set([undefined, 12]));
    expect(values).toContainEqual({ title: "St" });
    expect(values).toContainEqual({ title: "Stock", lines: [{ text: "pens", count: 12 }, { text: "in" }] });
  });

  it("grows in the text that a function reads, too, where that is JSON", async () => {
    const extract = (text: string) => JSON.parse(text.slice(text.indexOf("{"))) as unknown;
    const run = runOf([{ text: `So: ${JSON.stringify(whole)}`, chunkSize: 3 }], { outputMode: { type: "custom", extract } });
    const values = await collect(run.partialOutput());
    expect(values.length).toBeGreaterThan(5);
    expect(values.at(-1)).toEqual(whole);
  });

  it("grows within the object that stands around a list", async () => {
    const agent = createAgent({ name: "a", model: scriptedModel([given({ answer: ["ab", "c"] })]), output: z.array(z.string()) });
    const values: readonly PartialValue<string[]>[] = await collect(runnerOf(agent).run("go").partialOutput());
    expect(values).toContainEqual(["a"]);
    expect(values.at(-1)).toEqual(["ab", "c"]);
    for (const value of values) expect(Array.isArray(value)).toBe(true);
  });

  it("shows nothing of the text and the calls before it", async () => {
    const look: ScriptedTurn = {
      text: 'I look at {"title": "wrong"}.',
      toolCalls: [{ name: "look", input: { title: "wrong" } }],
      chunkSize: 1,
    };
    const run = runOf([look, given(whole)], { tools: [recordingTool("look", { effect: "read" })] });
    expect(JSON.stringify(await collect(run.partialOutput()))).not.toContain("wrong");
  });

  it("gives who comes late what there is by then, and who is slow the newest", async () => {
    const { model, pass, stand } = steppedModel([
      [start, piece('{"title": "Sto'), piece('ck", "lines": [{"text": "p'), piece('ens", "count": 12'), piece("}]}"), stop, end],
    ]);
    const run = runnerOf(createAgent({ name: "a", model, output: report })).run("go");
    await pass(3);
    await stand();
    const late = run.partialOutput()[Symbol.asyncIterator]();
    await pass(1);
    await stand();
    expect((await late.next()).value).toEqual({ title: "Stock", lines: [{ text: "pens" }] });
    await pass(3);
    const output = { title: "Stock", lines: [{ text: "pens", count: 12 }] };
    expect((await run.outcome).output).toEqual(output);
    expect(await late.next()).toEqual({ done: false, value: output });
    expect(await late.next()).toEqual({ done: true, value: undefined });
    expect(await collect(run.partialOutput())).toEqual([output]);
  });

  it("begins anew where a broken stream is retried, and where a response is given back", async () => {
    const broken = new ModelError({ kind: "server-error", message: "reset" });
    const { model, pass } = steppedModel([
      [start, piece('{"title": "First", "lines": [{"text": "a'), broken],
      [start, piece('{"title": "Second"}'), stop, end],
      [start, piece('{"title": "Third", "lines": []}'), stop, end],
    ]);
    const run = runnerOf(createAgent({ name: "a", model, output: report })).run("go");
    const values = run.partialOutput()[Symbol.asyncIterator]();
    void pass(2);
    expect((await values.next()).value).toEqual({ title: "First", lines: [{ text: "a" }] });
    void pass(3);
    expect((await values.next()).value).toEqual({ title: "Second" });
    void pass(6);
    expect((await values.next()).value).toEqual({ title: "Third", lines: [] });
    const { value } = await values.next();
    expect(value).toBe((await run.outcome).output);
    expect((await values.next()).done).toBe(true);
  });

  it("ends with a run that fails, for which the outcome says why", async () => {
    const run = runOf([given({ title: 1 }), { error: { kind: "authentication", message: "no key" } }]);
    const values = await collect(run.partialOutput());
    expect(values).toEqual([{ title: 1 }]);
    expect((await run.outcome).reason).toBe("error");
  });

  it.each([
    ["broke off", [start, piece('{"title": "Void'), new ModelError({ kind: "invalid-response", message: "garbled" })]],
    ["was not accepted", [start, piece('{"title": "Void"}'), stop, end]],
  ])("gives nothing of a response that %s to who looks later", async (_how, events) => {
    const { model, pass } = steppedModel([events]);
    const run = runnerOf(createAgent({ name: "a", model, output: report, limits: { maxRepairs: 0 } })).run("go");
    const values = run.partialOutput()[Symbol.asyncIterator]();
    void pass(events.length);
    expect((await run.outcome).reason).toBe("error");
    expect((await values.next()).done).toBe(true);
  });

  it("can be watched by many, and left early", async () => {
    const run = runOf([given(whole)]);
    const all = Promise.all([collect(run.partialOutput()), collect(run.partialOutput())]);
    for await (const value of run.partialOutput()) if (value.title === "Sto") break;
    const [one, other] = await all;
    expect(one).toEqual(other);
    expect((await run.outcome).output).toEqual(whole);
  });

  it("is not there for an agent that gives none", () => {
    const run = runnerOf(createAgent({ name: "a", model: scriptedModel(["hi"]) })).run("go");
    expect(() => run.partialOutput()).toThrow(/Agent "a" has no structured output/);
  });
});
