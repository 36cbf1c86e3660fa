import { describe, expect, it } from "vitest";
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
