import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { StateError, type JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadJsonPatch } from "./json-patch.ts";
import { plainJson } from "./plain-json.ts";

/** Published cases stand outside the repository: beside the checkout, or where KEELSON_SHARED says. */
const shared = process.env["KEELSON_SHARED"] ?? resolve(import.meta.dirname, "../../../../../shared");
const folder = resolve(shared, "fixtures/json-patch");
const there = existsSync(folder);
const { apply, diff } = await loadJsonPatch();

interface Case {
  readonly comment?: string;
  readonly doc: JsonValue;
  readonly patch: JsonValue;
  readonly expected?: JsonValue;
  readonly error?: string;
  readonly disabled?: true;
}

const published = there
  ? ["spec_tests.json", "tests.json"].flatMap((file) =>
      (JSON.parse(readFileSync(resolve(folder, file), "utf8")) as readonly Case[])
        .filter(({ disabled, doc }) => disabled !== true && doc !== undefined)
        .map((one, index) => ({ ...one, title: `${file} ${index}: ${one.comment ?? one.error ?? JSON.stringify(one.patch)}` })),
    )
  : [];

describe.skipIf(!there)("published cases of JSON Patch [EV-07]", () => {
  it("are there in numbers", () => {
    expect(published.length).toBeGreaterThan(90);
    expect(published.filter(({ error }) => error !== undefined).length).toBeGreaterThan(30);
  });

  it.each(published)("$title", ({ doc, patch, expected, error }) => {
    const before = JSON.stringify(doc);
    if (error !== undefined) expect(() => apply(doc, patch)).toThrow(StateError);
    else {
      const result = apply(doc, patch);
      if (expected !== undefined) expect(result).toEqual(expected);
    }
    expect(JSON.stringify(doc)).toBe(before);
  });
});
it.runIf(!there)(`the published cases of JSON Patch are not here (${folder}), so they were not run`, () => {
  expect(published).toEqual([]);
});

const value: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.string({ maxLength: 4 }),
    fc.array(tie("value"), { maxLength: 6 }),
    fc.dictionary(
      fc.constantFrom("a", "b", "a/b", "m~n", "", "0", "-", "constructor", "prototype", "toString", "hasOwnProperty"),
      tie("value"),
      { maxKeys: 4, noNullPrototype: true },
    ),
  ),
})).value;

describe("patches of JSON documents", () => {
  it("make the one of the other, whatever they are, and leave both as they were", () => {
    fc.assert(
      fc.property(value, value, (before, after) => {
        const texts = JSON.stringify([before, after]);
        const patch = diff(before, after);
        expect(apply(before, JSON.parse(JSON.stringify(patch)))).toEqual(after);
        expect(diff(after, structuredClone(after))).toEqual([]);
        expect(JSON.stringify([before, after])).toBe(texts);
      }),
    );
  });

  it("say of a long list only what changed in it, in linear time", () => {
    const long = Array.from({ length: 20_000 }, (_, n) => ({ n }));
    const inserted = [...long.slice(0, 10_000), { n: -1 }, ...long.slice(10_000)];
    expect(diff(long, inserted)).toEqual([{ op: "add", path: "/10000", value: { n: -1 } }]);
    expect(diff(inserted, long)).toEqual([{ op: "remove", path: "/10000" }]);
    expect(diff(long, long.with(5, { n: 55 }))).toEqual([{ op: "replace", path: "/5/n", value: 55 }]);
    expect(apply(long, diff(long, long.toReversed()))).toEqual(long.toReversed());
  });

  it("share what they leave alone with the document they were applied to", () => {
    const document = { kept: { deep: [1] }, changed: { deep: [1] } };
    const result = apply(document, [{ op: "add", path: "/changed/deep/-", value: 2 }]) as typeof document;
    expect(result).toEqual({ kept: { deep: [1] }, changed: { deep: [1, 2] } });
    expect(result.kept).toBe(document.kept);
    expect(document.changed.deep).toEqual([1]);
  });

  it("apply as a whole or not at all, and say which operation does not and why", () => {
    const document = { a: 1 };
    const patch = [
      { op: "replace", path: "/a", value: 2 },
      { op: "remove", path: "/b" },
    ];
    expect(() => apply(document, patch)).toThrow(
      'Operation 1 of the patch (remove "/b") does not apply: there is nothing at "b". Nothing was changed.',
    );
    expect(document).toEqual({ a: 1 });
  });

  it("evaluate the target of a move after what is moved is gone, as the RFC has it", () => {
    const document = [{ x: 1 }, { y: 2 }, { z: 3 }];
    expect(apply(document, [{ op: "move", from: "/0", path: "/1/moved" }])).toEqual([{ y: 2 }, { z: 3, moved: { x: 1 } }]);
    expect(() => apply({ a: { b: 1 } }, [{ op: "move", from: "/a", path: "/a/b" }])).toThrow("moved into itself");
    expect(() => apply({ a: 1 }, [{ op: "move", from: "", path: "/a" }])).toThrow("moved into itself");
  });

  it.each([
    ["a list's member that is no index", [1], [{ op: "replace", path: "/x", value: 2 }]],
    ["the place behind a list's last, with replace", [1], [{ op: "replace", path: "/-", value: 2 }]],
    ["a list's length", [1], [{ op: "replace", path: "/length", value: 0 }]],
    ["an inherited member", {}, [{ op: "test", path: "/toString", value: null }]],
    ["a member of a text", { a: "text" }, [{ op: "add", path: "/a/0", value: 1 }]],
    ["the whole document, with remove", {}, [{ op: "remove", path: "" }]],
    ["an escape that is none", { "~2": 1 }, [{ op: "remove", path: "/~2" }]],
    ["no list", {}, { op: "remove", path: "/a" }],
  ])("are refused for %s", (_what, document, patch) => {
    expect(() => apply(document as JsonValue, patch)).toThrow(StateError);
  });

  it("do not reach a prototype, by path or by value", () => {
    for (const patch of [
      [{ op: "add", path: "/__proto__/polluted", value: true }],
      [{ op: "add", path: "/__proto__", value: { polluted: true } }],
      [{ op: "copy", from: "/__proto__", path: "/a" }],
      [{ op: "add", path: "/a", value: JSON.parse('{"deep":[{"__proto__":{"polluted":true}}]}') }],
    ])
      expect(() => apply({ a: 1 }, patch)).toThrow("__proto__");
    for (const path of ["/constructor/prototype/polluted", "/a/constructor/polluted", "/toString/polluted"])
      expect(() => apply({ a: {} }, [{ op: "add", path, value: true }])).toThrow("there is nothing at");
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    // Such names are members like others where a document has them itself.
    expect(apply({ constructor: { prototype: 1 } } as never, [{ op: "replace", path: "/constructor/prototype", value: 2 }])).toEqual({
      constructor: { prototype: 2 },
    });
  });
});

describe("a value that is to be kept as JSON", () => {
  it("is copied, without what is undefined", () => {
    const given = { a: [1, "x", null, { b: true }], left: undefined };
    const copy = plainJson(given);
    expect(copy).toEqual({ a: [1, "x", null, { b: true }] });
    expect(Object.hasOwn(copy as object, "left")).toBe(false);
    expect((copy as typeof given).a).not.toBe(given.a);
    expect(plainJson([{}, { x: {} }])).toEqual([{}, { x: {} }]);
  });

  it("is refused with the place of what is not JSON", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const [given, said] of [
      [{ a: { b: new Map() } }, "an instance of Map at /a/b"],
      [[0, [Number.NaN]], "NaN at /1/0"],
      [{ f: () => 1 }, "a value of type function at /f"],
      [[undefined], "a value of type undefined at /0"],
      [1n, "a value of type bigint at its top"],
      [cycle, "an object that contains itself at /self"],
      [JSON.parse('{"a":{"__proto__":1}}'), 'a member named "__proto__" at /a'],
    ] as const)
      expect(() => plainJson(given)).toThrow(said);
  });
});
