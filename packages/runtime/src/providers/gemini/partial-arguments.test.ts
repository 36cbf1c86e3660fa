import { describe, expect, it } from "vitest";
import { jsonText, parseJson } from "../../json/index.ts";
import { PartialArguments } from "./partial-arguments.ts";

describe("PartialArguments", () => {
  it("puts values at their places, and joins the pieces of strings", () => {
    const input = new PartialArguments();
    input.add([{ jsonPath: "$.city", stringValue: "Ber", willContinue: true }]);
    input.add([
      { jsonPath: "$.city", stringValue: "lin" },
      { jsonPath: "$.days[1].hot", boolValue: true },
    ]);
    input.add([
      { jsonPath: "$.days[0]", numberValue: 3 },
      { jsonPath: "$['odd name'].x", nullValue: "NULL_VALUE" },
      { jsonPath: '$["a.b"]', stringValue: "c" },
    ]);
    expect(input.value).toEqual({ "city": "Berlin", "days": [3, { hot: true }], "odd name": { x: null }, "a.b": "c" });
  });

  it("keeps the digits of an integer that a double does not keep, and joins it to no text", () => {
    const input = new PartialArguments();
    input.add([{ jsonPath: "$.ids[0]", stringValue: "7" }]);
    input.add(parseJson('[{"jsonPath":"$.ids[0]","numberValue":1917043659912705296},{"jsonPath":"$.ids[1]","numberValue":5}]'));
    expect(jsonText(input.value)).toBe('{"ids":[1917043659912705296,5]}');
  });

  it("touches no prototype", () => {
    const input = new PartialArguments();
    input.add([{ jsonPath: "$.__proto__.polluted", stringValue: "yes" }]);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    expect(JSON.stringify(input.value)).toBe('{"__proto__":{"polluted":"yes"}}');
  });

  it("ignores what is no piece", () => {
    const input = new PartialArguments();
    input.add("nonsense");
    input.add([null, { stringValue: "no place" }]);
    expect(input.value).toEqual({});
  });
});
