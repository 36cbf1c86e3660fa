// A session that would outgrow its model: it is shortened before that, on request, and where the vendor refuses; what goes stays in the log.
import assert from "node:assert/strict";
import { ModelError } from "@keelson/protocol";
import { scriptedModel } from "keelson/testing";

let page = 0;
let asked = 0;
const text = "The harbour, the tide, the names of ships. ".repeat(40);
const model = scriptedModel(
  Array.from({ length: 400 }, () => (request) => {
    if (request.system?.startsWith("Summarise")) {
      asked++;
      return { text: `The user wants all pages read. Read so far: up to ${page}.` };
    }
    if (JSON.stringify(request.messages).length > 40_000) throw new ModelError({ kind: "context-overflow", message: "prompt is too long" });
    page++;
    return page % 60 === 0 ? { text: "Read." } : { text: `Page ${page}. ${text}`, toolCalls: [{ name: "read", input: { page } }] };
  }),
);

// #region define
import { type AgentEvent, createAgent, createRunner, defineTool } from "keelson";
import { summarise } from "keelson/context";

const read = defineTool({
  name: "read",
  description: "Reads a page.",
  effect: "read",
  input: { type: "object" },
  execute: () => text,
});
const reader = createAgent({
  name: "reader",
  model,
  tools: [read],
  limits: { maxTurns: 200 },
  compaction: {
    strategy: summarise({ keep: 4 }), // the newest four messages stay as they are
    when: { maxMessages: 20, maxTokens: 60_000 },
    store: { scope: { type: "custom", namespace: "logbook", id: "reader" }, key: "so-far" },
  },
});
// #endregion

// #region run
const runner = createRunner({ agent: reader });
const run = runner.run("Read sixty pages.", { session: "voyage" });
const compactions: Extract<AgentEvent, { readonly type: "compaction" }>[] = [];
for await (const event of run) {
  if (event.type === "turn-end" && event.turn === 5) await run.compact(); // before the next turn, whatever the size
  if (event.type === "compaction") compactions.push(event);
}
const { reason, effects } = await run.outcome;
// #endregion

// #region show
const [first] = compactions;
const before = await runner.sessions.messagesAt("voyage", (first?.seq ?? 0) - 1); // the conversation as it stood
// #endregion

assert.equal(reason, "complete");
assert.equal(first?.cause, "request");
assert.equal(before.length, first.messagesBefore);
assert.ok(compactions.length > 3 && asked > 3);
assert.ok(effects.some(({ type }) => type === "write-memory"));

// #region ladder
const unprepared = createRunner({ agent: reader.with({ compaction: undefined }) });
const { reason: ended } = await unprepared.run("Read sixty pages.").outcome;
// #endregion

assert.equal(ended, "complete");
console.log(`${compactions.length} compactions, ${before.length} messages shown again`);
