import fc from "fast-check";
import { expect, it } from "vitest";
import { printable, printableLine } from "./printable.ts";

it("leaves ordinary text alone", () => {
  expect(printable("Grüße, 世界 👩‍👩‍👧\n\tindented")).toBe("Grüße, 世界 👩‍👩‍👧\n\tindented");
});

it("drops whole escape sequences and pictures what is left of control characters", () => {
  expect(printable("\u001b[32mgreen\u001b[39m\r\nbell\u0007 \u007f \u0085")).toBe("green\nbell␇ ␡ \ufffd");
});

it("shows characters in which text can be hidden by their code, and keeps the flags of regions that are spelled in them", () => {
  const tags = String.fromCodePoint(0xe0068, 0xe0069);
  expect(printable(`a${tags}b\u3164`)).toBe("a<U+E0068><U+E0069>b<U+3164>");
  const scotland = `\u{1f3f4}${String.fromCodePoint(0xe0067, 0xe0062, 0xe0073, 0xe0063, 0xe0074, 0xe007f)}`;
  expect(printable(scotland)).toBe(scotland);
});

it("lets no control character through, whatever comes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constantFrom("\u001b", "\u001b]8;;", "\u009b", "\u0007", "\r", "\u001bP", "\u202e"))),
      (parts) => {
        // oxlint-disable-next-line no-control-regex -- looking for exactly these
        expect(printable(parts.join(""))).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
        expect(printableLine(parts.join(""))).not.toMatch(/[\n\t]/);
      },
    ),
  );
});
