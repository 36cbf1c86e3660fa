// The program of the README, whole, and a check that it did what it says.
import assert from "node:assert/strict";

// #region readme
import { createAgent, createRunner, defineTool } from "keelson";
import { scriptedModel } from "keelson/testing";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city, now.",
  effect: "read",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: "rain", celsius: 7 }),
});

// Without a key a script plays the model.
const script = scriptedModel([{ toolCalls: [{ name: "weather", input: { city: "Oslo" } }] }, "Take an umbrella: it rains in Oslo."]);
const { ANTHROPIC_API_KEY, OPENAI_API_KEY } = process.env;

const agent = createAgent({
  name: "guide",
  model: ANTHROPIC_API_KEY ? "anthropic/claude-haiku-4-5" : OPENAI_API_KEY ? "openai/gpt-5-mini" : script,
  instructions: "You help people dress. Look before you answer.",
  tools: [weather],
  limits: { maxTurns: 10 },
});

const run = createRunner({ agent }).run("Do I need an umbrella in Oslo?");
for await (const event of run) if (event.type === "text-delta") process.stdout.write(event.text);
const { reason, turns, cost } = await run.outcome;
console.log(`\n${reason} after ${turns} turns, for ${cost ?? "an unknown number of"} dollars`);
// #endregion

assert.equal(reason, "complete");
assert.equal(turns, 2);
