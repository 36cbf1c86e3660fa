import fc from "fast-check";

const word = fc.oneof(
  { weight: 8, arbitrary: fc.stringMatching(/^[a-z]{1,9}$/) },
  { weight: 1, arbitrary: fc.constantFrom("中文字符", "日本語、テスト。", "👩‍👩‍👧", "naïve", "https://example.com/a/b?c=d", "🇩🇪") },
);
const words = fc.array(word, { minLength: 1, maxLength: 12 }).map((list) => list.join(" "));
const inline = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: words },
      words.map((text) => `**${text}**`),
      words.map((text) => `*${text}*`),
      words.map((text) => `\`${text}\``),
      words.map((text) => `~~${text}~~`),
      words.map((text) => `[${text}](https://example.com)`),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join(" "));
const indented = (text: string, by: number): string => text.replace(/\n(?=.)/g, `\n${" ".repeat(by)}`);
const fence = fc
  .tuple(
    fc.constantFrom("", "ts", "sh", "unknown"),
    fc.array(fc.oneof(words, fc.constantFrom("", "  - x", "# no heading", "/* open", "*/")), { maxLength: 6 }),
  )
  .map(([info, lines]) => ["```" + info, ...lines, "```"].join("\n"));
const paragraph = fc.array(inline, { minLength: 1, maxLength: 3 }).map((lines) => lines.join("\n"));
const item = fc.tuple(
  inline,
  fc.option(
    fc.oneof(
      fence,
      inline.map((text) => `- ${text}`),
    ),
    { nil: undefined, freq: 2 },
  ),
);
const list = fc.tuple(fc.boolean(), fc.array(item, { minLength: 1, maxLength: 4 })).map(([isOrdered, items]) =>
  items
    .map(([text, nested], index) => {
      const mark = isOrdered ? `${index + 1}. ` : "- ";
      return indented(`${mark}${text}${nested === undefined ? "" : `\n${nested}`}`, mark.length);
    })
    .join("\n"),
);

/** A table that fits into 40 columns in one line for each row. */
export const smallTable: fc.Arbitrary<string> = fc
  .array(fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.stringMatching(/^[a-z]{1,8}$/)), { minLength: 1, maxLength: 5 })
  .map(([head, ...rows]) => [head, ["---", ":-:"], ...rows].map((row) => `| ${row?.join(" | ")} |`).join("\n"));

/** Markdown as models write it, whose blocks are separated by empty lines. */
export const markdownBlock: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: paragraph },
  fc.tuple(fc.integer({ min: 1, max: 5 }), inline).map(([depth, text]) => `${"#".repeat(depth)} ${text}`),
  { weight: 2, arbitrary: list },
  fence,
  paragraph.map((text) => text.replace(/^/gm, "> ")),
  fc.constant("---"),
  smallTable,
);

export const markdownText: fc.Arbitrary<string> = fc
  .array(markdownBlock, { minLength: 1, maxLength: 6 })
  .map((blocks) => blocks.join("\n\n"));

/** Anything that looks like Markdown, in any order, with control characters. */
export const markdownNoise: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "  ",
        "    ",
        "```",
        "~~~",
        "# ",
        "> ",
        "|",
        "|-|-|",
        "---",
        "===",
        "**",
        "*",
        "_",
        "`",
        "$",
        "$$",
        "\\[",
        "\\]",
        "[",
        "](",
        ")",
        "<!--",
        "-->",
        "<div>",
        "<pre>",
        "</pre>",
        "\t",
        "\r\n",
        "\u001b[31m",
        "\u001b]8;;",
        "\u0007",
        "\\",
      ),
      word,
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

/** Cuts a text at any places, also within characters. */
export function chunked(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((place, index) => text.slice(place, places[index] ?? text.length));
}
