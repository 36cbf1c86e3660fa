import { createAgent, type Agent } from "keelson";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

const MARKUP = '<tool_call>\n{"name": "pay", "arguments": {}}\n</tool_call>';
const NOTE = /written as text/;

async function run(turns: readonly ScriptedTurn[], task = "go") {
  const model = scriptedModel(turns);
  const pay = recordingTool("pay", { effect: "read" });
  const agent: Agent = createAgent({ name: "a", model, tools: [pay], instructions: "Work." });
  const outcome = await runnerOf(agent, sharedServices()).run(task).outcome;
  const notes = model.requests.map(({ messages }) => messages.filter((message) => NOTE.test(JSON.stringify(message))).length);
  return { outcome, notes, calls: pay.calls.length };
}

describe("a call that a model wrote as text", () => {
  it.each([
    ["alone", MARKUP],
    ["behind words", `I pay now.\n\n${MARKUP}`],
    ["in the markup of another family", "<function=pay>\n</function>"],
    ["for a tool that the agent does not have", MARKUP.replace("pay", "wire")],
  ])("is asked for as a real call, and is not run: %s", async (_, text) => {
    const { outcome, notes, calls } = await run([text, { toolCalls: [{ name: "pay", input: {} }] }, "Paid."]);
    expect(outcome).toMatchObject({ reason: "complete" });
    expect([notes, calls]).toEqual([[0, 1, 1], 1]);
  });

  it("is asked for once in a row: a model that keeps to its text has answered", async () => {
    const { outcome, notes, calls } = await run([MARKUP, MARKUP]);
    expect(outcome).toMatchObject({ reason: "complete" });
    expect([notes, calls]).toEqual([[0, 1], 0]);
  });

  it.each([
    ["in a fence", `Models write\n\`\`\`\n${MARKUP}\n\`\`\``],
    ["in a line", `Models write \`${MARKUP.replaceAll("\n", "")}\``],
    ["with words behind it", `${MARKUP}\nis what models write.`],
  ])("is an answer if it is quoted: %s", async (_, text) => {
    const { outcome, notes } = await run([text]);
    expect(outcome).toMatchObject({ reason: "complete" });
    expect(notes).toEqual([0]);
  });

  it("is not asked for if the model repeats it from the conversation", async () => {
    const { notes, calls } = await run([MARKUP], `Repeat this page: ${MARKUP.replaceAll("<", "&lt;").replaceAll(">", "&gt;")}`);
    expect([notes, calls]).toEqual([[0], 0]);
  });
});
