import { chmodSync, existsSync, linkSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type CallEffects, VfsError } from "@keelson/protocol";
import type { DiskVfs } from "keelson/environment";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

let workspace: ToolWorkspace;
let failing: string | undefined;
beforeEach(() => {
  failing = undefined;
  workspace = createToolWorkspace({
    wrap: (files): DiskVfs => ({
      ...files,
      write(path, content, options) {
        if (path === failing) throw new VfsError({ kind: "io", path, code: "ENOSPC", message: `No space left on the disk for ${path}.` });
        return files.write(path, content, options);
      },
    }),
  });
});
afterEach(() => workspace[Symbol.dispose]());

const patch = (...lines: readonly string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const apply = (...lines: readonly string[]): Promise<string> => workspace.say("apply_patch", { input: patch(...lines) });
const effects = (input: string, folder?: string): Promise<CallEffects> =>
  Promise.resolve(
    workspace.tool("apply_patch").effectsOf?.({ input, ...(folder !== undefined && { folder }) }, { context: workspace.context }) ?? {},
  );
const exists = (path: string): boolean => existsSync(join(workspace.root, path));

describe("apply_patch", () => {
  it("makes, changes, moves and deletes files in one call, and reports each", async () => {
    workspace.put("a.ts", "one\ntwo\nthree\n");
    workspace.put("b.ts", "gone\n");
    workspace.put("c.sh", "#!/bin/sh\necho a\n");
    chmodSync(join(workspace.root, "c.sh"), 0o755);
    const said = await apply(
      "*** Update File: a.ts",
      "@@",
      " one",
      "-two",
      "+2",
      "*** Delete File: b.ts",
      "*** Update File: c.sh",
      "*** Move to: bin/c.sh",
      "@@",
      "-echo a",
      "+echo b",
      "*** Add File: new/d.ts",
      "+four",
    );
    expect(said).toBe(
      "Updated a.ts.\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\nDeleted b.ts.\nMoved c.sh to bin/c.sh.\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo a\n+echo b\nMade new/d.ts.",
    );
    expect([workspace.text("a.ts"), workspace.text("bin/c.sh"), workspace.text("new/d.ts")]).toEqual([
      "one\n2\nthree\n",
      "#!/bin/sh\necho b\n",
      "four\n",
    ]);
    expect([exists("b.ts"), exists("c.sh")]).toEqual([false, false]);
    expect(statSync(join(workspace.root, "bin/c.sh")).mode & 0o777).toBe(0o755);
  });

  it("changes nothing if one part does not fit, and shows the nearest place with line numbers", async () => {
    workspace.put("a.ts", "one\n");
    workspace.put("b.ts", "const first = 1;\nconst second = 2;\n");
    const said = await apply("*** Update File: a.ts", "@@", "-one", "+1", "*** Update File: b.ts", "@@", "-const secnod = 3;", "+x");
    expect(said).toMatch(/^ERROR The hunk for b\.ts does not fit.*nearest text, at line 2:\n1\tconst first = 1;\n2\tconst second = 2;/s);
    expect(workspace.text("a.ts")).toBe("one\n");
  });

  it("changes nothing if one file may not be replaced", async () => {
    workspace.put("a.ts", "one\n");
    workspace.put("locked.ts", "one\n");
    chmodSync(join(workspace.root, "locked.ts"), 0o444);
    workspace.put("linked.ts", "one\n");
    linkSync(join(workspace.root, "linked.ts"), join(workspace.root, "other.ts"));
    symlinkSync("a.ts", join(workspace.root, "link.ts"));
    for (const [section, told] of [
      [["*** Update File: locked.ts", "@@", "-one", "+1"], /read-only/],
      [["*** Delete File: locked.ts"], /read-only/],
      [["*** Update File: linked.ts", "@@", "-one", "+1"], /hard links/],
      [["*** Delete File: link.ts"], /symbolic link/],
    ] as const) {
      expect(await apply("*** Update File: a.ts", "@@", "-one", "+1", ...section)).toMatch(told);
      expect(workspace.text("a.ts")).toBe("one\n");
    }
    expect(await apply("*** Update File: link.ts", "@@", "-one", "+1")).toMatch(/^Updated link.ts/);
    expect(workspace.text("a.ts")).toBe("1\n");
  });

  it("takes changes back if a later one fails", async () => {
    workspace.put("a.ts", "one\n");
    workspace.put("b.ts", "two\n");
    workspace.put("c.ts", "three\n");
    failing = "c.ts";
    const said = await apply(
      "*** Update File: a.ts",
      "*** Move to: moved.ts",
      "@@",
      "-one",
      "+1",
      "*** Delete File: b.ts",
      "*** Add File: new.ts",
      "+x",
      "*** Update File: c.ts",
      "@@",
      "-three",
      "+3",
    );
    expect(said).toBe(
      "ERROR c.ts could not be changed: No space left on the disk for c.ts. The changes before it were taken back, so that nothing was changed.",
    );
    expect([workspace.text("a.ts"), workspace.text("b.ts"), workspace.text("c.ts")]).toEqual(["one\n", "two\n", "three\n"]);
    expect([exists("moved.ts"), exists("new.ts")]).toEqual([false, false]);
  });

  it("takes a unified diff, and paths relative to a folder", async () => {
    workspace.put("src/a.ts", "one\ntwo\n");
    const input = "--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    expect(await workspace.say("apply_patch", { input, folder: "src" })).toMatch(/^Updated src\/a.ts/);
    expect(workspace.text("src/a.ts")).toBe("one\n2\n");
  });

  it("is judged by all files that it touches, both names of a move among them, links followed", async () => {
    workspace.put("secrets/key", "x");
    symlinkSync("secrets", join(workspace.root, "harmless"));
    const input = patch(
      "*** Update File: harmless/key",
      "*** Move to: b/key",
      "@@",
      "-x",
      "+y",
      "*** Delete File: c.ts",
      "*** Add File: ./d/../e.ts",
      "+x",
    );
    expect(await effects(input)).toEqual({ reads: ["secrets/key", "c.ts"], writes: ["secrets/key", "b/key", "c.ts", "e.ts"] });
    expect((await effects(patch("*** Add File: x.ts", "+x"), "../out")).writes).toEqual(["../out/x.ts"]);
    expect(await effects("no patch")).toEqual({ reads: [], writes: [] });
    const tool = workspace.tool("apply_patch");
    expect(tool.permissionText?.({ input }, await effects(input))).toBe("secrets/key, b/key, c.ts, e.ts");
  });

  it("gives its results to write_file: the session knows a file that it knew before, and no other", async () => {
    workspace.put("a.ts", "one\nunseen\n");
    await apply("*** Update File: a.ts", "@@", "-one", "+1", "*** Add File: b.ts", "+x");
    expect(await workspace.say("write_file", { path: "a.ts", content: "2\n" })).toMatch(/^ERROR a.ts exists already/);
    expect(await workspace.say("write_file", { path: "b.ts", content: "2\n" })).toMatch(/^Replaced/);
    await workspace.say("read_file", { path: "a.ts" });
    await apply("*** Update File: a.ts", "@@", "-1", "+2");
    expect(await workspace.say("write_file", { path: "a.ts", content: "2\n" })).toMatch(/^Replaced/);
  });
});

describe("after a crash, apply_patch", () => {
  const input = patch(
    "*** Update File: a.ts",
    "@@",
    "-one",
    "+1",
    "*** Delete File: b.ts",
    "*** Add File: c.ts",
    "+x",
    "*** Update File: d.ts",
    "*** Move to: e.ts",
  );
  const reconcile = () => workspace.tool("apply_patch").reconcile?.({ input }, workspace.toolCall());

  it("tells done from not done by the files", async () => {
    workspace.put("a.ts", "one\n");
    workspace.put("b.ts", "b\n");
    workspace.put("d.ts", "d\n");
    expect(await reconcile()).toBe("not-done");
    await workspace.say("apply_patch", { input });
    expect(await reconcile()).toEqual({ output: "Applied the patch to a.ts, b.ts, c.ts, d.ts." });
  });

  it("goes on with a patch that was made in part", async () => {
    workspace.put("a.ts", "1\n");
    workspace.put("d.ts", "d\n");
    expect(await reconcile()).toBe("not-done");
    expect(await workspace.say("apply_patch", { input }, { attempt: 2 })).toBe("Made c.ts.\nMoved d.ts to e.ts.");
    expect(await reconcile()).toMatchObject({ output: expect.any(String) });
  });

  it("says that it does not know if a file fits neither", async () => {
    workspace.put("a.ts", "else\n");
    workspace.put("d.ts", "d\n");
    expect(await reconcile()).toBe("unknown");
  });
});

describe("the command apply_patch", () => {
  const redirect = (command: string) => workspace.tool("bash").redirect?.({ command });
  const text = patch("*** Delete File: a.ts");

  it("is a call of the tool, however it is written, also behind a cd", () => {
    for (const [command, folder] of [
      [`apply_patch <<'EOF'\n${text}\nEOF`],
      [`apply_patch << "PATCH"\n${text}\nPATCH\n`],
      [`cd src && apply_patch <<'EOF'\n${text}\nEOF`, "src"],
      [`cd 'my folder'; apply_patch <<EOF\n${text}\nEOF`, "my folder"],
      [`apply_patch '${text}'`],
      [`applypatch "${text}"`],
    ] as const)
      expect(redirect(command)).toEqual({ tool: "apply_patch", input: { input: text, ...(folder !== undefined && { folder }) } });
    expect(workspace.tool("bash").redirect?.({ command: ["bash", "-lc", `apply_patch <<'EOF'\n${text}\nEOF`] })).toMatchObject({
      tool: "apply_patch",
    });
  });

  it("is no such call if the line does anything else, and is refused with the remedy", async () => {
    for (const command of [
      `apply_patch <<'EOF'\n${text}\nEOF\nrm -rf x`,
      `apply_patch <<'EOF'\n${text}\nEOF\nrm x <<EOF\nEOF`,
      `apply_patch <<'EOF' && rm x\n${text}\nEOF`,
      `echo x; apply_patch <<'EOF'\n${text}\nEOF`,
      `cd $HOME && apply_patch <<'EOF'\n${text}\nEOF`,
      `cd $(rm x) && apply_patch <<'EOF'\n${text}\nEOF`,
    ]) {
      expect(redirect(command), command).toBeUndefined();
      expect(await workspace.say("bash", { command })).toMatch(/^ERROR apply_patch is no program here.*Nothing was run/);
    }
    expect(redirect("git apply_patch")).toBeUndefined();
    expect(await workspace.say("bash", { command: "echo apply_patch is a word" })).toMatch(/^apply_patch is a word/);
  });
});
