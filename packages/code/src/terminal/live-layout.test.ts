import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layoutParts, stackedParts } from "./live-layout.ts";
import { LIVE_PLACES, type LivePart, type LiveRows } from "./live-part.ts";

/** A part whose rows are numbered: `w1`, `w2`. It takes all that it can. */
function numbered(name: string, count: number, cursorRow?: number): LivePart {
  const lines = Array.from({ length: count }, (_, index) => `${name}${index + 1}`);
  return { rows: () => ({ lines, cursor: cursorRow === undefined ? undefined : { row: cursorRow, column: 0 } }) };
}

const layout = (parts: Parameters<typeof layoutParts>[0], rows: number): LiveRows => layoutParts(parts, { columns: 40, rows });

describe("layoutParts", () => {
  it("shows the places from top to bottom, with the cursor where its part has it", () => {
    const parts = { status: numbered("s", 1), words: numbered("w", 2), input: numbered("i", 2, 1) };
    expect(layout(parts, 10)).toEqual({ lines: ["w1", "w2", "i1", "i2", "s1"], cursor: { row: 3, column: 0 } });
  });

  it("takes rows from the words first, and leaves them their last ones", () => {
    const parts = { words: numbered("w", 9), activity: numbered("a", 3), input: numbered("i", 2, 0), status: numbered("s", 1) };
    expect(layout(parts, 8).lines).toEqual(["w8", "w9", "a1", "a2", "a3", "i1", "i2", "s1"]);
    expect(layout(parts, 5).lines).toEqual(["w9", "a3", "i1", "i2", "s1"]);
  });

  it("keeps the row of the cursor of a part that must give way", () => {
    expect(layout({ input: numbered("i", 9, 2), status: numbered("s", 1) }, 4)).toEqual({
      lines: ["i3", "i4", "i5", "s1"],
      cursor: { row: 0, column: 0 },
    });
  });

  it("shows the part with the cursor alone if there is one row", () => {
    const parts = { words: numbered("w", 3), question: numbered("q", 2, 1), status: numbered("s", 1) };
    expect(layout(parts, 1)).toEqual({ lines: ["q2"], cursor: { row: 0, column: 0 } });
    expect(layout(parts, 2)).toEqual({ lines: ["q2", "s1"], cursor: { row: 0, column: 0 } });
  });

  it("asks a part for fewer rows, so that it can choose what to show", () => {
    const menu: LivePart = { rows: ({ rows }) => ({ lines: ["chosen", "a", "b", "c"].slice(0, rows) }) };
    expect(layout({ words: numbered("w", 2), input: menu }, 3).lines).toEqual(["w2", "chosen", "a"]);
  });

  it("never exceeds the rows, and keeps a row of each place and of the cursor while it can", () => {
    const shape = fc.record({ count: fc.nat(6), cursor: fc.option(fc.nat(5), { nil: undefined }) });
    const shapes = fc.record(Object.fromEntries(LIVE_PLACES.map((place) => [place, shape])));
    fc.assert(
      fc.property(shapes, fc.integer({ min: 1, max: 12 }), (wanted, rows) => {
        const parts = Object.fromEntries(
          Object.entries(wanted).map(([place, { count, cursor }]) => [
            place,
            numbered(place, count, cursor !== undefined && cursor < count ? cursor : undefined),
          ]),
        );
        const { lines, cursor } = layoutParts(parts, { columns: 40, rows });
        expect(lines.length).toBeLessThanOrEqual(rows);
        const shown = LIVE_PLACES.filter((place) => (wanted[place]?.count ?? 0) > 0);
        const kept = shown.filter((place) => lines.some((line) => line.startsWith(place)));
        expect(kept.length).toBe(Math.min(rows, shown.length));
        const withCursor = shown.findLast((place) => (wanted[place]?.cursor ?? 99) < (wanted[place]?.count ?? 0));
        const expected = withCursor && `${withCursor}${(wanted[withCursor]?.cursor ?? 0) + 1}`;
        expect(cursor && lines[cursor.row]).toBe(expected);
      }),
    );
  });
});

describe("stackedParts", () => {
  it("shows the parts below each other", () => {
    const stacked = stackedParts([numbered("a", 2), numbered("b", 1, 0)]);
    expect(stacked.rows({ columns: 40, rows: 9 })).toEqual({ lines: ["a1", "a2", "b1"], cursor: { row: 2, column: 0 } });
  });
});
