// A supervisor hands tasks to three agents at once. One fails halfway; it alone is tried again, and the others keep their results.
import assert from "node:assert/strict";
import { scriptedModel } from "keelson/testing";

const price = { input: "1", output: "1", asOf: "2026-01-01" };
const models = {
  supervisor: scriptedModel(
    [
      {
        toolCalls: [
          { name: "research", input: { task: "Find the opening hours of the museum." } },
          { name: "translate", input: { task: "Say 'open daily' in French." } },
          { name: "check", input: { task: "Check both for mistakes." } },
        ],
      },
      // It is told that the check failed, and what there was of it.
      (request) => {
        const failed = request.messages.at(-1)?.content.find((part) => part.type === "tool-result" && part.isError);
        return { toolCalls: [{ name: "check", input: { task: `Go on with your check: ${JSON.stringify(failed)}` } }] };
      },
      "Open daily from ten to six: ouvert tous les jours.",
    ],
    { name: "scripted/supervisor", price },
  ),
  research: scriptedModel(["From ten to six."], { name: "scripted/research", price }),
  translate: scriptedModel(["Ouvert tous les jours."], { name: "scripted/translate", price }),
  check: scriptedModel(
    [
      { text: "The hours are right.", toolCalls: [{ name: "look_up", input: {} }] },
      { error: { kind: "server-error", message: "overloaded" } },
      "Both are right.",
    ],
    { name: "scripted/check", price },
  ),
};

// #region team
import { createAgent, createRunner } from "keelson";

const research = createAgent({ name: "research", description: "Finds facts.", model: models.research });
const translate = createAgent({ name: "translate", description: "Translates.", model: models.translate });
const check = createAgent({ name: "check", description: "Finds mistakes.", model: models.check, limits: { maxRetries: 0 } });

const supervisor = createAgent({
  name: "supervisor",
  model: models.supervisor,
  agents: { research, translate, check }, // each a tool that takes a task
  limits: { maxCost: "1.00" }, // of all four together
});

const run = createRunner({ agent: supervisor }).run("When is the museum open? In French, too.");
for await (const event of run) if (event.type === "child-end") console.log(event.path?.join("/") ?? "supervisor", "hears:", event.reason);
const { reason, text, cost } = await run.outcome;
// #endregion

assert.deepEqual([reason, text], ["complete", "Open daily from ten to six: ouvert tous les jours."]);
assert.ok(cost !== null && Number(cost) > 0);

// #region tree
for (const child of await run.children()) console.log(child.agent, child.status, JSON.stringify(child.text));
// #endregion

const tree = (await run.children()).map(({ agent, status, text }) => [agent, status, text]);
assert.deepEqual(tree, [
  ["research", "complete", "From ten to six."],
  ["translate", "complete", "Ouvert tous les jours."],
  ["check", "error", "The hours are right."], // what there was of it is kept
  ["check", "complete", "Both are right."],
]);
const retried = JSON.stringify(models.check.requests[2]?.messages);
assert.match(retried, /overloaded/);
assert.match(retried, /The hours are right/);
assert.equal(models.research.requests.length, 1); // the others were not asked again

const slow = scriptedModel([{ error: { kind: "server-error", message: "overloaded" } }, "Indexed."], { name: "scripted/slow" });
let note = (_line: string): void => {};
const noted = new Promise<string>((resolve) => (note = resolve));
const lead = scriptedModel([
  { toolCalls: [{ name: "index", input: { task: "Index the archive." } }] },
  "It is being indexed.",
  { text: "That failed; somebody looks at it.", wait: noted },
  "The archive is indexed.",
]);
// #region background
const indexer = createAgent({ name: "indexer", model: slow, limits: { maxRetries: 0 } });
const librarian = createAgent({
  name: "librarian",
  model: lead,
  tools: [indexer.asTool({ name: "index", background: true, limits: { maxTurns: 20 } })],
});

const watched = createRunner({ agent: librarian }).run("Index the archive, please.");
for await (const event of watched) {
  if (event.type !== "child-end" || event.reason === "complete") continue;
  await watched.retryChild(event.child); // goes on where it stopped, in its session
  note("tried again");
}
// #endregion
assert.equal((await watched.outcome).text, "The archive is indexed.");
assert.deepEqual(
  (await watched.children()).map(({ status }) => status),
  ["error", "complete"],
);
