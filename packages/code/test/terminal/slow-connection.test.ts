import { Buffer } from "node:buffer";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { openWorkspace } from "../keelson-process.ts";
import { openTerminal } from "../keelson-terminal.ts";
import { openPacedServer } from "./paced-server.ts";
import { KEYS } from "./shared-terminal.ts";
import type { SlowLinkSpeed } from "./slow-link.ts";
import { stableScreen } from "./stable-screen.ts";
import { USAGE } from "./usage.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 });

const RADIO: SlowLinkSpeed = { bytesPerSecond: 20_000, latencyMs: 50 };
/** The speed of a model that writes about 60 tokens in a second: each takes an event of some 130 bytes. */
const MODEL_BYTES_PER_SECOND = 8_000;

const SENTENCE = "The screen shows 家族 and 👨‍👩‍👧‍👦 as they are, however slow the connection is. ";
const RESPONSE = `# What it does

${SENTENCE.repeat(6).trim()}

${Array.from({ length: 8 }, (_, index) => `- item ${index} of a list, with \`code\` in it`).join("\n")}

| number | square |
|---|---|
${Array.from({ length: 10 }, (_, index) => `| ${index} | ${index * index} |`).join("\n")}

\`\`\`ts
${Array.from({ length: 10 }, (_, index) => `export const value${index} = ${index}; // number ${index}`).join("\n")}
\`\`\`
`;
const DRAFT = "typed meanwhile: 漢字 é 👩🏽‍🚒 and more";

interface Conversation {
  readonly screen: string;
  /** True if all that was typed was on the screen before the response ended. */
  readonly wasEchoed: boolean;
  /** The bytes that were written from the message to the end of the run. */
  readonly bytes: number;
  /** The message that the agent received after all of it was typed. */
  readonly received: string;
}

/** Types while a response streams, sends that, and leaves. */
async function converse(link?: SlowLinkSpeed): Promise<Conversation> {
  await using workspace = await openWorkspace([
    { text: RESPONSE, usage: USAGE },
    { text: "Read.", usage: USAGE },
  ]);
  await using server = await openPacedServer({ target: workspace.server.url, bytesPerSecond: MODEL_BYTES_PER_SECOND });
  const env = { NO_COLOR: "", ANTHROPIC_BASE_URL: server.url };
  await using terminal = openTerminal(workspace, [], { rows: 24, env, timeByHand: true, ...(link && { link }) });
  await terminal.until(/\n› $/);
  const before = terminal.written();
  terminal.type(`show me${KEYS.enter}`);
  await terminal.until(/The screen shows/);
  for (const letter of DRAFT) terminal.type(letter);
  await terminal.until(new RegExp(`› ${DRAFT}$`));
  const wasEchoed = !/complete/.test(terminal.transcript());
  await terminal.until(/complete[\s\S]*› typed meanwhile/);
  await terminal.untilAll(/› typed meanwhile.*\n.*context/);
  const bytes = Buffer.byteLength(terminal.written()) - Buffer.byteLength(before);
  terminal.type(KEYS.enter);
  await terminal.untilAll(/Read\.[\s\S]*complete[\s\S]*\n› \n.*\$0\.0050 · no sandbox$/);
  const screen = stableScreen(workspace, terminal.transcript().split("\n"));
  const received = JSON.stringify(workspace.server.requests.at(-1)?.body["messages"]);
  terminal.type(`/quit${KEYS.enter}`);
  expect(await terminal.exited).toBe(0);
  return { screen, wasEchoed, bytes, received };
}

describe("a connection with 20 KB in a second and 50 ms each way", () => {
  let slow: Conversation;
  let fast: Conversation;
  beforeAll(async () => {
    [slow, fast] = await Promise.all([converse(RADIO), converse()]);
  });

  it("shows in the end what a fast connection shows", () => {
    expect(slow.screen).toBe(fast.screen);
  });

  it("loses no key, and echoes what is typed while a response streams", () => {
    expect(slow.received).toContain(DRAFT);
    expect(slow.wasEchoed).toBe(true);
  });

  it("gets at most 25 bytes for each byte of the response: rows that change, and no whole screens", () => {
    expect(slow.bytes).toBeLessThan(25 * Buffer.byteLength(RESPONSE));
  });
});
