import { expect, it } from "vitest";
import { sniffFormat } from "./body-format.ts";

it("tells a response's format by its first byte that is no blank", () => {
  for (const [text, format] of [
    ["{}", "object"],
    [" \r\n\t[", "array"],
    ["data: {}", "events"],
    [": comment", "events"],
    ["<html>", "events"],
    ["\u{FEFF}{", "object"],
    ["", undefined],
    ["\n \n", undefined],
  ] as const) {
    expect(sniffFormat(Buffer.from(text))).toBe(format);
  }
});
