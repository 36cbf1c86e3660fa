// Streams a response and discards it, then says what it received and how much memory the process took at its peak.
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { textMessage } from "@keelson/protocol";

const [, , wire, url = ""] = process.argv;
const provider =
  wire === "anthropic"
    ? createAnthropicProvider({ apiKey: "k", baseUrl: url })
    : createOpenAiChatProvider({ apiKey: "k", baseUrl: `${url}/v1` });
let characters = 0;
let last = "";
for await (const event of provider.stream({ model: "flood", messages: [textMessage("user", "Talk.")], maxTokens: 100 })) {
  if (event.type === "text-delta") characters += event.text.length;
  last = event.type;
}
process.stdout.write(JSON.stringify({ characters, last, maxRssBytes: process.resourceUsage().maxRSS * 1024 }));
