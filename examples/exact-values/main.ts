// A tool whose ids have more digits than a number keeps, called by a model that writes the id as a number.
import assert from "node:assert/strict";
import { createAgent, createRunner } from "keelson";
import { scriptedModel } from "keelson/testing";

const inputText = '{"id":1917043659912705296}';
const model = scriptedModel([{ toolCalls: [{ name: "read_note", inputText }] }, "It is about milk."]);

// #region tool
import { defineTool } from "keelson";

const ids: string[] = [];
const readNote = defineTool({
  name: "read_note",
  description: "Reads a note.",
  effect: "read",
  input: { type: "object", properties: { id: { type: ["string", "integer"] } }, required: ["id"] },
  execute({ id }) {
    ids.push(String(id)); // the model wrote {"id":1917043659912705296}; this is "1917043659912705296"
    return "Buy milk.";
  },
});
// #endregion

const run = createRunner({ agent: createAgent({ name: "keeper", model, tools: [readNote] }) }).run("What is the note about?");
const results: unknown[] = [];
for await (const event of run) if (event.type === "tool-result") results.push(event.output);
assert.deepEqual(ids, ["1917043659912705296"]);
assert.deepEqual(results, ["Buy milk."]);
assert.equal((await run.outcome).text, "It is about milk.");
