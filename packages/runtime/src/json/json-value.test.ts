import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonValue } from "./json-value.ts";

class Money {
  readonly cents: bigint;
  constructor(cents: bigint) {
    this.cents = cents;
  }
  toJSON(): unknown {
    return { cents: this.cents };
  }
}

describe("JSON of any value", () => {
  const cycle: { self?: unknown; list?: unknown[] } = {};
  cycle.self = cycle;
  cycle.list = [cycle];
  const deep = Array.from({ length: 2000 }).reduce<unknown>((inner) => [inner], 1);

  it.each<[string, unknown, unknown]>([
    ["a bigint", { n: 1917043659912705296n, boxed: Object(5n) }, { n: "1917043659912705296", boxed: "5" }],
    ["a date", [new Date(0), new Date(Number.NaN)], ["1970-01-01T00:00:00.000Z", null]],
    ["numbers that JSON lacks", [Number.NaN, Number.POSITIVE_INFINITY], [null, null]],
    ["maps and sets", { map: new Map([["a", new Set([1n])]]), pairs: new Map([[1, 2]]) }, { map: { a: ["1"] }, pairs: [[1, 2]] }],
    ["members without a value", { a: undefined, b: () => 1, c: Symbol("x"), d: [undefined, () => 1] }, { d: [null, null] }],
    ["a cycle", cycle, { self: "[circular]", list: ["[circular]"] }],
    ["toJSON", new Money(12n), { cents: "12" }],
    ["an address", new URL("https://example.com/a"), "https://example.com/a"],
    [
      "toJSON that gives itself",
      (() => {
        const own = { toJSON: () => own };
        return own;
      })(),
      "[circular]",
    ],
    [
      "toJSON that throws",
      {
        a: {
          toJSON() {
            throw new Error("closed");
          },
        },
        b: 1,
      },
      { a: "[not readable: closed]", b: 1 },
    ],
    [
      "a getter that throws",
      {
        get a(): never {
          throw new Error("gone");
        },
        b: 1,
      },
      { a: "[not readable: gone]", b: 1 },
    ],
    [
      "an object whose keys throw",
      {
        a: new Proxy(
          {},
          {
            ownKeys() {
              throw new Error("no keys");
            },
          },
        ),
      },
      { a: "[not readable: no keys]" },
    ],
    [
      "a thrown thing that is no text",
      {
        get a(): never {
          throw Object.create(null) as unknown;
        },
      },
      { a: "[not readable: it threw something that is no text]" },
    ],
    [
      "bytes",
      { a: new Uint8Array([1, 2, 3]), b: Buffer.from("hi"), c: new Uint8Array([9, 8]).buffer },
      { a: "AQID", b: "aGk=", c: "CQg=" },
    ],
    ["an error", { error: new TypeError("bad") }, { error: { name: "TypeError", message: "bad" } }],
    ["a pattern", [/a+/g], ["/a+/g"]],
    ["a promise", [Promise.resolve(1)], ["[promise]"]],
    ["nothing", undefined, null],
    ["a function", () => 1, null],
    ["a member named __proto__", JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ])("keeps %s", (_, value, expected) => {
    expect(jsonValue(value)).toEqual(expected);
    expect(JSON.parse(JSON.stringify(jsonValue(value)))).toEqual(expected);
  });

  it("ends where a value is too deep, and refuses one with more members than anybody reads", () => {
    expect(JSON.stringify(jsonValue(deep))).toContain('"[too deep]"');
    expect(() => jsonValue({ a: Array.from({ length: 3 }), b: new Array(20_000_000) })).toThrow(RangeError);
  });

  it("is what JSON.stringify writes of any value that it can write", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withDate: true, withSparseArray: true, withBoxedValues: true }), (value) => {
        let text: string | undefined;
        try {
          text = JSON.stringify(value);
        } catch {
          text = undefined;
        }
        const json = jsonValue(value);
        if (text !== undefined) expect(JSON.stringify(json)).toBe(text);
        expect(JSON.stringify(jsonValue(value))).toBe(JSON.stringify(json));
      }),
    );
  });

  it("is JSON for any value at all", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withMap: true, withSet: true, withTypedArray: true, withDate: true, withNullPrototype: true }),
        (value) => {
          const json = jsonValue(value);
          expect(JSON.parse(JSON.stringify(json))).toEqual(json);
        },
      ),
    );
  });
});
