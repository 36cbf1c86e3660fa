import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLiveScreen } from "../terminal/live-screen.ts";
import { createTerminalInput } from "./terminal-input.ts";

/** A message as a person makes it: typed and pasted pieces, with new lines between them. */
const message = fc
  .array(
    fc.record({
      isPaste: fc.boolean(),
      text: fc
        .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
        .map((text) => text.replace(/[\p{Cc}\u{f0000}-\u{10ffff}\\]/gu, "x")),
      newLine: fc.constantFrom("\n", "\u001b\r", "\u001b[13;2u", "\u001b[27;2;13~", "\\\r"),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((pieces) => ({
    sent: pieces
      .map(({ isPaste, text, newLine }, index) => `${index > 0 ? newLine : ""}${isPaste ? `\u001b[200~${text}\u001b[201~` : text}`)
      .join(""),
    text: pieces.map(({ text }) => text).join("\n"),
  }));

function typeAll(bytes: Buffer, cuts: readonly number[], output: string): readonly string[] {
  const messages: string[] = [];
  const stdin = new PassThrough();
  const screen = createLiveScreen({ columns: 80, write: () => {} });
  const input = createTerminalInput({
    input: stdin,
    history: [],
    onChange: () => screen.changed({ soon: true }),
    onMessage: (text) => messages.push(text),
    onAnswer() {},
    onInterrupt() {},
    onEscape() {},
    onEnd() {},
    after: () => () => {},
  });
  screen.part("input", input.part);
  input.message("› ");
  const places = [...new Set([0, ...cuts.map((place) => place % (bytes.length + 1)), bytes.length])].toSorted((a, b) => a - b);
  for (const [index, start] of places.slice(0, -1).entries()) {
    // A listener gets a chunk as the stream has it.
    stdin.emit("data", bytes.subarray(start, places[index + 1]));
    if (output !== "") screen.text(output);
  }
  input.close();
  return messages;
}

describe("the keys of a person", () => {
  it("arrive whole and in order, typed or pasted, wherever their bytes are cut and whatever is shown in between", () => {
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        fc.constantFrom("", "output\n", "no line end "),
        (given, cuts, output) => {
          const bytes = Buffer.from(given.map(({ sent }) => `${sent}\r`).join(""));
          expect(typeAll(bytes, cuts, output)).toEqual(given.map(({ text }) => text));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("arrive whole and in order under 10 MB of output", () => {
    const text = "Größe 漢字 👩‍👩‍👧 and more ".repeat(4);
    const bytes = Buffer.from(`${text}\u001b[200~${text}\u001b[201~\r`);
    const cuts = Array.from({ length: 100 }, (_, index) => index * 4);
    expect(typeAll(bytes, cuts, "0123456789\n".repeat(10_000))).toEqual([text + text]);
  });
});
