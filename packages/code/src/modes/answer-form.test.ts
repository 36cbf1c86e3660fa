import type { JsonObject } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { exampleAnswer, fieldHint, formFields, formValue, readField, type FormField } from "./answer-form.ts";

const BOOKING: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string", title: "Your name" },
    seats: { type: "integer", default: 2 },
    price: { type: "number" },
    outside: { type: "boolean", default: false, description: "On the terrace" },
    menu: { type: "string", enum: ["meat", "fish"] },
  },
  required: ["name", "menu"],
};

describe("a form of a flat schema", () => {
  const fields = formFields(BOOKING) as readonly FormField[];

  it("has its fields in their order, each with what may be typed and what it begins with", () => {
    expect(fields.map((field) => [field.label, fieldHint(field), field.start])).toEqual([
      ["Your name", "string", ""],
      ["seats", "integer, may be left empty", "2"],
      ["price", "number, may be left empty", ""],
      ["outside: On the terrace", "yes/no, may be left empty", "no"],
      ["menu", "meat/fish", ""],
    ]);
  });

  it("reads each line as the value of its field, and says what it wants where it is none", () => {
    const read = (index: number, ...lines: readonly string[]) => lines.map((line) => readField(fields[index] as FormField, line));
    expect(read(0, "Ann ", " ")).toEqual([{ value: "Ann " }, { problem: "something: it is needed" }]);
    expect(read(1, "3", "3.5", "", "three")).toEqual([
      { value: 3 },
      { problem: "a whole number" },
      { left: true },
      { problem: "a whole number" },
    ]);
    const problem = expect.stringContaining("fewer digits") as unknown;
    expect(read(1, "1917043659912705296", "-9007199254740993", "+9007199254740993", "9007199254740992", "0123")).toEqual([
      { problem },
      { problem },
      { problem },
      { value: 9007199254740992 },
      { value: 123 },
    ]);
    expect(read(2, "1917043659912705296", "1e22", "0.1234567890123456789")).toEqual([
      { problem },
      { value: 1e22 },
      { value: 0.12345678901234568 },
    ]);
    expect(read(2, "2.5", "x")).toEqual([{ value: 2.5 }, { problem: "a number" }]);
    expect(read(3, "yes", "N", "perhaps")).toEqual([{ value: true }, { value: false }, { problem: "yes or no" }]);
    expect(read(4, "fish", "soup")).toEqual([{ value: "fish" }, { problem: "one of meat, fish" }]);
  });

  it("comes to an object of what was said, or to the value alone", () => {
    expect(formValue(fields, [{ value: "Ann" }, { left: true }, { left: true }, { value: true }, { value: "fish" }])).toEqual({
      name: "Ann",
      outside: true,
      menu: "fish",
    });
    const [only] = formFields({ type: "integer" }) as readonly FormField[];
    expect(formValue([only as FormField], [{ value: 7 }])).toBe(7);
    expect(exampleAnswer(BOOKING)).toEqual({ name: "\u2026", seats: 2, price: 0, outside: false, menu: "meat" });
  });

  it("is none where a member has members of its own", () => {
    expect(formFields({ type: "object", properties: { where: { type: "object" } } })).toBeUndefined();
    expect(formFields({ type: "array" })).toBeUndefined();
  });
});
