import fc from "fast-check";
import { expect, it } from "vitest";
import { textWindows } from "./text-windows.ts";

async function* cut(text: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.byteLength; at += size) yield text.subarray(at, at + size);
}

const anyText = fc
  .array(fc.constantFrom("", "a", "longer line", "é日本"), { maxLength: 30 })
  .chain((lines) => fc.constantFrom("", "\n").map((end) => lines.join("\n") + end));

it("searches each line once, with its number and its context, however the text is cut", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyText,
      fc.integer({ min: 1, max: 40 }),
      fc.nat({ max: 3 }),
      fc.nat({ max: 3 }),
      async (text, size, before, after) => {
        const all = text.split("\n");
        if (all.at(-1) === "") all.pop();
        const seen: string[] = [];
        for await (const window of textWindows(cut(Buffer.from(text), size), { before, after, maxLineBytes: 1000 })) {
          const lines = window.bytes.toString("utf8").split("\n");
          if (lines.at(-1) === "") lines.pop();
          for (let at = window.from; at < Math.min(window.to, lines.length); at++) {
            const number = window.linesBefore + at;
            expect(number).toBe(seen.length);
            seen.push(lines[at] as string);
            expect(lines.slice(Math.max(0, at - before), at)).toEqual(all.slice(Math.max(0, number - before), number));
            expect(lines.slice(at + 1, at + 1 + after)).toEqual(all.slice(number + 1, number + 1 + after));
          }
        }
        expect(seen).toEqual(all);
      },
    ),
  );
});

it("refuses a line that is longer than what is kept of a text", async () => {
  const windows = textWindows(cut(Buffer.from("x".repeat(100)), 10), { before: 0, after: 0, maxLineBytes: 50 });
  await expect(windows.next()).rejects.toThrow(/a line of more than 50 bytes/);
});
