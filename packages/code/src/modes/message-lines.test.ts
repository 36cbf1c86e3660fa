import { expect, it } from "vitest";
import { readMessageLine } from "./message-lines.ts";

it("reads the messages of a person, as a text or in parts", () => {
  const line = (content: unknown) => readMessageLine(JSON.stringify({ type: "user", message: { role: "user", content } }), 1);
  expect(line("fix the build")).toBe("fix the build");
  expect(
    line([
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ]),
  ).toBe("one\n\ntwo");
});

it("refuses every other line, with its number and what to write", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["fix it", /line 3 of standard input is no JSON/],
    ["[]", /has the type undefined/],
    ['{"type":"control_request"}', /"control_request", and only "user" is read/],
    ['{"type":"user"}', /has no content/],
    ['{"type":"user","message":{"content":" "}}', /has no content/],
    ['{"type":"user","message":{"content":[]}}', /has no content/],
    ['{"type":"user","message":{"content":[{"type":"image"}]}}', /a part of the type "image"/],
  ];
  for (const [line, message] of cases) expect(() => readMessageLine(line, 3), line).toThrow(message);
});
