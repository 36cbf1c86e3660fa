import { PassThrough } from "node:stream";
import { setImmediate as settle } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { InputLine } from "../render/live-screen.ts";
import { createTerminalInput, type TerminalInput } from "./terminal-input.ts";

const opened: TerminalInput[] = [];
afterEach(() => opened.splice(0).forEach((input) => input.close()));

function setUp(history: readonly string[] = []): {
  readonly input: TerminalInput;
  type(text: string): Promise<void>;
  readonly lines: string[];
  readonly did: string[];
  readonly line: () => InputLine | undefined;
} {
  const stream = new PassThrough();
  const lines: string[] = [];
  const did: string[] = [];
  let line: InputLine | undefined;
  const input = createTerminalInput({
    input: stream,
    columns: 80,
    history,
    draw: (drawn) => (line = drawn),
    onLine: (text) => lines.push(text),
    onInterrupt: () => did.push("interrupt"),
    onEnd: () => did.push("end"),
  });
  opened.push(input);
  return {
    input,
    async type(text) {
      stream.write(text);
      await settle();
    },
    lines,
    did,
    line: () => line,
  };
}

describe("createTerminalInput", () => {
  it("draws what is typed and hands over finished lines", async () => {
    const { type, lines, line } = setUp();
    await type("helo");
    await type("\u001b[D");
    await type("l");
    expect(line()).toEqual({ prompt: "› ", text: "hello", cursor: 4 });
    await type("\r");
    expect([lines, line()?.text]).toEqual([["hello"], ""]);
  });

  it("takes a paste of several lines for one text, sent by the next Enter", async () => {
    const { type, lines, line } = setUp();
    await type("\u001b[200~first\rsecond\rthird\u001b[201~");
    expect([lines, line()]).toEqual([[], { prompt: "[+2 lines] › ", text: "third", cursor: 5 }]);
    await type("!\r");
    expect(lines).toEqual(["first\nsecond\nthird!"]);
  });

  it("goes back through earlier lines", async () => {
    const { type, line } = setUp(["newest", "oldest"]);
    await type("\u001b[A");
    expect(line()?.text).toBe("newest");
    await type("\u001b[A");
    expect(line()?.text).toBe("oldest");
  });

  it("reports Ctrl-C and Ctrl-D, and says whether there was anything to clear", async () => {
    const { input, type, did, line } = setUp();
    await type("abc");
    await type("\u0003");
    expect(did).toEqual(["interrupt"]);
    expect([input.clear(), line()?.text, input.clear()]).toEqual([true, "", false]);
    await type("\u0004");
    expect(did).toEqual(["interrupt", "end"]);
  });

  it("can be filled and asked with another prompt", async () => {
    const { input, lines, line, type } = setUp();
    input.prompt("arguments › ");
    input.fill("{}");
    expect(line()).toEqual({ prompt: "arguments › ", text: "{}", cursor: 2 });
    await type("\r");
    expect(lines).toEqual(["{}"]);
  });
});
