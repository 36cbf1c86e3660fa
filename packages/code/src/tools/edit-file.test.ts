import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DiskVfs } from "keelson/environment";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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
const edit = (old_string: string, new_string: string, more: { readonly [name: string]: boolean | string } = {}) =>
  workspace.say("edit_file", { path: "a.ts", old_string, new_string, ...more });

describe("edit_file", () => {
  it("replaces the one occurrence and shows what changed", async () => {
    workspace.put("a.ts", "a\nb\nc\nd\ne\nf\n");
    expect(await edit("d", "D1\nD2")).toBe("Edited a.ts: 1 replacement.\n@@ -2,5 +2,6 @@\n b\n c\n-d\n+D1\n+D2\n e\n f");
    expect(workspace.text("a.ts")).toBe("a\nb\nc\nD1\nD2\ne\nf\n");
  });

  it("refuses text that occurs more than once, naming the lines, unless all are meant", async () => {
    workspace.put("a.ts", "x\ny\nx x\n");
    expect(await edit("x", "z")).toBe(
      "ERROR old_string occurs 3 times in a.ts, at lines 1, 3, 3. Add lines around it until it occurs once, or set replace_all.",
    );
    expect(workspace.text("a.ts")).toBe("x\ny\nx x\n");
    expect(await edit("x", "z", { replace_all: true })).toMatch(/^Edited a.ts: 3 replacements/);
    expect(workspace.text("a.ts")).toBe("z\ny\nz z\n");
  });

  it("shows the nearest text when there is none", async () => {
    workspace.put(
      "a.ts",
      "import x;\n\nfunction add(first: number, second: number) {\n  return first + second;\n}\n\nfunction other() {}\n",
    );
    expect(await edit("function add(first: number, third: number) {\n  return first + second;\n}", "")).toBe(
      "ERROR old_string does not occur in a.ts (0 matches). The nearest text, at line 3:\n2\t\n3\tfunction add(first: number, second: number) {\n4\t  return first + second;\n5\t}\n6\t\nCopy it exactly, without the line numbers.",
    );
    expect(await edit("functoin othre() {}", "")).toMatch(/nearest text, at line 7/);
    expect(await edit("nothing like this anywhere", "")).toMatch(/Nothing in it is like it/);
  });

  it("says when only white space differs", async () => {
    workspace.put("a.ts", "if ( a ) {\n\treturn  b;\n}\n");
    expect(await edit("if  ( a )  {\n  return b; \n}", "x")).toMatch(/differs only in white space, at line 1/);
  });

  it("says what was different if it placed an edit loosely", async () => {
    workspace.put("a.ts", "if (a) {\n\treturn b;\n}\n");
    expect(await edit("if (a) {\n  return b;\n}", "if (a) {\n  return c;\n}")).toMatch(
      /\n\[the indentation differs; the new text is indented/,
    );
    expect(workspace.text("a.ts")).toBe("if (a) {\n\treturn c;\n}\n");
    expect(await edit("1\tif (a) {\n2\t\treturn c;", "1\tif (d) {\n2\t\treturn c;")).toMatch(
      /\n\[line numbers of the old text are not in the file/,
    );
    expect(workspace.text("a.ts")).toBe("if (d) {\n\treturn c;\n}\n");
  });

  it("makes several edits of one call, or none", async () => {
    workspace.put("a.ts", "one\ntwo\nthree\n");
    const edits = [
      { old_string: "three", new_string: "3" },
      { old_string: "one", new_string: "two" },
    ];
    expect(await workspace.say("edit_file", { path: "a.ts", edits })).toMatch(/^Edited a.ts: 2 replacements/);
    expect(workspace.text("a.ts")).toBe("two\ntwo\n3\n");
    expect(
      await workspace.say("edit_file", {
        path: "a.ts",
        edits: [
          { old_string: "3", new_string: "4" },
          { old_string: "two", new_string: "2" },
        ],
      }),
    ).toMatch(/^ERROR edits\[1\] of 2 cannot be made, so none was. old_string occurs 2 times/);
    expect(workspace.text("a.ts")).toBe("two\ntwo\n3\n");
    expect(await workspace.say("edit_file", { path: "a.ts", edits, old_string: "x", new_string: "y" })).toMatch(/beside edits/);
  });

  it("makes a file of an empty old_string, also over an empty one, and replaces no other", async () => {
    expect(await edit("", "new\n")).toBe("Made a.ts (4 bytes).");
    expect(workspace.text("a.ts")).toBe("new\n");
    expect(await edit("", "other\n")).toMatch(/^ERROR old_string is empty, and a.ts exists already/);
    workspace.put("a.ts", "");
    expect(await edit("", "filled\n")).toMatch(/^Made/);
    expect(workspace.text("a.ts")).toBe("filled\n");
  });

  it("refuses to put a placeholder in the place of code", async () => {
    workspace.put("a.ts", "f() {\n  one();\n  two();\n}\n");
    expect(await edit("f() {\n  one();\n  two();\n}", "f() {\n  // ... existing code ...\n  three();\n}")).toMatch(/^ERROR .*placeholder/);
    expect(await edit("f() {\n  // ...\n}", "f() {}")).toMatch(/^ERROR .*stands for text that was left out/);
    expect(workspace.text("a.ts")).toBe("f() {\n  one();\n  two();\n}\n");
  });

  it("keeps CR LF, and takes LF in its arguments for it", async () => {
    workspace.put("a.ts", "one\r\ntwo\r\nthree\r\n");
    await edit("one\ntwo", "1\n2");
    expect(workspace.text("a.ts")).toBe("1\r\n2\r\nthree\r\n");
    workspace.put("a.ts", "mixed\nlines\r\nhere\r\nend\n");
    await edit("lines\nhere", "LINES\nHERE");
    expect(workspace.text("a.ts")).toBe("mixed\nLINES\r\nHERE\r\nend\n");
  });

  it("leaves bytes alone that are no UTF-8, and refuses what it cannot write", async () => {
    workspace.put("a.ts", Buffer.from([0xe9, 0x0a, 0x61, 0x0a]));
    expect(await edit("a", "b")).toMatch(/^Edited/);
    expect([...readFileSync(join(workspace.root, "a.ts"))]).toEqual([0xe9, 0x0a, 0x62, 0x0a]);
    expect(await edit("b", "ü")).toMatch(/^Edited/);
    expect([...readFileSync(join(workspace.root, "a.ts"))]).toEqual([0xe9, 0x0a, 0xfc, 0x0a]);
    expect(await edit("ü", "日")).toMatch(/Latin-1.* cannot be written/);
    workspace.put("a.ts", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("wide", "utf16le")]));
    expect(await edit("wide", "größer")).toMatch(/^Edited/);
    expect(readFileSync(join(workspace.root, "a.ts"))).toEqual(
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("größer", "utf16le")]),
    );
    workspace.put("a.ts", Buffer.from([0, 1, 2]));
    expect(await edit("wide", "x")).toMatch(/not a text file/);
  });

  it("refuses edits that say nothing, and files that are not there", async () => {
    workspace.put("a.ts", "a");
    expect(await edit("", "x")).toMatch(/old_string is empty/);
    expect(await edit("a", "a")).toMatch(/are the same/);
    expect(await workspace.say("edit_file", { path: "a.ts" })).toMatch(/replaces nothing/);
    expect(await workspace.say("edit_file", { path: "a.ts", old_string: "a" })).toMatch(/no new_string/);
    expect(await workspace.say("edit_file", { path: "b.ts", old_string: "a", new_string: "b" })).toMatch(/No such file or folder: b.ts/);
  });

  it("edits what somebody else made of the file in between, and overwrites nothing of it", async () => {
    workspace.put("a.ts", "mine\nline\n");
    let raced = false;
    beforeWrite = () => {
      if (!raced) workspace.put("a.ts", "mine\nline\ntheirs\n");
      raced = true;
    };
    expect(await edit("mine", "MINE")).toMatch(/^Edited/);
    expect(workspace.text("a.ts")).toBe("MINE\nline\ntheirs\n");
    let writes = 0;
    beforeWrite = () => workspace.put("a.ts", `MINE ${++writes}\n`);
    expect(await edit("MINE", "x")).toMatch(/^ERROR .*not as expected/);
    expect(writes).toBe(3);
  });

  it("loses none of many edits of one file at once", async () => {
    workspace.put("a.ts", Array.from({ length: 8 }, (_, index) => `line-${index};\n`).join(""));
    const results = await Promise.all(Array.from({ length: 8 }, (_, index) => edit(`line-${index};`, `LINE-${index};`)));
    const edited = results.filter((result) => result.startsWith("Edited")).length;
    expect(workspace.text("a.ts").match(/LINE/g)).toHaveLength(edited);
    expect(edited).toBeGreaterThan(0);
  });

  it("gives its result to write_file: the session knows the file", async () => {
    workspace.put("a.ts", "a");
    await edit("a", "b");
    expect(await workspace.say("write_file", { path: "a.ts", content: "c" })).toMatch(/^Replaced/);
  });
});

describe("after a crash, edit_file", () => {
  const reconcile = (old_string: string, new_string: string, replace_all = false) =>
    workspace.tool("edit_file").reconcile?.({ path: "a.ts", old_string, new_string, replace_all }, workspace.toolCall());

  it("tells done from not done by the content", async () => {
    expect(await reconcile("old", "new")).toBe("not-done");
    workspace.put("a.ts", "an old text");
    expect(await reconcile("old", "new")).toBe("not-done");
    workspace.put("a.ts", "an new text");
    expect(await reconcile("old", "new")).toEqual({ output: "Edited a.ts." });
    expect(await reconcile("a text that is long enough", "")).toEqual({ output: "Edited a.ts." });
  });

  it("says that it does not know when the content fits both", async () => {
    workspace.put("a.ts", "call(a, b)");
    expect(await reconcile("call(a", "call(a, b")).toBe("unknown");
  });
});
