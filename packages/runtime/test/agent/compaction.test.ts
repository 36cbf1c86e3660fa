import { createAgent, textMessage } from "keelson";
import { ruleBefore, rulesFrom } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, types, watch } from "./support.ts";

const overflow: ScriptedTurn = { error: { kind: "context-overflow", message: "too many tokens" } };
const call: ScriptedTurn = { toolCalls: [{ name: "look" }] };

describe("a conversation that no longer fits", () => {
  it("ends the run in its typed error when the agent cannot compact", async () => {
    const { outcome, events } = await watch(runnerOf(createAgent({ name: "a", model: scriptedModel([overflow]) })).run("go"));
    expect(outcome.error?.failure).toMatchObject({ kind: "model", model: { kind: "context-overflow" } });
    expect(types(events)).not.toContain("compaction");
  });

  it("is compacted by the agent, told to its rules and recorded, and the call is made again with what is left [CE-17]", async () => {
    const told: string[] = [];
    const model = scriptedModel([call, overflow, "done"]);
    const agent = createAgent({
      name: "a",
      model,
      tools: [recordingTool("look", { effect: "read" })],
      rules: rulesFrom({ name: "r", beforeCompaction: () => void told.push("before"), afterCompaction: () => void told.push("after") }),
      compact: async (conversation, { model: name, usage, signal }) => {
        expect([name, usage.inputTokens, signal.aborted]).toEqual(["scripted/model", 10, false]);
        told.push(conversation.map(({ message, policy }) => `${message.role} ${policy}`).join(", "));
        return { messages: [textMessage("user", "They looked.")], summary: "They looked." };
      },
    });
    const runner = runnerOf(agent);
    const { events, outcome } = await watch(runner.run("go", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "complete", text: "done", turns: 2 });
    expect(told).toEqual(["before", "user normal, assistant normal, tool normal", "after"]);
    expect(model.requests[2]?.messages).toEqual([textMessage("user", "They looked.")]);
    expect(ofType(events, "compaction")).toMatchObject([
      { summary: "They looked.", messagesBefore: 3, messages: [textMessage("user", "They looked.")] },
    ]);
    expect((await runner.sessions.get("s")).messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("and still does not fit after it was compacted, ends the run in its typed error", async () => {
    let compactions = 0;
    const model = scriptedModel([overflow, overflow, "never"]);
    const agent = createAgent({
      name: "a",
      model,
      compact: async () => (compactions++, { messages: [textMessage("user", "s")], summary: "s" }),
    });
    const { outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.error?.failure).toMatchObject({ kind: "model", model: { kind: "context-overflow" } });
    expect([compactions, model.requests.length]).toEqual([1, 2]);
  });

  it("is not compacted where a rule halts before it [CE-18]", async () => {
    const agent = createAgent({
      name: "a",
      model: scriptedModel([overflow]),
      rules: rulesFrom({ name: "r", beforeCompaction: () => ({ type: "halt", reason: "keep everything" }) }),
      compact: () => expect.unreachable(),
    });
    expect(await runnerOf(agent).run("go").outcome).toMatchObject({ reason: "halted", halted: { reason: "keep everything" } });
  });

  it("is told to rules with how long it was, which they can't change", async () => {
    const seen: unknown[] = [];
    const agent = createAgent({
      name: "a",
      model: scriptedModel([overflow, "done"]),
      rules: [
        ruleBefore("compact", "look", 1, ({ input }) => void seen.push(input)),
        ruleBefore("compact", "longer", 0, () => ({ type: "modify-input", input: { messages: 99 } })),
      ],
      compact: async () => ({ messages: [textMessage("user", "s")], summary: "s" }),
    });
    const { outcome } = await watch(runnerOf(agent).run("go"));
    expect(seen).toEqual([{ messages: 1 }]);
    expect(outcome.error?.message).toMatch(/^the rule "longer" cannot do that at "compact": its input is for rules to look at/);
  });

  it("is compacted in every turn in which it does not fit", async () => {
    const agent = createAgent({
      name: "a",
      model: scriptedModel([overflow, call, overflow, "done"]),
      tools: [recordingTool("look", { effect: "read" })],
      compact: async (entries) => ({ messages: [textMessage("user", `${entries.length} so far`)], summary: "s" }),
    });
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(ofType(events, "compaction").map(({ messages }) => messages)).toEqual([
      [textMessage("user", "1 so far")],
      [textMessage("user", "3 so far")],
    ]);
  });

  const wanted = "compact must return { messages, summary }, with at least one message";
  it.each<[string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new Error("no idea");
      },
      "compact failed: no idea",
    ],
    ["gives nothing", () => undefined, wanted],
    ["gives no messages", () => ({ messages: [], summary: "s" }), wanted],
    ["gives no summary", () => ({ messages: [textMessage("user", "s")] }), wanted],
    ["gives what are no messages", () => ({ messages: ["s", null, { content: [] }, { role: "user" }], summary: "s" }), wanted],
    ["gives something else among messages", () => ({ messages: [textMessage("user", "s"), null], summary: "s" }), wanted],
    ["gives a message of nobody", () => ({ messages: [{ content: [] }], summary: "s" }), wanted],
    ["gives a message without content", () => ({ messages: [{ role: "user" }], summary: "s" }), wanted],
  ])("ends the run as a panic when compact %s [ET-06]", async (_case, compact, message) => {
    const agent = createAgent({ name: "a", model: scriptedModel([overflow, "never"]), compact: async () => compact() as never });
    const { outcome, events } = await watch(runnerOf(agent).run("go"));
    expect(outcome.error?.failure).toEqual({ kind: "panic", callback: "compact", message });
    expect(types(events).at(-1)).toBe("error");
  });
});
