import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

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
      expect(Buffer.byteLength(output)).toBeLessThan(51 * 1024);
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
    expect(output).toContain("[... 98,000 more characters in this line]");
    expect(output).toContain("2\tend");
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
    expect(await read({ path: "latin.txt" })).toBe("1\tcafé\n[The file is not UTF-8; it is shown as Latin-1.]");
    expect(await read({ path: "wide.txt" })).toContain("1\twide\n[The file is not UTF-8");
  });
});

describe("arguments", () => {
  it.each([
    [{}, "path is missing"],
    [{ path: 3 }, "path must be a string"],
    [{ path: "a", offset: 0 }, "offset must be at least 1"],
    [{ path: "a", offset: "x" }, "offset must be a whole number"],
    [{ path: "a", lines: 3 }, "lines is not an argument; there are path, offset, limit"],
  ])("%j: %s", async (input, message) => {
    expect(await read(input)).toBe(`ERROR ${message}`);
  });

  it("may be null where they are optional", async () => {
    workspace.put("a.txt", "x");
    expect(await read({ path: "a.txt", offset: null, limit: null })).toBe("1\tx");
  });
});
