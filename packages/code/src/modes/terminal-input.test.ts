import { PassThrough } from "node:stream";
import { setImmediate as settle } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { After } from "../terminal/after-reading.ts";
import { QUIET_MS } from "./quiet-time.ts";
import { ESCAPE_MS } from "../editor/read-keys.ts";
import { createTerminalInput, type TerminalInput } from "./terminal-input.ts";

const opened: TerminalInput[] = [];
afterEach(() => opened.splice(0).forEach((input) => input.close()));

/** The rows of the input, with a bar at the cursor. */
function shown(input: TerminalInput, columns = 79): string {
  const { lines, cursor = { row: 0, column: 0 } } = input.part.rows({ columns, rows: 20 });
  return lines
    .map((line, index) =>
      index === cursor.row ? `${line.padEnd(cursor.column).slice(0, cursor.column)}|${line.slice(cursor.column)}` : line,
    )
    .join("\n");
}

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
  readonly keys: string[];
  readonly raw: () => boolean | undefined;
  readonly line: () => string;
  readonly pass: (ms: number) => void;
} {
  let raw: boolean | undefined;
  const stream = Object.assign(new PassThrough(), { setRawMode: (on: boolean): void => void (raw = on) });
  const keys: string[] = [];
  const lines: string[] = [];
  const answers: string[] = [];
  const did: string[] = [];
  const clock = createManualClock();
  const input = createTerminalInput({
    input: stream,
    history,
    onChange() {},
    onMessage: (text) => lines.push(text),
    onAnswer: (text) => answers.push(text),
    onInterrupt: () => did.push("interrupt"),
    onEscape: () => did.push("escape"),
    onEnd: () => did.push("end"),
    onKey: (name) => keys.push(name),
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
    keys,
    raw: () => raw,
    line: () => shown(input),
    pass: clock.pass,
  };
}

describe("createTerminalInput", () => {
  it("draws what is typed and hands over finished lines", async () => {
    const { type, lines, line } = setUp();
    await type("helo");
    await type("\u001b[D");
    await type("l");
    expect(line()).toBe("› hell|o");
    await type("\r");
    expect([lines, line()]).toEqual([["hello"], "› |"]);
  });

  it("reports an empty paste as an image, and keys that do not edit by their names", async () => {
    const { type, keys, line } = setUp();
    await type("\u001b[200~\u001b[201~\u001b[Z\u001b[27;2;65~\u001b[97;1:3u");
    expect([keys, line()]).toEqual([["paste-image", "mode"], "› A|"]);
  });

  it("leaves a search of the history at Ctrl-C, without more", async () => {
    const { type, did, line } = setUp(["earlier"]);
    await type("draft\u0012ear");
    expect(line()).toBe("search › ear|\n→ earlier");
    await type("\u0003");
    expect([did, line()]).toEqual([[], "› draft|"]);
  });

  it("lends its keys to another part of the screen", async () => {
    const { input, type, line } = setUp();
    const lent: string[] = [];
    const end = input.lend((sequence) => lent.push(sequence));
    await type("a\u001b[A\u001b[200~b\u001b[201~");
    end();
    await type("c");
    expect([lent, line()]).toEqual([["a", "\u001b[A", "b"], "› c|"]);
  });

  it("reads no key while a program has the terminal, which is out of raw mode then", async () => {
    const { input, type, line, raw } = setUp();
    const { promise, resolve } = Promise.withResolvers<string>();
    const result = input.suspend(() => promise);
    await type("a");
    expect([line(), raw()]).toEqual(["› |", false]);
    resolve("done");
    expect(await result).toBe("done");
    await type("b");
    expect([line(), raw()]).toEqual(["› ab|", true]);
    const last = Promise.withResolvers<void>();
    const ended = input.suspend(() => last.promise);
    input.close();
    last.resolve();
    await ended;
    expect(raw()).toBe(false);
  });

  it("edits the draft of a message while a question is open", async () => {
    const { input, type, line, answers, pass } = setUp();
    await type("draft");
    input.question("? › ");
    pass(QUIET_MS);
    input.insert("ed");
    await type("y");
    expect([input.draft(), line()]).toEqual(["drafted", "[draft kept] ? › y|"]);
    input.setDraft("other");
    await type("\r");
    expect([input.draft(), answers]).toEqual(["other", ["y"]]);
  });

  it("takes a paste of several lines for one text, sent by the next Enter", async () => {
    const { type, lines, line } = setUp();
    await type("\u001b[200~first\rsecond\rthird\u001b[201~");
    expect([lines, line()]).toEqual([[], "› first\n  second\n  third|"]);
    await type("!\r");
    expect(lines).toEqual(["first\nsecond\nthird!"]);
  });

  it("goes back through earlier lines", async () => {
    const { type, line } = setUp(["newest", "oldest"]);
    await type("\u001b[A");
    expect(line()).toBe("› newest|");
    await type("\u001b[A");
    expect(line()).toBe("› oldest|");
  });

  it("reports Ctrl-C and Ctrl-D, and says whether there was anything to clear", async () => {
    const { input, type, did, line } = setUp();
    await type("abc");
    await type("\u0003");
    expect(did).toEqual(["interrupt"]);
    expect([input.clear(), line(), input.clear()]).toEqual([true, "› |", false]);
    await type("\u0004");
    expect(did).toEqual(["interrupt", "end"]);
  });

  it("tells a lone Esc from the beginning of a key", async () => {
    const { type, did, line, pass } = setUp(["earlier"]);
    await type("\u001b");
    await type("[A");
    expect([did, line()]).toEqual([[], "› earlier|"]);
    await type("\u001b");
    pass(ESCAPE_MS - 1);
    expect(did).toEqual([]);
    pass(1);
    expect(did).toEqual(["escape"]);
  });
});

describe("a question", () => {
  it("parks the draft, takes nothing until no key came for a while, then a whole line, and gives the draft back", async () => {
    const { input, type, lines, answers, line, pass } = setUp();
    await type("a better ");
    input.question("[y]es › ");
    expect(line()).toBe("[draft kept] [y]es ⋯ |");
    await type("idea");
    pass(499);
    await type(": use pnpm");
    pass(499);
    expect(line()).toBe("[draft kept] [y]es ⋯ |");
    pass(1);
    expect(line()).toBe("[draft kept] [y]es › |");
    await type("y");
    expect([answers, line()]).toEqual([[], "[draft kept] [y]es › y|"]);
    await type("\r");
    expect([answers, lines]).toEqual([["y"], []]);
    input.message("› ");
    expect(line()).toBe("› a better idea: use pnpm|");
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
    expect(line()).toBe("› y\n  y |");
  });

  it("that goes away under the hands of a person leaves Enter without effect until they pause", async () => {
    const { input, type, lines, line, pass } = setUp();
    await type("draft");
    input.question("? › ");
    pass(QUIET_MS);
    await type("ye");
    input.message("› ");
    await type("s\r");
    expect([lines, line()]).toEqual([[], "› drafts |"]);
    pass(QUIET_MS);
    await type("\r");
    expect(lines).toEqual(["drafts "]);
  });

  it("can have its answer edited, and nothing of that is left, nor in the history", async () => {
    const { input, type, answers, line, pass } = setUp(["earlier"]);
    await type("draft");
    input.question("? › ");
    pass(QUIET_MS);
    await type("e\r");
    input.answer("arguments › ", "{}");
    expect(line()).toBe("[draft kept] arguments › {}|");
    await type("\r");
    expect(answers).toEqual(["e", "{}"]);
    input.answer("arguments › ", '{"command":"rm"}');
    input.message("› ");
    expect(line()).toBe("› draft|");
    await type("\u0015\u001b[A");
    expect(line()).toBe("› earlier|");
  });
});
