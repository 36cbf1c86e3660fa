// Runs an agent whose model never stops talking, watched, then says how it ended and how much memory the process took at its peak.
import { createAgent, createModelRegistry, createRunner } from "keelson";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";

const [, , wire, url = ""] = process.argv;
const provider =
  wire === "anthropic"
    ? createAnthropicProvider({ apiKey: "k", baseUrl: url })
    : createOpenAiChatProvider({ apiKey: "k", baseUrl: `${url}/v1` });
const run = createRunner({
  agent: createAgent({ name: "listener", model: "p/flood" }),
  models: createModelRegistry({ providers: { p: provider } }),
}).run("Talk.");
// One watcher reads, another never does.
run[Symbol.asyncIterator]();
let events = 0;
for await (const event of run) if (event.type === "text-delta") events++;
const { reason, text } = await run.outcome;
process.stdout.write(JSON.stringify({ reason, length: text.length, events, maxRssBytes: process.resourceUsage().maxRSS * 1024 }));
