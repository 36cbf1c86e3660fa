import { describe, expect, it } from "vitest";
import { createPlainHighlight } from "./highlight-code.ts";
import { markdownLines } from "./markdown-words.ts";
import { createTheme } from "./theme.ts";

const plain = (text: string): string =>
  markdownLines(text, 100, { theme: createTheme("none"), highlight: createPlainHighlight() }).join("\n");
const linked = (text: string): string =>
  markdownLines(text, 100, { theme: createTheme("ansi"), highlight: createPlainHighlight(), hyperlinks: true }).join("\n");

describe("emphasis and code", () => {
  it("keeps its marks without colours, but for bold in a heading", () => {
    expect(plain("a **b** *c* ~~d~~ `e` ``f`g``")).toBe("a **b** *c* ~~d~~ `e` ``f`g``");
    expect(plain("## A **b** `c`")).toBe("## A b `c`");
  });

  it("becomes looks with colours", () => {
    expect(linked("a **b** `c`")).toBe("a \u001b[1mb\u001b[0m \u001b[36mc\u001b[0m");
  });

  it("is read beside Chinese punctuation", () => {
    expect(linked("**注意：**请看")).toBe("\u001b[1m注意：\u001b[0m请看");
  });

  it("takes single tildes, prices and variables as they are", () => {
    expect(plain("~5 and ~6 cost $5 or $6, $HOME/$USER_x")).toBe("~5 and ~6 cost $5 or $6, $HOME/$USER_x");
  });

  it("shows HTML and comments as text, and breaks lines at <br>", () => {
    expect(plain("a <b>c</b> <!-- d --><br>e")).toBe("a <b>c</b> <!-- d -->\ne");
  });
});

describe("links", () => {
  it("show their address in the text where the terminal knows no hyperlinks", () => {
    expect(plain("[docs](https://a.example/x) <https://b.example> https://c.example. me@d.example")).toBe(
      "docs (https://a.example/x) https://b.example https://c.example. me@d.example",
    );
    expect(plain('[t](u.md "title") ![alt](i.png)')).toBe('t (u.md "title") [image: alt] (i.png)');
  });

  it("become hyperlinks where the terminal knows them, in ASCII", () => {
    expect(linked("[docs](https://a.example/ü)")).toBe(
      "\u001b]8;;https://a.example/%C3%BC\u001b\\\u001b[4;34mdocs\u001b[0m\u001b]8;;\u001b\\",
    );
  });

  it("show their address beside a text that looks like another one", () => {
    expect(linked("[https://good.example](https://bad.example)")).toContain("(https://bad.example)");
    expect(linked("[good.example](https://bad.example)")).toContain("(https://bad.example)");
  });

  it("are no hyperlinks to files or programs", () => {
    for (const href of ["src/a.ts", "javascript:alert(1)", "file:///etc/passwd"]) {
      expect(linked(`[a](${href})`)).not.toContain("\u001b]8");
      expect(linked(`[a](${href})`)).toContain(href);
    }
  });

  it("show definitions, and what refers to them, as they were written", () => {
    expect(plain("[a][b]\n\n[b]: https://x.example")).toBe("[a][b]\n\n[b]: https://x.example");
  });
});

describe("mathematics", () => {
  it("is written in Unicode where that is possible, else left", () => {
    expect(plain("$x^2 + \\alpha$ and \\(y_1\\)")).toBe("x² + α and y₁");
    expect(plain("$$\n\\unknowncommand{x}\n$$")).toContain("\\unknowncommand{x}");
  });
});
