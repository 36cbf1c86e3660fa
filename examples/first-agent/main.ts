// The program of the README, with a scripted model in the place of a real one, and a check that it did what it says.
import assert from "node:assert/strict";
import { scriptedModel } from "keelson/testing";
import type { Provider } from "@keelson/protocol";

const model: Provider = scriptedModel([
  { toolCalls: [{ name: "weather", input: { city: "Oslo" } }] },
  "Take an umbrella: it rains in Oslo.",
]);
const shown: string[] = [];
const print = (text: string): void => void shown.push(text);

// #region readme
import { createAgent, createRunner, defineTool } from "keelson";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city, now.",
  effect: "read",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: "rain", celsius: 7 }),
});

const agent = createAgent({
  name: "guide",
  model, // "anthropic/claude-haiku-4-5", "openai/gpt-5-mini", …
  instructions: "You help people dress. Look before you answer.",
  tools: [weather],
  limits: { maxTurns: 10 },
});

const run = createRunner({ agent }).run("Do I need an umbrella in Oslo?");
for await (const event of run) if (event.type === "text-delta") print(event.text);
const { reason, text, turns, cost } = await run.outcome;
// #endregion

assert.equal(reason, "complete");
assert.equal(text, "Take an umbrella: it rains in Oslo.");
assert.equal(shown.join(""), text);
assert.equal(turns, 2);
assert.equal(cost, null); // a scripted model has no price: unknown, never zero
console.log(`first-agent: ${text}`);
