// Works a session of many turns with a window of 200 messages, and says what became of it. Arguments: folder of the log, number of turns.
import { join } from "node:path";
import { type Provider, UNKNOWN_USAGE } from "@keelson/protocol";
import { createAgent, createRunner, defineTool } from "keelson";
import { slidingWindow } from "keelson/context";
import { createSqliteBlobStore, createSqliteEventLog } from "keelson/state";

const [, , folder = "", count = "300"] = process.argv;
const turns = Number(count);
const WINDOW = 200;

let calls = 0;
let longest = 0;
const model: Provider = {
  name: "endless",
  wire: "test",
  async *stream({ model: id, messages }) {
    calls++;
    longest = Math.max(longest, messages.length);
    yield { type: "text-start" };
    for (let piece = 0; piece < 20; piece++) yield { type: "text-delta", text: `piece ${piece} of turn ${calls}; ` };
    yield { type: "text-end" };
    yield { type: "tool-call-start", index: 0, id: "call_0", name: "look" };
    yield { type: "tool-call-delta", index: 0, text: `{"page":${calls}}` };
    yield { type: "tool-call-end", index: 0 };
    yield { type: "end", stopReason: "tool-use", rawStopReason: null, usage: UNKNOWN_USAGE, model: id };
  },
};
const look = defineTool({
  name: "look",
  description: "Looks.",
  effect: "read",
  input: { type: "object" },
  execute: (input) => `page ${JSON.stringify(input)} ${"text ".repeat(200)}`,
});
await using log = createSqliteEventLog(join(folder, "window.db"));
await using blobs = createSqliteBlobStore(join(folder, "window.db"));
const agent = createAgent({
  name: "reader",
  model,
  tools: [look],
  limits: { maxTurns: turns, maxModelCalls: turns + 1 },
  compaction: { strategy: slidingWindow({ keep: WINDOW / 2 }), when: { maxMessages: WINDOW } },
});
const runner = createRunner({ agent, log, blobs });
const { reason, turns: worked } = await runner.run("Read it all.", { session: "s" }).outcome;
const { messages } = await runner.sessions.get("s");
process.stdout.write(
  JSON.stringify({
    reason,
    turns: worked,
    longest,
    left: messages.length,
    request: messages[0],
    maxRssBytes: process.resourceUsage().maxRSS * 1024,
  }),
);
