import { PassThrough } from "node:stream";
import { setImmediate as settle } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { createLineInput } from "./line-input.ts";
import { QUIET_MS } from "./quiet-time.ts";
import type { TerminalInput } from "./terminal-input.ts";

const opened: TerminalInput[] = [];
afterEach(() => opened.splice(0).forEach((input) => input.close()));

function setUp(): {
  readonly input: TerminalInput;
  readonly messages: string[];
  readonly answers: string[];
  readonly prompts: string[];
  readonly did: string[];
  type(text: string): Promise<void>;
  end(): Promise<void>;
  pass(ms: number): void;
} {
  const stream = new PassThrough();
  const [messages, answers, prompts, did]: [string[], string[], string[], string[]] = [[], [], [], []];
  let due: { ms: number; readonly done: () => void } | undefined;
  const input = createLineInput({
    input: stream,
    onMessage: (text) => messages.push(text),
    onAnswer: (text) => answers.push(text),
    onPrompt: (text) => prompts.push(text),
    onEnd: () => did.push("end"),
    after(ms, done) {
      const wait = { ms, done };
      due = wait;
      return () => {
        if (due === wait) due = undefined;
      };
    },
  });
  opened.push(input);
  return {
    ...{ input, messages, answers, prompts, did },
    async type(text) {
      stream.write(text);
      await settle();
    },
    async end() {
      stream.end();
      await settle();
    },
    pass(ms) {
      if (due === undefined) return;
      due.ms -= ms;
      const { done, ms: left } = due;
      if (left > 0) return;
      due = undefined;
      done();
    },
  };
}

describe("createLineInput", () => {
  it("sends each line, and joins lines that end with a backslash", async () => {
    const { type, messages } = setUp();
    await type("one\ntwo\\\nthree\n");
    expect(messages).toEqual(["one", "two\nthree"]);
  });

  it("keeps lines that arrive before a question could be read for the next message", async () => {
    const { input, type, messages, answers, prompts, pass } = setUp();
    input.question("[y]es [n]o › ");
    await type("y\n");
    pass(QUIET_MS - 1);
    await type("more\n");
    pass(QUIET_MS - 1);
    expect([answers, messages]).toEqual([[], []]);
    pass(1);
    await type("n\n");
    input.message("› ");
    await type("words\n");
    expect([answers, messages]).toEqual([["n"], ["y\nmore\nwords"]]);
    expect(prompts).toEqual(["[y]es [n]o ›", "kept for your next message: y", "kept for your next message: more", "›"]);
  });

  it("answers with the text that was shown if the line is =", async () => {
    const { input, type, answers, prompts, pass } = setUp();
    input.question("? › ");
    pass(QUIET_MS);
    input.answer("arguments › ", "{}");
    await type("=\n");
    input.answer("arguments › ", "");
    await type("=x\n");
    expect(answers).toEqual(["{}", "=x"]);
    expect(prompts).toEqual(["? ›", "arguments › {} (= keeps it)", "arguments ›"]);
  });

  it("keeps what was no answer, and what was begun before a question, in the draft", async () => {
    const { input, type, messages, pass } = setUp();
    await type("begun\\\n");
    input.question("? › ");
    pass(QUIET_MS);
    await type("maybe\n");
    input.question("? › ", "maybe");
    input.message("› ");
    expect(input.draft()).toBe("begun\nmaybe");
    expect([input.clear(), input.clear()]).toEqual([true, false]);
    await type("sent\n");
    expect(messages).toEqual(["sent"]);
  });

  it("reports the end of its input", async () => {
    const { end, did } = setUp();
    await end();
    expect(did).toEqual(["end"]);
  });
});
