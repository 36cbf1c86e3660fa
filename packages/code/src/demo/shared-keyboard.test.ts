import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createSharedKeyboard } from "./shared-keyboard.ts";

function open() {
  const raw: boolean[] = [];
  const person = Object.assign(new PassThrough(), { isTTY: true as const, setRawMode: (isRaw: boolean) => void raw.push(isRaw) });
  const seen: string[] = [];
  let isAsked = false;
  // A lone Esc is known by the time that passes after it.
  const timers: (() => void)[] = [];
  const keyboard = createSharedKeyboard({
    person,
    isAsked: () => isAsked,
    onSkip: () => void seen.push("skip"),
    onLeave: () => void seen.push("leave"),
    after(_ms, done) {
      timers.push(done);
      return () => {};
    },
  });
  keyboard.input.on("data", (chunk: Buffer) => void seen.push(JSON.stringify(chunk.toString())));
  return {
    ...{ person, keyboard, seen, raw },
    ask: (open: boolean) => void (isAsked = open),
    /** Types keys. @returns the events that they caused */
    async type(keys: string): Promise<readonly string[]> {
      seen.splice(0);
      person.write(keys);
      await new Promise(setImmediate);
      timers.splice(0).forEach((done) => done());
      return [...seen];
    },
  };
}

describe("the keyboard of a show", () => {
  it("skips ahead with every key while nothing is asked, and passes none on", async () => {
    const { type } = open();
    expect(await type("x")).toEqual(["skip"]);
    expect(await type("\r")).toEqual(["skip"]);
    expect(await type("\u001b[A")).toEqual(["skip"]);
    expect(await type("\u001b")).toEqual(["skip"]);
  });

  it("leaves at Ctrl-C and Ctrl-D in every way that a terminal sends them, and when the terminal goes away", async () => {
    const { type, person, seen } = open();
    for (const keys of ["\u0003", "\u001b[99;5u", "\u001b[27;5;99~", "\u0004"]) expect(await type(keys)).toEqual(["leave"]);
    seen.splice(0);
    person.end();
    await new Promise(setImmediate);
    expect(seen).toEqual(["leave"]);
  });

  it("passes the keys of an answer to the conversation, and counts them for each question", async () => {
    const { type, keyboard, ask } = open();
    ask(true);
    expect(await type("n")).toEqual(['"n"']);
    expect(await type("\u007f")).toEqual([JSON.stringify("\u007f")]);
    expect(await type("y\r")).toEqual(['"y"', '"\\r"']);
    expect(keyboard.answerKeys).toBe(4);
    keyboard.beginAnswer();
    expect(keyboard.answerKeys).toBe(0);
  });

  it("passes no key on that could leave the question or change the draft", async () => {
    const { type, keyboard, ask } = open();
    ask(true);
    for (const keys of ["\u001b", "\u001b[A", "\u001b[Z", "\u0012", "\t"]) expect(await type(keys)).toEqual([]);
    expect(keyboard.answerKeys).toBe(0);
  });

  it("takes a blank or Enter before an answer for a key that skips ahead", async () => {
    const { type, ask } = open();
    ask(true);
    expect(await type(" ")).toEqual(["skip"]);
    expect(await type("\r")).toEqual(["skip"]);
    expect(await type("w")).toEqual(['"w"']);
    expect(await type(" ")).toEqual(['" "']);
  });

  it("ignores pastes and releases of keys, and passes reports and Ctrl-Z on", async () => {
    const { type } = open();
    expect(await type("\u001b[200~y\r\u001b[201~")).toEqual([]);
    expect(await type("\u001b[97;1:3u")).toEqual([]);
    expect(await type("\u001b[I")).toEqual(['"\\u001b[I"']);
    expect(await type("\u001a")).toEqual(['"\\u001a"']);
  });

  it("is ready when the conversation reads keys, whose raw mode is that of the terminal", async () => {
    const { keyboard, raw } = open();
    let isReady = false;
    void keyboard.ready.then(() => (isReady = true));
    await new Promise(setImmediate);
    expect(isReady).toBe(false);
    keyboard.input.setRawMode?.(true);
    await keyboard.ready;
    keyboard.input.setRawMode?.(false);
    expect(raw).toEqual([true, false]);
  });
});
