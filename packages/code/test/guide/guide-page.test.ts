import { describe, expect, it } from "vitest";
import { screenIn, screenNames, withKeys, withScreen } from "./guide-page.ts";

const PAGE = `# Guide

<!-- screen: start -->
\`\`\`text
old
\`\`\`
<!-- end of screen -->

<!-- screen: plan -->
<!-- end of screen -->

<!-- keys -->
| key |
<!-- end of keys -->
`;

describe("the page of the coding agent", () => {
  it("gets another screen between the marks of its name, and stays the same around them", () => {
    const page = withScreen(PAGE, "start", "› hello\n  $& and $1");
    expect(page).toBe(PAGE.replace("old", () => "› hello\n  $& and $1"));
    expect([screenIn(page, "start"), screenNames(page)]).toEqual(["› hello\n  $& and $1", ["start", "plan"]]);
  });

  it("gets a screen in an empty place, and the same page if that is done twice", () => {
    const page = withScreen(PAGE, "plan", "1. Test");
    expect(page).toContain("<!-- screen: plan -->\n```text\n1. Test\n```\n<!-- end of screen -->");
    expect(withScreen(page, "plan", "1. Test")).toBe(page);
  });

  it("gets a longer fence around a screen that shows a fence", () => {
    const page = withScreen(PAGE, "plan", "```js\n1\n```");
    expect(page).toContain("\n````text\n```js\n1\n```\n````\n");
    expect(screenIn(page, "plan")).toBe("```js\n1\n```");
  });

  it("gets a row for each key", () => {
    const page = withKeys(PAGE, [{ key: "Alt-Enter, \\ Enter", does: "new line" }]);
    expect(page).toContain("<!-- keys -->\n| key | effect |\n| --- | --- |\n| `Alt-Enter`, `\\ Enter` | new line |\n<!-- end of keys -->");
  });

  it("must have a place for what is put into it", () => {
    expect(() => withScreen(PAGE, "tasks", "")).toThrow(
      /no place for "screen: tasks": write <!-- screen: tasks --> and <!-- end of screen -->/,
    );
    expect(() => withKeys("<!-- keys -->\n", [])).toThrow(/no place for "keys"/);
  });
});
