// Works a session of many turns, with a watcher that never reads, and says how its heap grew beside what the conversation
// itself takes. Arguments: folder of the log, number of turns.
import { join } from "node:path";
import { type Provider, UNKNOWN_USAGE } from "@keelson/protocol";
import { createAgent, createRunner, defineTool } from "keelson";
import { createSqliteBlobStore, createSqliteEventLog } from "keelson/state";

const [, , folder = "", count = "300"] = process.argv;
const turns = Number(count);
const collect = (globalThis as unknown as { gc(): void }).gc;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function heap(): Promise<number> {
  for (let pass = 0; pass < 3; pass++) {
    await turn();
    collect();
  }
  return process.memoryUsage().heapUsed;
}

let conversation: readonly unknown[] = [];
const samples: { readonly turn: number; readonly heap: number; readonly messages: number }[] = [];
let calls = 0;
const model: Provider = {
  name: "endless",
  wire: "test",
  async *stream({ model: id, messages }) {
    calls++;
    if (calls % (turns / 4) === 0) samples.push({ turn: calls, heap: await heap(), messages: messages.length });
    conversation = messages;
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
  execute: (input) => `page ${JSON.stringify(input)} ${"text ".repeat(40)}`,
});
await using log = createSqliteEventLog(join(folder, "long.db"));
await using blobs = createSqliteBlobStore(join(folder, "long.db"));
const agent = createAgent({ name: "reader", model, tools: [look], limits: { maxTurns: turns, maxModelCalls: turns + 1 } });
const run = createRunner({ agent, log, blobs, maxBufferBytes: 128 * 1024 }).run("Read it all.");
const deaf = run[Symbol.asyncIterator]();
const { reason } = await run.outcome;
const first = samples[0] as (typeof samples)[number];
const last = samples.at(-1) as (typeof samples)[number];
// What the messages between the samples take: the difference that a copy of them makes.
const before = await heap();
const copy = structuredClone(conversation.slice(first.messages));
const conversationBytes = (await heap()) - before;
process.stdout.write(
  JSON.stringify({ reason, turns: last.turn, messages: copy.length, grownBytes: last.heap - first.heap, conversationBytes }),
);
await deaf.return?.();
