import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentsMdFor, findAgentsMd, instructionStretches, readAgentsMd } from "./index.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-agents-")));
  mkdirSync(join(base, "repo/.git"), { recursive: true });
  mkdirSync(join(base, "repo/packages/one/src"), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true }));
const put = (path: string, text: string | Uint8Array) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const found = async (cwd: string, more: { readonly home?: string; readonly maxBytes?: number } = {}) =>
  (await findAgentsMd({ cwd: join(base, cwd), ...more })).map(({ path, text }) => [path.slice(base.length + 1), text]);

describe("AGENTS.md", () => {
  it("is read from the user's home and from the repository's root down, the nearest last", async () => {
    put("AGENTS.md", "above the repository");
    put("home/AGENTS.md", "mine");
    put("repo/AGENTS.md", "\uFEFFroot\n");
    put("repo/packages/one/AGENTS.md", "one");
    put("repo/packages/one/src/AGENTS.md", "below");
    expect(await found("repo/packages/one", { home: join(base, "home") })).toEqual([
      ["home/AGENTS.md", "mine"],
      ["repo/AGENTS.md", "root"],
      ["repo/packages/one/AGENTS.md", "one"],
    ]);
  });

  it("becomes one text that names each file", async () => {
    put("repo/AGENTS.md", "Use tabs.");
    put("repo/packages/AGENTS.md", "Use spaces.");
    expect(await readAgentsMd({ cwd: join(base, "repo/packages") })).toBe(
      `Instructions of ${base}/repo/AGENTS.md:\n\nUse tabs.\n\nInstructions of ${base}/repo/packages/AGENTS.md:\n\nUse spaces.`,
    );
  });

  it("is found again in a prompt that ends with it", async () => {
    put("repo/AGENTS.md", "Use tabs.\n\nInstructions of the house:\n\nInstructions of AGENTS.md:");
    put("repo/packages/AGENTS.md", "Use spaces.");
    const prompt = `You are careful.\n\n${await readAgentsMd({ cwd: join(base, "repo/packages") })}`;
    expect(instructionStretches(prompt).map(({ path, from, upTo }) => [path, prompt.slice(from, upTo).trim()])).toEqual([
      [
        `${base}/repo/AGENTS.md`,
        `Instructions of ${base}/repo/AGENTS.md:\n\nUse tabs.\n\nInstructions of the house:\n\nInstructions of AGENTS.md:`,
      ],
      [`${base}/repo/packages/AGENTS.md`, `Instructions of ${base}/repo/packages/AGENTS.md:\n\nUse spaces.`],
    ]);
    expect(instructionStretches("You are careful.")).toEqual([]);
  });

  it("is nothing when there is none, or nothing in it", async () => {
    put("repo/AGENTS.md", " \n");
    mkdirSync(join(base, "repo/packages/AGENTS.md"));
    expect(await readAgentsMd({ cwd: join(base, "repo/packages/one"), home: join(base, "no-home") })).toBe("");
  });

  it("is looked for in the working directory alone when that is in no repository", async () => {
    put("AGENTS.md", "above");
    put("plain/AGENTS.md", "here");
    put("plain/inner/AGENTS.md", "inner");
    expect(await found("plain/inner")).toEqual([["plain/inner/AGENTS.md", "inner"]]);
  });

  it("knows the root of a worktree by its .git file", async () => {
    put("tree/.git", "gitdir: elsewhere");
    put("tree/AGENTS.md", "tree");
    mkdirSync(join(base, "tree/a"));
    expect(await found("tree/a")).toEqual([["tree/AGENTS.md", "tree"]]);
  });

  it("is cut at the end of a line when it is too long, the farthest first, and says so", async () => {
    put("repo/AGENTS.md", "far 1\nfar 2\nfar 3\n");
    put("repo/packages/AGENTS.md", "near\n");
    const files = await findAgentsMd({ cwd: join(base, "repo/packages"), maxBytes: 18 });
    expect(files.map(({ text }) => text)).toEqual(["far 1\nfar 2", "near"]);
    expect(await readAgentsMd({ cwd: join(base, "repo/packages"), maxBytes: 18 })).toContain(
      "far 2\n\n[Only the first 12 of 18 bytes are shown. Read the file for the rest.]",
    );
    put("repo/packages/AGENTS.md", Buffer.alloc(50_000_000, "x\n"));
    expect(Buffer.byteLength(await readAgentsMd({ cwd: join(base, "repo/packages") }))).toBeLessThan(70_000);
  });

  it("is not followed out of the project, but may be a link inside it", async () => {
    put("secret", "secret");
    symlinkSync(join(base, "secret"), join(base, "repo/AGENTS.md"));
    put("repo/docs/rules.md", "rules");
    symlinkSync("../docs/rules.md", join(base, "repo/packages/AGENTS.md"));
    const text = await readAgentsMd({ cwd: join(base, "repo/packages") });
    expect(text).not.toContain("secret");
    expect(text).toContain("leads out of the project");
    expect(text).toContain("rules");
  });

  it("of the user may be a link to anywhere", async () => {
    put("dotfiles/agents.md", "mine");
    mkdirSync(join(base, "home"));
    symlinkSync("../dotfiles/agents.md", join(base, "home/AGENTS.md"));
    expect(await readAgentsMd({ cwd: join(base, "repo"), home: join(base, "home") })).toContain("mine");
  });

  it("that is a pipe is not waited for", async () => {
    execFileSync("mkfifo", [join(base, "repo/AGENTS.md")]);
    expect(await readAgentsMd({ cwd: join(base, "repo") })).toBe("");
  });
});

describe("the instructions for a path below the working directory", () => {
  const paths = async (path: string) =>
    (await agentsMdFor(path, { cwd: join(base, "repo") })).map((file) => file.path.slice(base.length + 1));

  it("are those of the folders in between, the nearest last", async () => {
    put("repo/AGENTS.md", "root");
    put("repo/packages/AGENTS.md", "packages");
    put("repo/packages/one/src/AGENTS.md", "src");
    expect(await paths("packages/one/src/file.ts")).toEqual(["repo/packages/AGENTS.md", "repo/packages/one/src/AGENTS.md"]);
    expect(await paths("packages/one/src")).toEqual(["repo/packages/AGENTS.md", "repo/packages/one/src/AGENTS.md"]);
    expect(await paths(join(base, "repo/packages/new/file.ts"))).toEqual(["repo/packages/AGENTS.md"]);
    expect(await paths("file.ts")).toEqual([]);
  });

  it("are none outside of it", async () => {
    put("other/AGENTS.md", "other");
    expect(await paths("../other/file.ts")).toEqual([]);
    put("repo/..hidden/AGENTS.md", "inside");
    expect(await paths("..hidden/file.ts")).toEqual(["repo/..hidden/AGENTS.md"]);
  });
});
