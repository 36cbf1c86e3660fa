import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, Vfs } from "@keelson/protocol";
import { createAgent, createRunner, type PermissionPolicy } from "keelson";
import { createDiskVfs, createMemoryVfs, createOverlay } from "keelson/environment";
import { scriptedModel } from "keelson/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

let own: ToolWorkspace;
let elsewhere: string;
beforeEach(() => {
  own = createToolWorkspace();
  own.put("src/a.txt", "of the machine\n");
  elsewhere = realpathSync(mkdtempSync(join(tmpdir(), "keelson-elsewhere-")));
});
afterEach(() => {
  own[Symbol.dispose]();
  rmSync(elsewhere, { recursive: true, force: true });
});

const treeOf = (root: string): string[] => readdirSync(root, { recursive: true }).map(String).sort();

/** What the tools say, one after the other, in a run that is held in an environment with these files. */
async function sayHeld(
  files: Vfs,
  calls: readonly (readonly [name: string, input: JsonObject])[],
  permissions: PermissionPolicy = { mode: "bypass-all", rules: [] },
): Promise<readonly string[]> {
  const model = scriptedModel([...calls.map(([name, input]) => ({ toolCalls: [{ name, input }] })), "done"]);
  const agent = createAgent({ name: "coder", model, tools: own.tools, cwd: own.root, permissions });
  const runner = createRunner({
    agent,
    context: () => own.context,
    environment: {
      run: () => Promise.reject(new Error("it runs no operator")),
      open: async () => ({ files, async [Symbol.asyncDispose]() {} }),
    },
  });
  const said: string[] = [];
  for await (const event of runner.run("go")) if (event.type === "tool-result") said.push(JSON.stringify(event.output));
  return said;
}

describe("the file tools of a run that is held in an environment", () => {
  it("read, search and change the files of that, and leave those of the machine alone", async () => {
    const files = createMemoryVfs();
    await files.write("src/a.txt", "of the environment\n");
    await files.write("src/old/b.txt", "old\n");
    const said = await sayHeld(files, [
      ["read_file", { path: "src/a.txt" }],
      ["list_directory", { path: "src" }],
      ["glob", { pattern: "**/*.txt" }],
      ["glob", { pattern: "/src/*.txt" }],
      ["grep", { pattern: "of the" }],
      ["edit_file", { path: "src/a.txt", old_string: "environment", new_string: "run" }],
      ["write_file", { path: "src/new.txt", content: "new\n" }],
      ["read_file", { path: "src/neww.txt" }],
    ]);
    expect(said[0]).toContain("of the environment");
    expect(said[1]).toContain("old/");
    expect(said[2]).toContain("src/a.txt\\nsrc/old/b.txt");
    expect(said[3]).toBe('"src/a.txt"');
    expect(said[4]).toBe('"src/a.txt:1:of the environment"');
    expect(said[5]).toContain("Edited src/a.txt");
    expect(said[6]).toContain("Made src/new.txt");
    expect(said[7]).toContain("Did you mean src/new.txt");
    expect(Buffer.from((await files.read("/src/a.txt")).content).toString()).toBe("of the run\n");
    expect(own.text("src/a.txt")).toBe("of the machine\n");
    expect(treeOf(own.root)).toEqual(["src", "src/a.txt"]);
  });

  it("change an overlay of the project, and nothing in the project before that is committed", async () => {
    const overlay = await createOverlay({ base: own.root, store: join(elsewhere, "store") });
    try {
      const said = await sayHeld(overlay.files, [
        ["edit_file", { path: "src/a.txt", old_string: "machine", new_string: "overlay" }],
        ["write_file", { path: join(own.root, "b.txt"), content: "new\n" }],
        ["grep", { pattern: "overlay|new" }],
      ]);
      expect(said[2]).toBe('"b.txt:1:new\\nsrc/a.txt:1:of the overlay"');
      expect(own.text("src/a.txt")).toBe("of the machine\n");
      expect(treeOf(own.root)).toEqual(["src", "src/a.txt"]);
      expect((await overlay.diff()).map(({ path, change }) => `${change} ${path}`)).toEqual(["added b.txt", "changed src/a.txt"]);
    } finally {
      await overlay.close();
    }
  });

  it("are judged by where the links of the environment lead", async () => {
    mkdirSync(join(elsewhere, "secrets"));
    writeFileSync(join(elsewhere, "secrets/key"), "canary");
    symlinkSync("secrets", join(elsewhere, "notes"));
    const files = createDiskVfs({ root: elsewhere });
    const calls = [
      ["read_file", { path: "notes/key" }],
      ["write_file", { path: "notes/key", content: "x", overwrite: true }],
      ["edit_file", { path: "notes/key", old_string: "canary", new_string: "x" }],
    ] as const;
    const denied = await sayHeld(files, calls, {
      mode: "bypass-all",
      rules: [
        { pattern: "read_file(secrets/**)", behavior: "deny" },
        { pattern: "write_file(secrets/**)", behavior: "deny" },
      ],
    });
    expect(denied.map((line) => line.includes("Not permitted"))).toEqual([true, true, true]);
    // What is allowed is a file, not a name that leads elsewhere.
    const allowed = await sayHeld(files, calls.slice(1), {
      mode: "deny-unauthorized",
      rules: ["write_file(notes/key)", "edit_file(notes/key)"].map((pattern) => ({ pattern, behavior: "allow" })),
    });
    expect(allowed.map((line) => line.includes("Not permitted"))).toEqual([true, true]);
  });

  it("say so where that has none", async () => {
    for (const [name, input] of [
      ["read_file", { path: "src/a.txt" }],
      ["list_directory", {}],
      ["glob", { pattern: "*" }],
      ["grep", { pattern: "of" }],
      ["edit_file", { path: "src/a.txt", old_string: "of", new_string: "x" }],
      ["write_file", { path: "src/a.txt", content: "x", overwrite: true }],
    ] as const)
      expect(await own.say(name, input, { environment: {} })).toContain("has no files");
    expect(own.text("src/a.txt")).toBe("of the machine\n");
  });
});
