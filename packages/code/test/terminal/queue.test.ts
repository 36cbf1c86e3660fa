import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { KEYS, shareTerminal } from "./shared-terminal.ts";
import { USAGE } from "./usage.ts";
import { WIDTHS } from "./widths.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const FIRST = "the first message, which is long enough to be cut in a narrow terminal";

describe.each(WIDTHS)("messages that are sent while the agent works, at %d columns", (columns) => {
  const thought = Promise.withResolvers<void>();
  const shared = shareTerminal({
    ...{ columns, rows: 40, timeByHand: true, args: ["--allow", "bash(*)", "--permission-mode", "bypass-all"] },
    script: [
      async () => {
        await thought.promise;
        return { toolCalls: [{ name: "bash", input: { command: "echo began; while [ ! -e go ]; do sleep 0.05; done" } }], usage: USAGE };
      },
      { text: "All read.", usage: USAGE },
    ],
  });
  const { see, seeAll } = shared;

  it("wait in sight above the input while a response streams, until Alt-Up returns the last of them to be edited", async () => {
    await see(`begin${KEYS.enter}`, /› begin\n[\s\S]*thinking[\s\S]*\n› $/);
    await see(`${FIRST}${KEYS.enter}`, /waits › the first[\s\S]*\n› $/);
    await see(`the second${KEYS.enter}`, /waits › the second[\s\S]*\n› $/);
    expect(await seeAll("a draft", /› a draft\n.*bypass-all/, "› begin")).toMatchSnapshot("waiting");
    expect(await seeAll(KEYS.altUp, /› the second\n {2}a draft\n.*bypass-all/, "› begin")).toMatchSnapshot("taken back");
    await see(`, edited${KEYS.enter}`, /waits › the second[\s\S]*\n› $/);
  });

  it("are handed over when the calls of the response begin, and immediately while calls run", async () => {
    thought.resolve();
    await see("", /› the second\n {2}a draft, edited\n[\s\S]*bash: began[\s\S]*\n› $/);
    expect(await see(`the third${KEYS.enter}`, /› the third\n[\s\S]*\n› $/, "› begin")).toMatchSnapshot();
    await see(KEYS.altUp, /no waiting message[\s\S]*\n› $/);
  });

  it("are read by the agent before its next response, in order", async () => {
    await writeFile(join(shared.workspace.project, "go"), "");
    expect(await see("", /All read\.[\s\S]*complete[\s\S]*\n› $/, "● bash")).toMatchSnapshot();
    const messages = JSON.stringify(shared.workspace.server.requests.at(-1)?.body["messages"]);
    expect(messages).toMatch(/the first message[^"]*terminal[\s\S]*the second\\\\?na draft, edited[\s\S]*the third/);
  });
});
