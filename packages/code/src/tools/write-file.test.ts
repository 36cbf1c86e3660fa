import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DiskVfs } from "keelson/environment";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

let workspace: ToolWorkspace;
let beforeWrite: (() => void) | undefined;
beforeEach(() => {
  beforeWrite = undefined;
  workspace = createToolWorkspace({
    wrap: (files): DiskVfs => ({
      ...files,
      write(path, content, options) {
        beforeWrite?.();
        return files.write(path, content, options);
      },
    }),
  });
});
afterEach(() => workspace[Symbol.dispose]());
const write = (input: Parameters<ToolWorkspace["say"]>[1], changes?: Parameters<ToolWorkspace["say"]>[2]) =>
  workspace.say("write_file", input, changes);

describe("write_file", () => {
  it("makes a file and its folders", async () => {
    expect(await write({ path: "a/b/c.txt", content: "one\ntwo\n" })).toBe("Made a/b/c.txt (2 lines, 8 bytes).");
    expect(workspace.text("a/b/c.txt")).toBe("one\ntwo\n");
  });

  it("does not replace a file that the session never saw", async () => {
    workspace.put("a.txt", "precious");
    expect(await write({ path: "a.txt", content: "x" })).toMatch(
      /^ERROR a.txt exists already \(8 bytes\) and was not read in this session\. Read it first/,
    );
    await workspace.say("read_file", { path: "a.txt" }, { session: "other" as never });
    expect(await write({ path: "a.txt", content: "x" })).toMatch(/^ERROR/);
    expect(workspace.text("a.txt")).toBe("precious");
  });

  it("replaces a file that was read, and shows what changed", async () => {
    workspace.put("a.txt", "one\ntwo\nthree\n");
    await workspace.say("read_file", { path: "./a.txt" });
    expect(await write({ path: "a.txt", content: "one\n2\nthree\n" })).toBe(
      "Replaced a.txt (3 lines, 12 bytes).\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three",
    );
    expect(await write({ path: "a.txt", content: "again\n" })).toMatch(/^Replaced/); // what was written is known
  });

  it("does not replace a file that changed since it was read", async () => {
    workspace.put("a.txt", "one");
    await workspace.say("read_file", { path: "a.txt" });
    workspace.put("a.txt", "somebody else's");
    expect(await write({ path: "a.txt", content: "x" })).toMatch(/^ERROR a.txt changed since you last read or wrote it/);
    expect(workspace.text("a.txt")).toBe("somebody else's");
  });

  it("replaces unseen when told to", async () => {
    workspace.put("a.txt", "one");
    expect(await write({ path: "a.txt", content: "x", overwrite: true })).toMatch(/^Replaced/);
    expect(workspace.text("a.txt")).toBe("x");
  });

  it("loses the race against whoever writes between its look and its write, and says so", async () => {
    workspace.put("a.txt", "one");
    beforeWrite = () => workspace.put("a.txt", "theirs");
    expect(await write({ path: "a.txt", content: "x", overwrite: true })).toMatch(/^ERROR a.txt was changed by somebody else/);
    beforeWrite = () => workspace.put("new.txt", "theirs");
    expect(await write({ path: "new.txt", content: "x" })).toMatch(/^ERROR new.txt was made by somebody else/);
    expect([workspace.text("a.txt"), workspace.text("new.txt")]).toEqual(["theirs", "theirs"]);
  });

  it("keeps CR LF where the file has it", async () => {
    workspace.put("a.txt", "one\r\ntwo\r\n");
    await write({ path: "a.txt", content: "1\n2\n", overwrite: true });
    expect(workspace.text("a.txt")).toBe("1\r\n2\r\n");
  });

  it("keeps the encoding and the byte order mark of a file that it replaces, and refuses what cannot be written in it", async () => {
    const wide = (text: string): Buffer => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
    workspace.put("a.txt", wide("eins\n"));
    await write({ path: "a.txt", content: "größer\n", overwrite: true });
    expect(readFileSync(join(workspace.root, "a.txt"))).toEqual(wide("größer\n"));
    workspace.put("b.txt", Buffer.from("schöne Grüße an alle\n", "latin1"));
    expect(await write({ path: "b.txt", content: "日\n", overwrite: true })).toMatch(/^ERROR b\.txt was not written: the file is Latin-1/);
    expect(readFileSync(join(workspace.root, "b.txt"), "latin1")).toBe("schöne Grüße an alle\n");
    await write({ path: "b.txt", content: "größer\n", overwrite: true });
    expect(readFileSync(join(workspace.root, "b.txt"), "latin1")).toBe("größer\n");
  });

  it("refuses a content that stands for text of the file that it replaces", async () => {
    workspace.put("a.ts", "one();\ntwo();\n");
    expect(await write({ path: "a.ts", content: "// ... existing code ...\nthree();\n", overwrite: true })).toMatch(/^ERROR .*placeholder/);
    expect(workspace.text("a.ts")).toBe("one();\ntwo();\n");
    expect(await write({ path: "new.md", content: "// ... existing code ...\n" })).toMatch(/^Made/);
  });

  it("says when there was nothing to write", async () => {
    workspace.put("a.txt", "same");
    expect(await write({ path: "a.txt", content: "same", overwrite: true })).toMatch(/has this content already/);
  });

  it("knows after a crash whether it happened", async () => {
    const reconcile = (content: string) => workspace.tool("write_file").reconcile?.({ path: "a.txt", content }, workspace.toolCall());
    expect(await reconcile("x")).toBe("not-done");
    workspace.put("a.txt", "other");
    expect(await reconcile("x")).toBe("not-done");
    await write({ path: "a.txt", content: "x", overwrite: true });
    expect(await reconcile("x")).toEqual({ output: "Wrote a.txt (1 line, 1 byte)." });
  });
});
