// Where the tokens of a request come from: of the last one of a session, as its vendor counted it, and of one that was never sent.
import assert from "node:assert/strict";
import { scriptedModel } from "keelson/testing";

const note = "Rain from noon on, wind from the west. ".repeat(20);
const model = scriptedModel([
  { toolCalls: [{ name: "read_note", input: { path: "notes/weather.txt" } }], usage: { inputTokens: 410, cacheReadTokens: 0 } },
  { text: "Take an umbrella.", usage: { inputTokens: 700, cacheReadTokens: 400 } },
]);

// #region session
import { createAgent, createRunner, defineTool } from "keelson";

const readNote = defineTool({
  name: "read_note",
  description: "Reads a note.",
  effect: "read",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  effectsOf: (input) => ({ reads: [(input as { path: string }).path] }), // so its results count as that file
  execute: () => note,
});
const guide = createAgent({ name: "guide", model, instructions: "You help people dress.", tools: [readNote] });
const runner = createRunner({ agent: guide });
await runner.run("Do I need an umbrella?", { session: "oslo" }).outcome;

const last = await runner.xray("oslo", { request: "last" });
for (const { source, name, tokens, cachedTokens } of last.parts)
  console.log(`${tokens}\t${cachedTokens ?? "?"} cached\t${source}: ${name}`);
// #endregion

assert.equal(last.tokens, 700);
assert.equal(
  last.parts.reduce((sum, { tokens }) => sum + tokens, 0),
  700,
);
assert.ok(last.parts.some(({ source, name }) => source === "file" && name === "notes/weather.txt"));
assert.ok(last.parts.some(({ source }) => source === "vendor"));
const next = await runner.xray("oslo");
assert.ok(next.tokens > 700 && !next.reported);

// #region count
import { createTokenCounter } from "keelson/providers";

const counter = createTokenCounter();
const target = { wire: "openai-chat", model: "openai/gpt-4o" };
const request = { model: "gpt-4o", messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello, world!" }] }] };
const { tokens, exact, pieces } = await counter.count(request, target);
// #endregion

// Where gpt-tokenizer is installed, as the vendor counts it.
assert.equal(exact ? tokens : 11, 11);
assert.equal(
  pieces.reduce((sum, piece) => sum + piece.tokens, 0),
  tokens,
);
console.log("ok");
