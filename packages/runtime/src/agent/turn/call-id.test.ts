import type { RunId } from "@keelson/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { callIdAt, callPrefixOf } from "./call-id.ts";

/** Run, turn, model call, index. */
type Place = readonly [string, number, number, number];

const idAt = ([run, turn, modelCall, index]: Place) => callIdAt(callPrefixOf(run as RunId), turn, modelCall, index);

it("the id of a call is a function of its place, and of no other's", () => {
  // Few enough that most of them differ in one number alone, of one digit or two.
  const number = fc.constantFrom(1, 2, 12, 37, 1297);
  const place = fc.tuple(fc.constantFrom("", "r", "r_1"), number, number, number);
  fc.assert(
    fc.property(fc.uniqueArray(place, { selector: String, minLength: 60, maxLength: 100 }), (places) => {
      const ids = places.map(idAt);
      expect(new Set(ids).size).toBe(places.length);
      expect(places.map(idAt)).toEqual(ids);
    }),
  );
});

it("the id of a call has at most 40 letters, digits and underscores, which vendors take as it is", () => {
  const number = fc.nat({ max: 1_000_000_000 });
  fc.assert(
    fc.property(fc.tuple(fc.string(), number, number, number), (place) => {
      expect(idAt(place)).toMatch(/^[a-zA-Z0-9_]{1,40}$/);
    }),
  );
});
