import { expect, it } from "vitest";
import { askedLines } from "./asked-lines.ts";
import { createStyle } from "../text/style.ts";

const view = { style: createStyle(false), columns: 40 };
const schema = {
  type: "object",
  properties: {
    city: { type: "string", title: "City", description: "where to" },
    nights: { type: "integer", default: 2 },
    class: { enum: ["first", "second"] },
    pets: { type: "boolean" },
  },
  required: ["city"],
};

it("shows what a call asks, the page to open, what is to be told, and why the last answer was none; nothing can act on the terminal", () => {
  expect(
    askedLines(
      {
        message: "Which city, and for how many nights, would\u001b[31m you like?",
        from: "travel",
        schema,
        url: "https://example.com",
        issues: ["city: too short"],
      },
      view,
    ),
  ).toEqual([
    "  travel asks:",
    "    Which city, and for how many nights,",
    "    would you like?",
    "  open: https://example.com",
    "  · city (string) City: where to",
    "  · nights (integer, optional)",
    "  · class (first | second, optional)",
    "  · pets (boolean, optional)",
    "  ! city: too short",
  ]);
  expect(askedLines({ message: "Go on?" }, view)).toEqual(["  it asks:", "    Go on?"]);
});
