import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { editFile } from "./edit-file.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-edit-file-"));
  file = join(folder, "a b.md");
  await writeFile(file, "old");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function edit(environment: { readonly [name: string]: string }) {
  const did: string[] = [];
  const lines = editFile(file, {
    environment: { PATH: process.env["PATH"], ...environment },
    async outside(program) {
      did.push("gives the terminal");
      await program().finally(() => did.push("takes it back"));
    },
  });
  return { did, lines };
}

describe("editFile", () => {
  it("gives the terminal to the editor, with its options and the path in one piece, and takes it back", async () => {
    const { did, lines } = edit({ VISUAL: 'sh -c \'printf "$0 " > "$1"\' new', EDITOR: "false" });
    expect(await lines).toEqual([`edited ${file}`]);
    expect([await readFile(file, "utf8"), did]).toEqual(["new ", ["gives the terminal", "takes it back"]]);
  });

  it("fails if the editor fails, and says where the file is", async () => {
    const { did, lines } = edit({ EDITOR: "exit 3;" });
    await expect(lines).rejects.toThrow(`The editor "exit 3;" ended with 3. The file is ${file}`);
    expect(did).toEqual(["gives the terminal", "takes it back"]);
  });

  it("says how to set an editor if there is none, and where the file is", async () => {
    const { did, lines } = edit({ EDITOR: "" });
    expect([await lines, did]).toEqual([[`No editor is set: set VISUAL or EDITOR, as in EDITOR=nano. The file is ${file}`], []]);
  });
});
