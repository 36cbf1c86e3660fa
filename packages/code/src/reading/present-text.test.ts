import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "./estimate-tokens.ts";
import { type LineRange, parseLineRange } from "./line-ranges.ts";
import { openDocument, type TextDocument } from "./open-document.ts";
import { presentText } from "./present-text.ts";

async function open(path: string, text: string): Promise<TextDocument> {
  const document = await openDocument(path, Buffer.from(text), { signal: new AbortController().signal });
  if (document.kind !== "text") throw new Error(`${path} is ${document.kind}`);
  return document;
}
const show = (document: TextDocument, maxTokens: number, ...ranges: readonly string[]) =>
  presentText(document, {
    name: "a.ts",
    maxTokens,
    ranges: ranges.length === 0 ? undefined : ranges.map((range) => parseLineRange(range) as LineRange),
  });
/** The numbered lines of an output, as a map. */
function linesIn(text: string): ReadonlyMap<number, string> {
  return new Map([...text.matchAll(/^(\d+)\t(.*)$/gm)].map(([, number, line]) => [Number(number), line as string]));
}
const source = (functions: number): string =>
  Array.from(
    { length: functions },
    (_, at) =>
      `export function part${at}(value) {\n  if (value > ${at}) {\n    return part${Math.max(0, at - 1)}(value - 1);\n  }\n  return value;\n}\n\n`,
  ).join("");

describe("a text that fits", () => {
  it("is shown whole and uncut, also if it is one long line [TC-06]", async () => {
    const long = "x".repeat(10_000);
    expect(show(await open("a.ts", long), 5_000)).toEqual({ text: `1\t${long}`, shown: [{ start: 1, end: 1 }] });
  });

  it("has the same lines when it is read by ranges", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.string({ maxLength: 30 }).map((line) => line.replace(/[\r\n]/g, " ")),
          { minLength: 1, maxLength: 60 },
        ),
        fc.integer({ min: 1, max: 20 }),
        async (lines, step) => {
          const document = await open("a.ts", `${lines.join("\n")}\n`);
          const ranges = Array.from({ length: Math.ceil(lines.length / step) }, (_, at) => `${at * step + 1}-${(at + 1) * step}`);
          const whole = show(document, 100_000);
          const parts = ranges.map((range) => show(document, 100_000, range).text).join("\n");
          expect(linesIn(parts)).toEqual(linesIn(whole.text));
          expect(linesIn(show(document, 100_000, ...ranges).text)).toEqual(linesIn(whole.text));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("a text that does not fit", () => {
  it("is shown as a skeleton whose line ranges cover it, with two bodies, within its tokens [TC-06] [TC-07]", async () => {
    const document = await open("a.ts", source(200));
    for (const maxTokens of [2_000, 4_000]) {
      const { text, shown } = show(document, maxTokens);
      expect(estimateTokens(text)).toBeLessThanOrEqual(maxTokens);
      const ranges = [...text.matchAll(/^(\d+)-(\d+)\t/gm)].map(([, start, end]) => [Number(start), Number(end)] as const);
      let next = 1;
      for (const [start, end] of ranges) {
        expect(start).toBe(next);
        next = end + 1;
      }
      expect(next - 1).toBe(document.lines.length);
      expect(shown.length).toBe(2);
      for (const { start, end } of shown)
        for (let line = start; line <= end; line++) expect(linesIn(text).get(line)).toBe(document.lines[line - 1]);
      expect(text).toMatch(/a\.ts has 1,400 lines, about [\d,]+ tokens; one read may use [24],000 tokens now/);
      expect(text).toMatch(/Read on with ranges of lines, as in ranges \["\d+-\d+"\]/);
    }
  });

  it("shows the bodies that others use and that decide most", async () => {
    const helper = "export function chooseTarget(a) {\n  if (a) return 1;\n  for (const b of a) if (b) throw b;\n  return 2;\n}\n";
    const others = Array.from(
      { length: 300 },
      (_, at) => `function other${at}() {\n  const x = chooseTarget(${at});\n  log("${"y".repeat(40)}");\n}\n`,
    ).join("");
    expect(show(await open("a.ts", others + helper), 2_500).text).toContain("for (const b of a) if (b) throw b;");
  });

  it("without any structure is divided into equal parts, and one long line is begun", async () => {
    const log = Array.from({ length: 5_000 }, (_, at) => `2024-01-01 line ${at}`).join("\n");
    const { text } = show(await open("a.log", log), 2_000);
    expect(text).toMatch(/^251-500\t2024-01-01 line 250$/m);
    const json = JSON.stringify({ name: "x", items: Array.from({ length: 5_000 }, (_, at) => ({ at })) });
    const one = show(await open("a.json", json), 2_000).text;
    expect(one).toContain('[One line of JSON with the keys "name", "items".]');
    expect(one).toMatch(/Read on with ranges \["1:\d+-"\]/);
    expect(estimateTokens(one)).toBeLessThan(2_200);
  });

  it("in one line is read whole by characters, each once, when the hints are followed", async () => {
    const line = Array.from({ length: 3_000 }, (_, at) => `${at}\u{1F600}é`).join("");
    const document = await open("a.ts", `first\n${line}\nlast`);
    let read = "";
    let range: string | undefined = "2:1-";
    for (let calls = 0; range !== undefined && calls < 50; calls++) {
      const output: string = show(document, 2_000, range).text;
      read += /^2:\d+-\d+\t(.*)$/m.exec(output)?.[1] ?? "";
      range = /Read on with ranges \["(2:\d+-)"\]/.exec(output)?.[1];
    }
    expect(read).toBe(line);
    expect(show(document, 2_000, "1-3").text).toMatch(/\[\.\.\. [\d,]+ more characters in this line: ranges \["2:\d+-"\]\]/);
  });
});

describe("ranges", () => {
  it("are sorted, joined and shown together, with what is behind the end", async () => {
    const document = await open("a.ts", Array.from({ length: 50 }, (_, at) => `line ${at + 1}\n`).join(""));
    expect(show(document, 2_000, "40-41", "2-3", "3-4", "-1", "99-100").text).toBe(
      "2\tline 2\n3\tline 3\n4\tline 4\n…\n40\tline 40\n41\tline 41\n…\n50\tline 50\n[Lines 2 to 4, 40 to 41, 50 to 50 of 50.]\n[The file has 50 lines; line 99 is behind its end.]",
    );
    expect(show(document, 20, "1-10", "20-30").text).toMatch(/Read on with ranges \["\d+-10", "20-30"\]\.\]$/);
  });

  it.each([
    ["20-60", { kind: "lines", start: 20, end: 60 }],
    ["7", { kind: "lines", start: 7, end: 7 }],
    [7, { kind: "lines", start: 7, end: 7 }],
    ["300-", { kind: "lines", start: 300 }],
    ["-50", { kind: "last", count: 50 }],
    ["L3-L9", { kind: "lines", start: 3, end: 9 }],
    ["lines 3..9", { kind: "lines", start: 3, end: 9 }],
    ["7:2001-6000", { kind: "characters", line: 7, from: 2001, to: 6000 }],
    ["7:2001-", { kind: "characters", line: 7, from: 2001 }],
    [[20, -1], { kind: "lines", start: 20 }],
    [
      { start: 2, end: 5 },
      { kind: "lines", start: 2, end: 5 },
    ],
    ["60-20", undefined],
    ["0-3", undefined],
    ["-0", undefined],
    ["7:5-2", undefined],
    ["abc", undefined],
    [{}, undefined],
    [null, undefined],
  ] as const)("read %j", (given, range) => {
    expect(parseLineRange(given)).toEqual(range);
  });
});
