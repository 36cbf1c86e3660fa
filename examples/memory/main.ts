// An assistant that remembers: facts about its user and what past sessions came to, in SQLite, from one process to the next.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "keelson/testing";

const folder = mkdtempSync(join(tmpdir(), "keelson-memory-"));
const path = join(folder, "assistant.db");
/** What the model is shown of memories, of all messages of its request. */
const shown: string[] = [];
const model = scriptedModel([
  { toolCalls: [{ name: "remember_fact", input: { text: "Ada is allergic to nuts." } }] },
  "A lemon cake, then, without nuts.",
  ({ messages }) => {
    shown.push(...messages.flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : []))));
    return "Lemon cake again, or a tart without almonds.";
  },
]);

// #region agent
import { createAgent, createRunner } from "keelson";
import { pastEpisodes, userFacts } from "keelson/memory";
import { createSqliteEventLog } from "keelson/state";

const log = createSqliteEventLog(path); // sessions, and what is known, in one file
const user = "ada";
const facts = userFacts({ store: log.state, user });
const episodes = pastEpisodes({ store: log.state, scope: { type: "custom", namespace: "user", id: user } });

const baker = createAgent({
  name: "baker",
  model,
  instructions: "You suggest cakes.",
  tools: facts.tools, // remember_fact, correct_fact, forget_fact
  rules: [...facts.rules, ...episodes.rules],
  plugins: episodes.plugins,
});
const runner = createRunner({ agent: baker, log });
// #endregion

await runner.run("Which cake for my birthday? I am allergic to nuts.", { session: "spring" }).outcome;
const { text } = await runner.run("Which cake this time?", { session: "autumn" }).outcome;
assert.equal(text, "Lemon cake again, or a tart without almonds.");
const recalled = shown.filter((each) => each.startsWith("<memory"));
assert.equal(recalled.length, 2);
assert.match(recalled.join("\n"), /Ada is allergic to nuts\. \(session spring, record \d+\)/);
assert.match(recalled.join("\n"), /Asked: Which cake for my birthday\?.* Came to: A lemon cake, then, without nuts\./);

// #region people
for (const { id, text, from } of await facts.items()) {
  console.log(`${text} (session ${from?.session}, record ${from?.record})`);
  await facts.correct(id, "Ada is allergic to hazelnuts."); // the next session is told this
}
const [last] = await episodes.items({ limit: 1 }); // the newest first
if (last) await episodes.forget(last.id);
// #endregion
assert.deepEqual(
  (await facts.items()).map((item) => [item.text, item.version]),
  [["Ada is allergic to hazelnuts.", 2]],
);
assert.deepEqual(
  (await episodes.items()).map(({ from }) => from?.session),
  ["spring"],
);

// #region own
import { defineMemory, type RecallStrategy } from "keelson/memory";

/** What the model is told first is what its people pinned. */
const pinnedFirst: RecallStrategy = {
  async recall({ store, scope, prefix, query }) {
    const found = await store.search(scope, query, { limit: 5 });
    return [...new Set([`${prefix}house-rules`, ...found.map(({ key }) => key)])];
  },
};

const recipes = defineMemory({
  name: "recipe",
  about: "recipes of the bakery",
  store: log.state,
  scope: { type: "global" },
  strategy: pinnedFirst,
  maxBytes: 2000,
});
// #endregion
await log.state.write({ type: "global" }, "memory/recipe/house-rules", "Never two cakes of one colour.");
assert.deepEqual(
  (await recipes.items()).map((item) => item.text),
  ["Never two cakes of one colour."],
);

await log[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });
