import { describe, expect, it } from "vitest";
import { editFile } from "./edit-file.ts";

async function edit(environment: { readonly [name: string]: string }, end: number | Error = 0) {
  const did: string[] = [];
  const lines = await editFile("/p/a b.md", {
    environment,
    suspend() {
      did.push("suspend");
      return () => void did.push("resume");
    },
    async run(program, args) {
      did.push([program, ...args].join(" "));
      if (end instanceof Error) throw end;
      return end;
    },
  }).catch((error: unknown) => [String(error)]);
  return { did, lines };
}

describe("editFile", () => {
  it("gives the terminal to the editor, with its options and the path in one piece, and takes it back", async () => {
    const { did, lines } = await edit({ VISUAL: "code --wait", EDITOR: "nano" });
    expect(did).toEqual(["suspend", 'sh -c code --wait "$1" sh /p/a b.md', "resume"]);
    expect(lines).toEqual(["edited /p/a b.md"]);
  });

  it("takes the terminal back if the editor fails, and says so", async () => {
    const { did, lines } = await edit({ EDITOR: "nano" }, 127);
    expect([did.at(-1), lines]).toEqual(["resume", ["nano ended with exit code 127; the file is /p/a b.md"]]);
    const broken = await edit({ EDITOR: "nano" }, new Error("no sh"));
    expect([broken.did.at(-1), broken.lines]).toEqual(["resume", ["Error: no sh"]]);
  });

  it("says how to set an editor if there is none, and where the file is", async () => {
    const { did, lines } = await edit({ EDITOR: "" });
    expect([did, lines]).toEqual([[], ["No editor is known: set VISUAL or EDITOR, as in EDITOR=nano. The file is /p/a b.md"]]);
  });
});
