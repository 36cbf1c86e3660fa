import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { editExternally } from "./external-editor.ts";

let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "keelson-editor-test-"));
});
afterEach(() => rm(temporary, { recursive: true, force: true }));

async function edit(text: string, script: string, environment: { readonly [name: string]: string } = {}): Promise<string> {
  const file = join(temporary, "edit.sh");
  await writeFile(file, script);
  return editExternally(text, { environment: { PATH: process.env["PATH"], EDITOR: `sh '${file}' --wait`, ...environment }, temporary });
}

describe("editExternally", () => {
  it("returns what the editor wrote, without the newline at its end, and leaves no file", async () => {
    expect(await edit("first\nsecond", 'test "$1" = --wait && printf "third\\n" >> "$2" && printf "fourth\\r\\n" >> "$2"')).toBe(
      "first\nsecondthird\nfourth",
    );
    expect(await readdir(temporary)).toEqual(["edit.sh"]);
  });

  it("gives the editor a file that others cannot read", async () => {
    expect(await edit("", 'stat -c %a "$2" > "$2.mode"; cat "$2.mode" > "$2"')).toBe("600");
  });

  it("prefers VISUAL", async () => {
    expect(await edit("text", "exit 1", { VISUAL: "true" })).toBe("text");
  });

  it("fails if the editor fails, or if there is none", async () => {
    await expect(edit("text", "exit 3")).rejects.toThrow(/ended with 3\. The text is as it was\./);
    await expect(editExternally("text", { environment: {}, temporary })).rejects.toThrow("No editor is set. Set VISUAL or EDITOR");
    expect(await readdir(temporary)).toEqual(["edit.sh"]);
  });
});
