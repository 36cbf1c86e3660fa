import fc from "fast-check";
import { expect, it } from "vitest";
import { pageOf } from "./pages.ts";

const names = fc.uniqueArray(fc.string({ unit: "grapheme" }), { maxLength: 40 });

it("gives every entry once and in order, whatever the size of a page", () => {
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 50 }), (all, size) => {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = pageOf(all, (name) => name, cursor, size);
        expect(page?.items.length ?? 0).toBeLessThanOrEqual(size);
        found.push(...(page?.items ?? []));
        cursor = page?.nextCursor;
      } while (cursor !== undefined);
      expect(found).toEqual(all);
    }),
  );
});

it("goes on behind the last entry that was sent, whatever came before it meanwhile", () => {
  const first = pageOf(["b", "c", "d"], (name) => name, undefined, 2);
  expect(pageOf(["a", "b", "c", "d"], (name) => name, first?.nextCursor, 2)).toEqual({ items: ["d"] });
});

it("knows a cursor that is none of the list", () => {
  expect(pageOf(["a"], (name) => name, "x", 2)).toBeUndefined();
});
