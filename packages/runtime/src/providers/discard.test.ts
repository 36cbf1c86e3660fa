import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { startModelServer } from "../testing/model-server.ts";

const MEBIBYTE = 1024 * 1024;

/** Runs in a process of its own, whose memory is then that of the client alone. */
const client = `
  const [, url, wire, pause] = process.argv;
  const { createAnthropicProvider } = await import(${JSON.stringify(new URL("./anthropic.ts", import.meta.url).href)});
  const { createOpenAiChatProvider } = await import(${JSON.stringify(new URL("./openai-chat.ts", import.meta.url).href)});
  const options = { apiKey: "k", proxyEnvironment: false };
  const provider = wire === "anthropic" ? createAnthropicProvider({ ...options, baseUrl: url }) : createOpenAiChatProvider({ ...options, baseUrl: url + "/v1" });
  let bytes = 0, events = 0, last;
  for await (const event of provider.stream({ model: "m", messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] })) {
    if (event.type === "text-delta") bytes += event.text.length;
    // A reader that is slower than the network holds it back.
    if (pause === "slow" && ++events % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    last = event.type;
  }
  console.log(JSON.stringify({ bytes, last, peakRss: process.resourceUsage().maxRSS * 1024 }));
`;

it.each([
  ["anthropic", "fast"],
  ["openai", "slow"],
])(
  "discards a %s stream of 200 MiB in less than 200 MiB of memory (%s reader)",
  async (wire, pause) => {
    await using server = await startModelServer([{ text: [`${"long text, ".repeat(400)}`], misbehave: { hugeTextBytes: 200 * MEBIBYTE } }]);
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--conditions=source",
      "--input-type=module",
      "-e",
      client,
      server.url,
      wire,
      pause,
    ]);
    const { bytes, last, peakRss } = JSON.parse(stdout) as { bytes: number; last: string; peakRss: number };
    expect(bytes).toBeGreaterThan(190 * MEBIBYTE);
    expect(last).toBe("end");
    expect(peakRss).toBeLessThan(200 * MEBIBYTE);
  },
  60_000,
);
