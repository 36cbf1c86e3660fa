import { createAgent, createRunner, defineTool } from "keelson";
import { ruleBefore, type Xray } from "keelson/context";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const readNote = defineTool({
  name: "read_note",
  description: "Reads a note.",
  effect: "read",
  input: z.object({ path: z.string() }),
  effectsOf: ({ path }) => ({ reads: [path] }),
  execute: () => "the note says that it rains",
});

function noteAgent(seen: Xray[] = []) {
  const model = scriptedModel([
    { toolCalls: [{ name: "read_note", input: { path: "note.txt" } }], usage: { inputTokens: 500, cacheReadTokens: 0 } },
    { text: "It rains.", usage: { inputTokens: 560, cacheReadTokens: 400 } },
    "Still.",
  ]);
  const look = ruleBefore("infer", "look", 0, async ({ context }) => {
    seen.push(await context.xray());
  });
  return createAgent({ name: "reader", model, instructions: "You read notes.", tools: [readNote], rules: [look] });
}

const sum = ({ parts }: Xray): number => parts.reduce((all, { tokens }) => all + tokens, 0);

describe("the x-ray of a session", () => {
  it("tells the parts of its last request as the vendor counted it, and what the next one would be", async () => {
    const runner = createRunner({ agent: noteAgent() });
    const { outcome } = runner.run("What does the note say?", { session: "s" });
    expect((await outcome).reason).toBe("complete");

    const last = await runner.xray("s", { request: "last" });
    expect(last).toMatchObject({ tokens: 560, reported: true, cachedTokens: 400 });
    expect(sum(last)).toBe(560);
    expect(last.parts.map(({ source, name }) => `${source}: ${name}`)).toEqual([
      "vendor: added by the vendor",
      "system: system prompt",
      "tools: read_note",
      "message: user",
      "message: call of read_note",
      "file: note.txt",
    ]);

    const systemFiles = (system: string) => [{ path: "notes.md", from: 4, upTo: system.length }];
    const withFiles = await runner.xray("s", { request: "last", systemFiles });
    expect(withFiles.parts.slice(1, 3).map(({ source, name }) => `${source}: ${name}`)).toEqual([
      "system: system prompt",
      "file: notes.md",
    ]);
    expect(sum(withFiles)).toBe(560);

    const next = await runner.xray("s");
    expect(next).toMatchObject({ reported: false, cachedTokens: null });
    expect(sum(next)).toBe(next.tokens);
    // The response is what is new.
    expect(next.tokens).toBeGreaterThan(560);
    expect(next.tokens).toBeLessThan(600);
    expect(next.parts.at(-1)).toMatchObject({ source: "message", name: "assistant" });
  });

  it("is what a rule sees of the run's next request", async () => {
    const seen: Xray[] = [];
    await createRunner({ agent: noteAgent(seen) }).run("What does the note say?").outcome;
    expect(seen.map(({ parts }) => parts.filter(({ source }) => source === "file").map(({ name }) => name))).toEqual([[], ["note.txt"]]);
    expect(seen.map(({ parts }) => parts.some(({ name }) => name === "system prompt"))).toEqual([true, true]);
    // From the second on it goes by what was reported of the first.
    expect(seen[1]?.tokens).toBeGreaterThan(500);
  });

  it("is refused for a session without a run, for another agent's, and with options that there are not", async () => {
    const runner = createRunner({ agent: noteAgent() });
    const id = await runner.sessions.create();
    await expect(runner.xray(id)).rejects.toThrow(/has had no run/);
    await expect(runner.xray(id, { requst: "last" } as never)).rejects.toThrow(/did you mean "request"/);
  });
});
