import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addUsd, compareUsd, fromPicoUsd, subtractUsd, toPicoUsd, usd, ZERO_USD } from "./usd.ts";

const amount = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(fromPicoUsd);

describe("an amount in US dollars", () => {
  it("is exact where binary floats are not [LA-07]", () => {
    expect(addUsd(usd(0.1), usd(0.2))).toBe("0.3");
    expect(subtractUsd(usd("0.3"), usd("0.1"))).toBe("0.2");
    expect(usd(0.000000000001)).toBe("0.000000000001");
    expect(usd(1e-7)).toBe("0.0000001");
    expect(usd(-1.5e-7)).toBe("-0.00000015");
    expect(usd(1e21)).toBe("1000000000000000000000");
    expect(usd(1.5e22)).toBe("15000000000000000000000");
    expect(usd("123456789012345678901234567890.000000000001")).toBe("123456789012345678901234567890.000000000001");
  });

  it("has one form: no trailing zeros, no negative zero", () => {
    expect([usd("1.50"), usd("007"), usd("-0.00"), usd(0), usd("0.10")]).toEqual(["1.5", "7", "0", ZERO_USD, "0.1"]);
  });

  it("obeys the laws of addition [LA-07]", () => {
    fc.assert(
      fc.property(amount, amount, amount, (a, b, c) => {
        expect(addUsd(a, b)).toBe(addUsd(b, a));
        expect(addUsd(addUsd(a, b), c)).toBe(addUsd(a, addUsd(b, c)));
        expect(addUsd(a, ZERO_USD)).toBe(a);
        expect(subtractUsd(addUsd(a, b), b)).toBe(a);
      }),
    );
  });

  it("is ordered as its pico-dollars are [LA-07]", () => {
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const [left, right] = [toPicoUsd(a), toPicoUsd(b)];
        expect(compareUsd(a, b)).toBe(left < right ? -1 : left > right ? 1 : 0);
        expect(compareUsd(addUsd(a, b), a)).toBe(compareUsd(b, ZERO_USD));
      }),
    );
  });

  it("survives its text form", () => {
    fc.assert(
      fc.property(fc.bigInt(), (pico) => {
        expect(toPicoUsd(fromPicoUsd(pico))).toBe(pico);
        expect(usd(fromPicoUsd(pico))).toBe(fromPicoUsd(pico));
      }),
    );
  });

  it("is refused when it is no finite decimal or finer than a pico-dollar", () => {
    for (const bad of ["", "1,5", "$1", "1e3", ".5", "1.", "NaN", " 1"]) expect(() => usd(bad), bad).toThrow(/is no amount in US dollars/);
    for (const bad of [Number.NaN, Infinity, -Infinity]) expect(() => usd(bad)).toThrow(RangeError);
    expect(() => usd("0.0000000000001")).toThrow(/more than 12 decimal places/);
    expect(() => usd(1.5e-12)).toThrow(/more than 12 decimal places/);
    expect(usd("0.1000000000000")).toBe("0.1");
  });
});
