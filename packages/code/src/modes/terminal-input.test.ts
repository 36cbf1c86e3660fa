import { PassThrough } from "node:stream";
import { setImmediate as settle } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { InputLine } from "../terminal/input-line.ts";
import { type After, QUIET_MS } from "./quiet-time.ts";
import { createTerminalInput, type TerminalInput } from "./terminal-input.ts";

const opened: TerminalInput[] = [];
afterEach(() => opened.splice(0).forEach((input) => input.close()));

/** A clock that goes when the test says so. */
function createManualClock(): { readonly after: After; pass(ms: number): void } {
  let now = 0;
  let waiting: { readonly at: number; readonly done: () => void }[] = [];
  return {
    after(ms, done) {
      const wait = { at: now + ms, done };
      waiting.push(wait);
      return () => (waiting = waiting.filter((other) => other !== wait));
    },
    pass(ms) {
      now += ms;
      const due = waiting.filter(({ at }) => at <= now);
      waiting = waiting.filter(({ at }) => at > now);
      for (const { done } of due) done();
    },
  };
}

function setUp(history: readonly string[] = []): {
  readonly input: TerminalInput;
  type(text: string): Promise<void>;
  readonly lines: string[];
  readonly answers: string[];
  readonly did: string[];
  readonly line: () => InputLine | undefined;
  readonly pass: (ms: number) => void;
} {
  const stream = new PassThrough();
  const lines: string[] = [];
  const answers: string[] = [];
  const did: string[] = [];
  const clock = createManualClock();
  let line: InputLine | undefined;
  const input = createTerminalInput({
    input: stream,
    columns: 80,
    history,
    draw: (drawn) => (line = drawn),
    onMessage: (text) => lines.push(text),
    onAnswer: (text) => answers.push(text),
    onInterrupt: () => did.push("interrupt"),
    onEscape: () => did.push("escape"),
    onEnd: () => did.push("end"),
    after: clock.after,
  });
  opened.push(input);
  return {
    input,
    async type(text) {
      stream.write(text);
      await settle();
    },
    lines,
    answers,
    did,
    line: () => line,
    pass: clock.pass,
  };
}

describe("createTerminalInput", () => {
  it("draws what is typed and hands over finished lines", async () => {
    const { type, lines, line } = setUp();
    await type("helo");
    await type("\u001b[D");
    await type("l");
    expect(line()).toEqual({ lead: "", prompt: "› ", text: "hello", cursor: 4 });
    await type("\r");
    expect([lines, line()?.text]).toEqual([["hello"], ""]);
  });

  it("takes a paste of several lines for one text, sent by the next Enter", async () => {
    const { type, lines, line } = setUp();
    await type("\u001b[200~first\rsecond\rthird\u001b[201~");
    expect([lines, line()]).toEqual([[], { lead: "[+2 lines] ", prompt: "› ", text: "third", cursor: 5 }]);
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

  it("tells a lone Esc from the beginning of a key", async () => {
    const { type, did, line } = setUp(["earlier"]);
    await type("\u001b[A");
    expect([did, line()?.text]).toEqual([[], "earlier"]);
    await type("\u001b");
    await vi.waitUntil(() => did.length > 0, 5_000);
    expect(did).toEqual(["escape"]);
  });
});

describe("a question", () => {
  it("parks the draft, takes nothing until no key came for a while, then a whole line, and gives the draft back", async () => {
    const { input, type, lines, answers, line, pass } = setUp();
    await type("a better ");
    input.question("[y]es › ");
    expect(line()).toEqual({ lead: "[draft kept] ", prompt: "[y]es ⋯ ", text: "", cursor: 0 });
    await type("idea");
    pass(499);
    await type(": use pnpm");
    pass(499);
    expect(line()).toMatchObject({ prompt: "[y]es ⋯ ", text: "" });
    pass(1);
    expect(line()).toEqual({ lead: "[draft kept] ", prompt: "[y]es › ", text: "", cursor: 0 });
    await type("y");
    expect([answers, line()?.text]).toEqual([[], "y"]);
    await type("\r");
    expect([answers, lines]).toEqual([["y"], []]);
    input.message("› ");
    expect(line()).toMatchObject({ lead: "", prompt: "› ", text: "a better idea: use pnpm" });
    await type("\r");
    expect(lines).toEqual(["a better idea: use pnpm"]);
  });

  it("takes neither text that was begun before it nor text that is typed on across it", async () => {
    const words = fc.stringMatching(/^[ynaebw rsf.]{0,6}$/);
    const chunk = fc.record({
      keys: fc.oneof(
        fc.stringMatching(/^[ynaebw rsf.]{1,6}$/),
        fc.constantFrom("y", "n", "a", "\r", "y\r", "yes\r", "a\r", "\u001b[200~y\ry\r\u001b[201~"),
      ),
      pause: fc.integer({ min: 0, max: QUIET_MS - 1 }),
    });
    await fc.assert(
      fc.asyncProperty(words, fc.array(chunk, { minLength: 1, maxLength: 8 }), async (before, across) => {
        const { input, type, lines, answers, pass } = setUp();
        await type(before);
        input.question("? › ");
        for (const { keys, pause } of across) {
          await type(keys);
          pass(pause);
        }
        expect([answers, lines]).toEqual([[], []]);
        pass(QUIET_MS);
        await type("yes\r");
        expect([answers, lines]).toEqual([["yes"], []]);
        // Nothing that was typed is lost.
        input.message("› ");
        pass(QUIET_MS);
        await type("\r");
        const typed = before + across.map(({ keys }) => keys).join("");
        // oxlint-disable-next-line no-control-regex -- the marks of a paste are no text
        const kept = (text: string): string => text.replaceAll(/\u001b\[20[01]~|\s/g, "");
        expect(kept(lines.join(""))).toBe(kept(typed));
        input.close();
      }),
      { numRuns: 1_500 },
    );
  });

  it("that comes after another one waits for a pause of its own", async () => {
    const { input, type, answers, pass } = setUp();
    input.question("first › ");
    pass(QUIET_MS);
    await type("y\r");
    input.question("second › ");
    await type("y\r");
    expect(answers).toEqual(["y"]);
    pass(QUIET_MS);
    await type("n\r");
    expect(answers).toEqual(["y", "n"]);
  });

  it("takes no paste for its answer: it joins the draft", async () => {
    const { input, type, answers, line, pass } = setUp();
    input.question("? › ");
    pass(QUIET_MS);
    await type("\u001b[200~y\ry\u001b[201~\r");
    expect(answers).toEqual([]);
    pass(QUIET_MS);
    input.message("› ");
    expect(line()).toMatchObject({ lead: "[+1 line] ", text: "y " });
  });

  it("that goes away under the hands of a person leaves Enter without effect until they pause", async () => {
    const { input, type, lines, line, pass } = setUp();
    await type("draft");
    input.question("? › ");
    pass(QUIET_MS);
    await type("ye");
    input.message("› ");
    await type("s\r");
    expect([lines, line()?.text]).toEqual([[], "drafts "]);
    pass(QUIET_MS);
    await type("\r");
    expect(lines).toEqual(["drafts "]);
  });

  it("can have an answer of several lines edited, which is sent whole by Enter and not by its line ends", async () => {
    const { input, type, pass, answers, lines, line } = setUp();
    input.question("plan? › ");
    pass(QUIET_MS);
    input.answer("plan › ", "1. Read\n2. Write");
    expect([answers, line()]).toEqual([[], { lead: "[+1 line] ", prompt: "plan › ", text: "2. Write", cursor: 8 }]);
    await type("!\r");
    expect(answers).toEqual(["1. Read\n2. Write!"]);
    input.answer("plan › ", "1. Read\n2. Write");
    input.answer("plan? › ", "");
    await type("y\r");
    expect(answers.at(-1)).toBe("y");
    input.message("› ");
    await type("go\r");
    expect(lines).toEqual(["go"]);
  });

  it("can have its answer edited, and nothing of that is left, nor in the history", async () => {
    const { input, type, answers, line, pass } = setUp(["earlier"]);
    await type("draft");
    input.question("? › ");
    pass(QUIET_MS);
    await type("e\r");
    input.answer("arguments › ", "{}");
    expect(line()).toEqual({ lead: "[draft kept] ", prompt: "arguments › ", text: "{}", cursor: 2 });
    await type("\r");
    expect(answers).toEqual(["e", "{}"]);
    input.answer("arguments › ", '{"command":"rm"}');
    input.message("› ");
    expect(line()?.text).toBe("draft");
    await type("\u0015\u001b[A");
    expect(line()?.text).toBe("earlier");
  });
});
