import { execFileSync } from "node:child_process";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";
import { estimateTokens } from "../reading/estimate-tokens.ts";
import { makePdf } from "../../test/pdf-sample.ts";

let workspace: ToolWorkspace;
beforeEach(() => {
  workspace = createToolWorkspace();
});
afterEach(() => workspace[Symbol.dispose]());
const read = (input: Parameters<ToolWorkspace["say"]>[1]) => workspace.say("read_file", input);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("read_file", () => {
  it("shows every line with its number, without line ends and byte order mark", async () => {
    workspace.put("a.txt", "\uFEFFone\r\ntwo\r\n\r\nfour");
    expect(await read({ path: "a.txt" })).toBe("1\tone\n2\ttwo\n3\t\n4\tfour");
  });

  it("shows a window, and says how to read on", async () => {
    workspace.put("a.txt", numbered(10));
    expect(await read({ path: "a.txt", offset: 3, limit: 2 })).toBe("3\tline 3\n4\tline 4\n[Lines 3 to 4 of 10. Read on with offset 5.]");
    expect(await read({ path: "a.txt", offset: "9", limit: 5.0 })).toBe("9\tline 9\n10\tline 10\n[Lines 9 to 10 of 10.]");
    expect(await read({ path: "a.txt", offset: 11 })).toMatch(/10 lines; line 11 is behind its end/);
  });

  it("shows every line of a long file exactly once when each footer is followed", async () => {
    workspace.put("a.txt", Array.from({ length: 4000 }, (_, index) => `line ${index + 1} ${"x".repeat(index % 60)}\n`).join(""));
    const seen: string[] = [];
    let offset: number | undefined = 1;
    let reads = 0;
    while (offset !== undefined) {
      const output: string = await read({ path: "a.txt", offset });
      expect(Buffer.byteLength(output)).toBeLessThan(80 * 1024);
      const lines = output.split("\n");
      const footer = /Read on with offset (\d+)/.exec(lines.at(-1) as string);
      seen.push(...lines.slice(0, -1).map((line) => line.split("\t")[0] as string));
      offset = footer === null ? undefined : Number(footer[1]);
      reads++;
    }
    expect(seen).toEqual(Array.from({ length: 4000 }, (_, index) => String(index + 1)));
    expect(reads).toBeGreaterThan(2);
  });

  it("cuts endless lines, and always shows at least one", async () => {
    workspace.put("a.txt", `${"é".repeat(100_000)}\nend\n`);
    const output = await read({ path: "a.txt" });
    expect(output).toContain('[... 98,000 more characters in this line: ranges ["1:2001-"]]');
    expect(output).toContain("2\tend");
    expect(await read({ path: "a.txt", ranges: ["1:99999-"] })).toBe(
      "1:99999-100000\téé\n[Characters 99999 to 100000 of 100,000 in line 1.]",
    );
  });

  it("says that a file is empty", async () => {
    workspace.put("a.txt", "");
    expect(await read({ path: "a.txt" })).toBe("[The file is empty.]");
  });

  it("lists a folder", async () => {
    workspace.put("src/b.ts", "12");
    workspace.put("src/inner/c.ts", "");
    expect(await read({ path: "src" })).toBe("inner/\nb.ts  (2 B)");
  });

  it("suggests files when there is none of that name", async () => {
    workspace.put("src/readFile.ts", "");
    workspace.put("src/deep/settings.json", "");
    workspace.put("node_modules/x/readfile.ts", "");
    expect(await read({ path: "src/readfile.ts" })).toBe("ERROR No such file or folder: src/readfile.ts. Did you mean src/readFile.ts?");
    expect(await read({ path: "setings.json" })).toContain("Did you mean src/deep/settings.json?");
    expect(await read({ path: "quite-other.py" })).toContain("Find files with glob");
    expect(await read({ path: "deep/rest.ts" })).toContain("Find files with glob");
  });

  it("refuses what leads out of the project", async () => {
    expect(await read({ path: "../outside.txt" })).toMatch(/^ERROR .*lies outside/);
  });

  it("shows images as images, by their bytes", async () => {
    const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
    workspace.put("picture.dat", png);
    expect(await workspace.call("read_file", { path: "picture.dat" })).toEqual({
      type: "content",
      content: [
        { type: "text", text: `picture.dat (image/png, ${png.byteLength} bytes)` },
        { type: "image", mediaType: "image/png", data: png.toString("base64") },
      ],
    });
    workspace.put("huge.png", Buffer.concat([png, Buffer.alloc(4 * 1024 * 1024)]));
    expect(await read({ path: "huge.png" })).toMatch(/^ERROR .*Make a smaller copy/);
  });

  it("does not show binary files, and reads text in other encodings", async () => {
    workspace.put("program", Buffer.from([0x7f, 0x45, 0, 1, 2]));
    workspace.put("latin.txt", Buffer.from([0x63, 0x61, 0x66, 0xe9]));
    workspace.put("wide.txt", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("wide", "utf16le")]));
    expect(await read({ path: "program" })).toMatch(/^ERROR program is a binary file \(5 bytes\)/);
    expect(await read({ path: "latin.txt" })).toBe(
      "1\tcafé\n[The file is not UTF-8; it is shown as Latin-1 (Windows-1252), a guess. If it looks wrong, set encoding, as in windows-1251, big5 or euc-kr.]",
    );
    expect(await read({ path: "wide.txt" })).toContain("1\twide\n[The file is not UTF-8");
  });
});

describe("the budget of read_file", () => {
  const code = (functions: number): string =>
    Array.from({ length: functions }, (_, at) => `export function part${at}(value) {\n  return value + ${at};\n}\n\n`).join("");
  const batch = (contextLeft: number, reads = 1) => ({ batch: { contextLeft, reads } });

  it("shows a file whole that fits into its share of the context, and else a skeleton within it [TC-06] [TC-07]", async () => {
    workspace.put("a.ts", code(300));
    const whole = await workspace.say("read_file", { path: "a.ts" }, batch(100_000));
    expect(whole).toMatch(/^1\texport function part0/);
    expect(whole.split("\n")).toHaveLength(1200);
    const skeleton = await workspace.say("read_file", { path: "a.ts" }, batch(100_000, 10));
    expect(skeleton).toContain("a.ts has 1,200 lines");
    expect(skeleton).toContain("one read may use 2,000 tokens now");
    expect(estimateTokens(skeleton)).toBeLessThanOrEqual(2_000);
    // The range that the hint names is read in the same way.
    const range = /ranges \["(\d+-\d+)"\]/.exec(skeleton)?.[1] ?? "";
    expect(await workspace.say("read_file", { path: "a.ts", ranges: [range] }, batch(100_000, 10))).toMatch(
      /^\d+\texport function part\d+/,
    );
  });

  it("holds explicit regions to the share as well, and says how to read on", async () => {
    workspace.put("a.ts", code(300));
    const output = await workspace.say("read_file", { path: "a.ts", ranges: ["1-900", "1000-1010"] }, batch(10_000));
    expect(estimateTokens(output)).toBeLessThan(2_100);
    expect(output).toMatch(/Read on with ranges \["\d+-900", "1000-1010"\]\.\]$/);
  });

  it("puts nothing but the requested lines into the conversation [TC-20]", async () => {
    workspace.put("a.ts", code(300));
    expect(await read({ path: "a.ts", ranges: ["5-6", "9"] })).toBe(
      "5\texport function part1(value) {\n6\t  return value + 1;\n…\n9\texport function part2(value) {\n[Lines 5 to 6, 9 to 9 of 1200.]",
    );
    expect(await read({ path: "a.ts", ranges: "5-5" })).toContain("5\texport function part1");
    expect(await read({ path: "a.ts", ranges: "[5, 6]" })).toContain("6\t  return value + 1;");
    expect(await read({ path: "a.ts", ranges: ["5-x"] })).toMatch(/^ERROR ranges must be a list of .*; "5-x" is none of these$/);
  });
});

describe("files that read_file does not show as they are", () => {
  it("are decoded from the encoding that is asked for, or refused with names of encodings", async () => {
    workspace.put("a.txt", Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]));
    expect(await read({ path: "a.txt", encoding: "windows-1251" })).toBe(
      "1\tПривет\n[The file is not UTF-8; it is shown as windows-1251.]",
    );
    expect(await read({ path: "a.txt", encoding: "klingon" })).toMatch(/^ERROR klingon is no encoding/);
  });

  it("say how their lines end if that is not LF or CR LF alone", async () => {
    workspace.put("mac.txt", "one\rtwo\r");
    workspace.put("mixed.txt", "one\r\ntwo\n");
    expect(await read({ path: "mixed.txt", pages: "2" })).toMatch(/The file is no PDF: pages was not used/);
    expect(await read({ path: "mac.txt" })).toBe("1\tone\n2\ttwo\n[The lines end with CR alone.]");
    expect(await read({ path: "mixed.txt" })).toBe("1\tone\n2\ttwo\n[Some lines end with CR LF, others with LF.]");
  });

  it("are PDFs as text, page by page, or an error that says what is wrong with them", async () => {
    workspace.put("a.pdf", makePdf([["Hello"], ["World"], []]));
    workspace.put("locked.pdf", makePdf([["x"]], { isEncrypted: true }));
    workspace.put("scan.pdf", makePdf([[], []]));
    workspace.put("broken.pdf", "%PDF-1.4 broken");
    expect(await read({ path: "a.pdf" })).toBe(
      "1\t[Page 1 of 3]\n2\tHello\n3\t[Page 2 of 3]\n4\tWorld\n5\t[Page 3 of 3]\n6\t[No text.]\n[A PDF of 3 pages, shown as text without its layout and images.]\n[Without text, perhaps images: page 3.]",
    );
    expect(await read({ path: "a.pdf", pages: "2" })).toContain("1\t[Page 2 of 3]\n2\tWorld\n");
    expect(await read({ path: "a.pdf", pages: "7-" })).toMatch(/^ERROR a\.pdf is a PDF of 3 pages; page 7 is behind its end/);
    expect(await read({ path: "locked.pdf" })).toMatch(/^ERROR locked\.pdf is an encrypted PDF that needs a password/);
    expect(await read({ path: "scan.pdf" })).toMatch(/^ERROR scan\.pdf is a PDF of 2 pages without text.*probably scans/);
    expect(await read({ path: "broken.pdf" })).toMatch(/^ERROR broken\.pdf is a PDF that cannot be read/);
  });

  it("are notebooks as cells with their images, or as JSON if that is asked for", async () => {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const cells = [{ cell_type: "code", source: "plot()", outputs: [{ output_type: "display_data", data: { "image/png": png } }] }];
    workspace.put("a.ipynb", JSON.stringify({ cells, nbformat: 4 }));
    expect(await workspace.call("read_file", { path: "a.ipynb" })).toEqual({
      type: "content",
      content: [
        {
          type: "text",
          text: expect.stringMatching(/^1\t\[Cell 1: code\]\n2\tplot\(\)\n3\t\[Image: image\/png\]\n\[A notebook of 1 cell, shown as text/),
        },
        { type: "image", mediaType: "image/png", data: png },
      ],
    });
    expect(await workspace.say("read_file", { path: "a.ipynb", ranges: ["1-2"] })).not.toContain("<image>");
    const lines = Array.from({ length: 8 }, (_, at) => `a${at}`).join("\n");
    const many = [cells[0], { ...cells[0], source: lines }, cells[0], cells[0], cells[0]];
    workspace.put("many.ipynb", JSON.stringify({ cells: many, nbformat: 4 }));
    // The image of line 3 is not that of line 13.
    expect(await workspace.say("read_file", { path: "many.ipynb", ranges: ["12-13"] })).toMatch(
      /^12\ta7\n13\t\[Image: image\/png\]\n[^<]*<image>$/,
    );
    const small = await workspace.say("read_file", { path: "many.ipynb" }, { batch: { contextLeft: 10_000, reads: 1 } });
    expect(small).toMatch(/\[4 images of these lines are too large or too many to be sent\.\]\n<image>$/);
    expect(await read({ path: "a.ipynb", raw: true })).toMatch(/^1\t\{"cells":/);
  });

  it("are archives, pipes and logs of gibibytes", async () => {
    workspace.put("a.zip", Buffer.from("PK\u0003\u0004"));
    execFileSync("mkfifo", [join(workspace.root, "pipe")]);
    workspace.put("huge.log", `begin\n${"x\n".repeat(20)}`);
    truncateSync(join(workspace.root, "huge.log"), 40 * 1024 ** 2);
    expect(await read({ path: "a.zip" })).toMatch(/^ERROR a\.zip is a ZIP archive.*unzip -l a\.zip/);
    expect(await read({ path: "pipe" })).toMatch(/^ERROR .*neither a file nor a folder/);
    expect(await read({ path: "huge.log" })).toMatch(/^ERROR huge\.log is a binary file \(41,943,040 bytes\)/);
    expect(await read({ path: "huge.log", encoding: "utf-8", ranges: ["1-2"] })).toBe("1\tbegin\n2\tx");
  });

  it("stay in one line of a listing, whatever their names", async () => {
    workspace.put("two\nlines.txt", "needle\n");
    workspace.put("fake\tname.txt", "needle\n");
    expect(await workspace.say("list_directory", {})).toBe('"fake\\tname.txt"  (7 B)\n"two\\nlines.txt"  (7 B)');
    expect(await workspace.say("glob", { pattern: "*.txt" })).toBe('"fake\\tname.txt"\n"two\\nlines.txt"');
    expect(await workspace.say("grep", { pattern: "needle", mode: "files" })).toBe('"fake\\tname.txt"\n"two\\nlines.txt"');
    expect(await workspace.say("grep", { pattern: "needle" })).toBe('"fake\\tname.txt":1:needle\n"two\\nlines.txt":1:needle');
    expect(await read({ path: "two\nlines.txt" })).toBe("1\tneedle");
  });
});

describe("what read_file has shown of a file", () => {
  const write = (path: string) => workspace.say("write_file", { path, content: "new\n" });

  it("lets write_file replace it if every line was shown, at a time or in parts", async () => {
    workspace.put("a.txt", numbered(100));
    await read({ path: "a.txt", ranges: ["1-40", "90-100"] });
    expect(await write("a.txt")).toMatch(/^ERROR Only parts of a\.txt were read in this session/);
    await read({ path: "a.txt", ranges: ["41-89"] });
    expect(await write("a.txt")).toMatch(/^Replaced a\.txt/);
  });

  it("is not the whole if it was a skeleton, or text that was made of other bytes", async () => {
    workspace.put("a.ts", "export function f() {\n  return 1;\n}\n".repeat(900));
    workspace.put("a.pdf", makePdf([["Hello"]]));
    expect(await workspace.say("read_file", { path: "a.ts" }, { batch: { contextLeft: 10_000, reads: 1 } })).toContain("Its parts");
    await read({ path: "a.pdf" });
    expect(await write("a.ts")).toMatch(/^ERROR Only parts/);
    expect(await write("a.pdf")).toMatch(/^ERROR Only parts/);
  });

  it("is not the whole if a part of a notebook was shown as JSON, and then its cells", async () => {
    workspace.put("a.ipynb", JSON.stringify({ cells: [{ cell_type: "code", source: "a" }], nbformat: 4 }, null, 2));
    await read({ path: "a.ipynb", raw: true, ranges: ["1-3"] });
    await read({ path: "a.ipynb" });
    expect(await write("a.ipynb")).toMatch(/^ERROR Only parts/);
  });

  it("is forgotten when the file has another content", async () => {
    workspace.put("a.txt", numbered(10));
    await read({ path: "a.txt", ranges: ["1-5"] });
    workspace.put("a.txt", numbered(9));
    await read({ path: "a.txt", ranges: ["6-9"] });
    expect(await write("a.txt")).toMatch(/^ERROR Only parts/);
  });
});

describe("arguments", () => {
  it.each([
    [{}, "path is missing"],
    [{ path: 3 }, "path must be a string"],
    [{ path: "a", offset: 0 }, "offset must be at least 1"],
    [{ path: "a", offset: "x" }, "offset must be a whole number"],
    [{ path: "a", pages: "x" }, 'pages must be pages, as in "3", "3-5" or "3-"'],
    [{ path: "a", lines: 3 }, "lines is not an argument; there are path, ranges, offset, limit, pages, encoding, raw"],
  ])("%j: %s", async (input, message) => {
    expect(await read(input)).toBe(`ERROR ${message}`);
  });

  it("may be null where they are optional", async () => {
    workspace.put("a.txt", "x");
    expect(await read({ path: "a.txt", offset: null, limit: null })).toBe("1\tx");
  });
});
