// oxlint-disable-next-line no-control-regex -- reading escape sequences is the purpose
const STYLE = /\u001b\[([\d;:]*)m/g;

/** Groups of styles by the code that ends them. */
const ENDS: readonly (readonly [end: string, begins: RegExp])[] = [
  ["22", /^[12]$/],
  ["23", /^3$/],
  ["24", /^4(?::\d)?$/],
  ["27", /^7$/],
  ["29", /^9$/],
  ["39", /^(?:3[0-8]|9[0-7])(?:[;:].*)?$/],
  ["49", /^(?:4[0-8]|10[0-7])(?:[;:].*)?$/],
];

/** Returns the rows of one painted line, each with the styles in which the row before it ended, so that every row can be closed. */
export function carriedStyles(rows: readonly string[]): readonly string[] {
  if (rows.length < 2 || !rows.some((row) => row.includes("\u001b"))) return rows;
  /** Sequences that are open, in order. */
  let open: readonly { readonly codes: string; readonly sequence: string }[] = [];
  return rows.map((row) => {
    const begin = open.map(({ sequence }) => sequence).join("");
    for (const [sequence, codes = ""] of row.matchAll(STYLE)) {
      const begins = ENDS.find(([end]) => end === codes)?.[1];
      if (codes === "" || codes === "0") open = [];
      else if (begins !== undefined) open = open.filter((style) => !begins.test(style.codes));
      else open = [...open.filter((style) => style.codes !== codes), { codes, sequence }];
    }
    return begin + row;
  });
}
