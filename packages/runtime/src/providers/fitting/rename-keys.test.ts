import { describe, expect, it } from "vitest";
import { renameKeys, renameKeysInText } from "./rename-keys.ts";

const names = new Map([["filter_x", "filter[status]"]]);

describe("property keys in JSON text", () => {
  it("are renamed wherever they are keys, and the digits of numbers stay", () => {
    expect(renameKeysInText(`{"filter_x" : {"filter_x":1917043659912705296}, "b":"filter_x"}`, names)).toBe(
      `{"filter[status]" : {"filter[status]":1917043659912705296}, "b":"filter_x"}`,
    );
  });

  it("are renamed in arguments that were encoded twice, and in text that is not quite JSON", () => {
    const twice = JSON.stringify(JSON.stringify({ filter_x: "open" }));
    expect(JSON.parse(JSON.parse(renameKeysInText(twice, names)) as string)).toEqual({ "filter[status]": "open" });
    expect(renameKeysInText(`{'filter_x': 'a',`, names)).toBe(`{"filter[status]": 'a',`);
  });

  it("are renamed in values, and a value without them stays the same object", () => {
    expect(renameKeys({ a: [{ filter_x: 1 }] }, names)).toEqual({ a: [{ "filter[status]": 1 }] });
    const value = { a: [1] };
    expect(renameKeys(value, names)).toBe(value);
  });
});
