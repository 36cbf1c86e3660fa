import fc from "fast-check";
import { expect, it } from "vitest";
import { createLineReader } from "./line-reader.ts";

it("gives the same lines wherever the stream is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 8 })), (pieces) => {
      const reader = createLineReader(10_000);
      const text = `${pieces.join("")}\n`;
      const given = [...pieces, "\n"].flatMap((piece) => [...reader.push(piece)]);
      expect(given).toEqual(
        text
          .split("\n")
          .slice(0, -1)
          .map((line) => line.replace(/\r$/, "")),
      );
    }),
  );
});

it("refuses a line that does not end in time, and one that is too long at once", () => {
  const reader = createLineReader(5);
  expect(reader.push("12345\n123")).toEqual(["12345"]);
  expect(() => reader.push("456")).toThrow(RangeError);
  expect(() => createLineReader(5).push("123456\n")).toThrow(RangeError);
});
