import { describe, expect, it } from "vitest";
import { copyJson, frozenCopy } from "./copy-json.ts";

const given = JSON.parse('{"a":[1,{"b":[null,"x"]}],"c":{"__proto__":{"polluted":true}},"d":false}') as {
  readonly a: readonly [number, { readonly b: unknown[] }];
  readonly c: object;
};

describe("a copy of plain data", () => {
  it("is equal in depth and shares no object or list with what it was made from", () => {
    const text = JSON.stringify(given);
    const copied = copyJson(given);
    expect(JSON.stringify(copied)).toBe(text);
    copied.a[1].b.push("more");
    expect(JSON.stringify(given)).toBe(text);
    expect(copied.c).not.toBe(given.c);
  });

  it("keeps a member named __proto__ as the member that it is", () => {
    const { c } = copyJson(given);
    expect(Object.getPrototypeOf(c)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(c, "__proto__")?.value).toEqual({ polluted: true });
    expect(Object.getOwnPropertyDescriptor(c, "__proto__")?.value).not.toBe(Object.getOwnPropertyDescriptor(given.c, "__proto__")?.value);
  });

  it("is frozen in depth where that is asked for, and what it was made from is not", () => {
    const frozen = frozenCopy(given);
    expect(() => frozen.a[1].b.push("more")).toThrow(TypeError);
    expect(Object.isFrozen(frozen) && Object.isFrozen(frozen.a) && Object.isFrozen(frozen.c)).toBe(true);
    expect(Object.isFrozen(given) || Object.isFrozen(given.a[1].b)).toBe(false);
    expect([frozenCopy(null), copyJson("text"), copyJson(1)]).toEqual([null, "text", 1]);
  });
});
