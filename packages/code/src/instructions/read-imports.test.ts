import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findAgentsMd, readAgentsMd } from "./index.ts";
import { importsIn, readWithImports } from "./read-imports.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-imports-")));
  for (const folder of ["repo/.git", "ada/.claude", "home"]) mkdirSync(join(base, folder), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true }));
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const read = (path = "repo/CLAUDE.md") => readWithImports(join(base, path), { within: join(base, "repo"), userHome: join(base, "ada") });
const all = (more: object = {}) => ({ cwd: join(base, "repo"), home: join(base, "home"), userHome: join(base, "ada"), ...more });

describe("importsIn", () => {
  it("finds paths at the begin of words, and none in code, addresses and ends of sentences", () => {
    const text = [
      "See @README.md, @docs/style.md and (@./a/b.md). Again @README.md.",
      "- @~/notes.md",
      "Write to ada@example.com or `@not/this.md`.",
      "```md",
      "@nor/this.md",
      "```",
      "~~~",
      "@nor/that.md",
      "```",
      "~~~",
      "@last",
    ].join("\n");
    expect(importsIn(text)).toEqual(["README.md", "docs/style.md", "./a/b.md", "~/notes.md", "last"]);
  });

  it("reads long lines of marks in linear time", () => {
    for (const mark of ["-@", "@", "`", " @/", "@a ", "``` "]) expect(importsIn(mark.repeat(100_000)).length).toBeLessThan(3);
  });
});

describe("a CLAUDE.md", () => {
  it("brings the files that it imports, and those that these import, each once", async () => {
    put("repo/CLAUDE.md", "Rules: @docs/style.md and @README.md");
    put("repo/docs/style.md", "Tabs. See @../README.md and @more.md");
    put("repo/docs/more.md", "More. @../CLAUDE.md");
    put("repo/README.md", "A project.");
    const file = await read();
    expect(file?.text).toBe(
      [
        "Rules: @docs/style.md and @README.md",
        "Imported as @docs/style.md:",
        "Tabs. See @../README.md and @more.md",
        "Imported as @../README.md:",
        "A project.",
        "Imported as @more.md:",
        "More. @../CLAUDE.md",
      ].join("\n\n"),
    );
    expect(file?.note).toBeUndefined();
  });

  it("is another one when a file that it imports has changed or appeared", async () => {
    put("repo/CLAUDE.md", "@a.md @b.md");
    put("repo/a.md", "one");
    const digests = [(await read())?.digest];
    put("repo/a.md", "two");
    digests.push((await read())?.digest);
    put("repo/b.md", "b");
    digests.push((await read())?.digest);
    expect(new Set(digests).size).toBe(3);
  });

  it("imports nothing from outside of the project, no hidden file and no binary, and says so", async () => {
    put("secret.md", "secret");
    put("ada/notes.md", "secret");
    put("repo/.env", "TOKEN=secret");
    put("repo/data.bin", "secret\0");
    symlinkSync(join(base, "secret.md"), join(base, "repo/link.md"));
    put("repo/.claude/rules.md", "open");
    put("repo/CLAUDE.md", `@../secret.md @~/notes.md @.env @data.bin @link.md @missing.md @ada @${base}/secret.md @.claude/rules.md`);
    const file = await read();
    expect(file?.text).toContain("open");
    expect(file?.text.replace(/^.*$/m, "")).not.toContain("secret");
    for (const name of ["../secret.md", "~/notes.md", ".env", "data.bin", "link.md", "missing.md", `${base}/secret.md`])
      expect(file?.note).toContain(`@${name} is not imported`);
    expect(file?.note).not.toContain("@ada ");
  });

  it("stops at five files that import one another in a row", async () => {
    put("repo/CLAUDE.md", "@1.md");
    for (let at = 1; at <= 8; at++) put(`repo/${at}.md`, `file ${at} @${at + 1}.md`);
    const file = await read();
    expect(file?.text.match(/Imported as/g)).toHaveLength(5);
    expect(file?.note).toContain("@6.md is not imported: too many files import one another.");
  });

  it("of the person may import their own files", async () => {
    put("ada/.claude/CLAUDE.md", "@~/notes.md");
    put("ada/notes.md", "my notes");
    expect(await readAgentsMd(all())).toContain("my notes");
  });
});

describe("the files of instructions of a folder", () => {
  const names = async (more: object = {}) => {
    const found: string[] = [];
    const onFound = ({ file, isUsed, reason }: { file: string; isUsed: boolean; reason: string }) =>
      void (isUsed || found.push(`${file.slice(base.length + 1)}: ${reason}`));
    const files = await findAgentsMd(all({ onFound, ...more }));
    return { files: files.map(({ path }) => path.slice(base.length + 1)), found };
  };

  it("are read in their order: the person's, then the project's, AGENTS.md behind CLAUDE.md, and the local one last", async () => {
    for (const name of [
      "ada/.claude/CLAUDE.md",
      "home/AGENTS.md",
      "repo/AGENTS.md",
      "repo/CLAUDE.md",
      "repo/.claude/CLAUDE.md",
      "repo/CLAUDE.local.md",
    ])
      put(name, name);
    expect((await names()).files).toEqual([
      ...["ada/.claude/CLAUDE.md", "home/AGENTS.md", "repo/.claude/CLAUDE.md", "repo/CLAUDE.md", "repo/AGENTS.md", "repo/CLAUDE.local.md"],
    ]);
  });

  it("leave AGENTS.md out beside AGENTS.override.md, and say so", async () => {
    put("repo/AGENTS.md", "shared");
    put("repo/AGENTS.override.md", "mine");
    expect(await names()).toEqual({ files: ["repo/AGENTS.override.md"], found: ["repo/AGENTS.md: AGENTS.override.md is read instead"] });
  });

  it("are said once if two have the same text, are links to each other, or one only imports the other", async () => {
    put("repo/AGENTS.md", "same\n");
    put("repo/CLAUDE.md", "same");
    expect(await names()).toEqual({
      files: ["repo/AGENTS.md"],
      found: [`repo/CLAUDE.md: it says the same as ${base}/repo/AGENTS.md, which is read`],
    });
    rmSync(join(base, "repo/CLAUDE.md"));
    symlinkSync("AGENTS.md", join(base, "repo/CLAUDE.md"));
    expect((await names()).files).toEqual(["repo/AGENTS.md"]);
    rmSync(join(base, "repo/CLAUDE.md"));
    put("repo/CLAUDE.md", "@AGENTS.md\n");
    expect(await names()).toMatchObject({ files: ["repo/AGENTS.md"], found: [expect.stringContaining("only imports the AGENTS.md")] });
  });

  it("bring the imports of a CLAUDE.md that AGENTS.md is a link to", async () => {
    put("repo/CLAUDE.md", "Rules. @docs/a.md");
    symlinkSync("CLAUDE.md", join(base, "repo/AGENTS.md"));
    put("repo/docs/a.md", "imported");
    const text = await readAgentsMd(all());
    expect(text.match(/Rules\./g)).toHaveLength(1);
    expect(text).toContain("imported");
  });

  it("are left out if nobody trusts them, a CLAUDE.md by itself", async () => {
    put("repo/AGENTS.md", "same");
    put("repo/CLAUDE.md", "same");
    const isTrusted = async ({ path }: { path: string }) => path.endsWith("CLAUDE.md");
    expect((await names({ isTrusted })).files).toEqual(["repo/CLAUDE.md"]);
  });
});
