import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ExecuteRequest } from "@keelson/protocol";
import { createSandboxExecutor, findSecretFiles } from "keelson/environment";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeWithBubblewrap } from "./with-bubblewrap.ts";

// The notes of sandboxes between commands, read at the first command.
const home = mkdtempSync(join(tmpdir(), "keelson-home-"));
process.env["KEELSON_HOME"] = home;
afterAll(() => rmSync(home, { recursive: true, force: true }));

let workspace: string;
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), "keelson-secrets-")));
  git("init", "-q");
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: workspace, encoding: "utf8" });
const put = (path: string, text = "canary\n"): void => {
  mkdirSync(dirname(join(workspace, path)), { recursive: true });
  writeFileSync(join(workspace, path), text);
};
const executor = () => createSandboxExecutor({ filesystem: { hideSecrets: true } }, { workspace });
const run = (command: string, more: Partial<ExecuteRequest> = {}) => executor().execute({ command, ...more });

describe("files that may hold secrets", () => {
  it("are found in any folder, ignored ones included; samples, copies of them, empty files and folders of packages are not", () => {
    const secrets = [".env", ".env.local", "a/b/prod.env", "ignored/deep/server.key", ".aws", "sub/id_ed25519", "config/credentials.json"];
    for (const path of secrets) put(path === ".aws" ? ".aws/credentials" : path);
    put(".gitignore", "ignored\n.env\n");
    for (const name of ["example", "sample", "template", "dist"]) put(`t/.env.${name}`, `${name}\n`);
    put("t/.env", "sample\n");
    put("u/.env", "");
    for (const path of ["node_modules/x/test.pem", ".venv/lib/site-packages/certifi/cacert.pem", "sub/id_ed25519.pub", "src/env.ts"])
      put(path, "public\n");
    symlinkSync(".env.example", join(workspace, "t/.env.link"));
    expect(findSecretFiles(workspace)).toEqual({ hidden: expect.any(Array), tracked: [], isCut: false });
    expect(findSecretFiles(workspace).hidden.toSorted()).toEqual(secrets.toSorted());
  });

  it("are told apart by whether git tracks them, in repositories within as well", () => {
    put(".env.production");
    put("sub/.env");
    put("sub/other.pem");
    execFileSync("git", ["init", "-q"], { cwd: join(workspace, "sub") });
    execFileSync("git", ["add", ".env"], { cwd: join(workspace, "sub") });
    git("add", ".env.production");
    expect(findSecretFiles(workspace)).toEqual({ hidden: ["sub/other.pem"], tracked: [".env.production", "sub/.env"], isCut: false });
  });

  it("are not taken for tracked because a command adds their name to the index, before or after they are made", () => {
    put("other", "something else\n");
    put(".env.local");
    expect(findSecretFiles(workspace).hidden).toEqual([".env.local"]);
    const blob = git("hash-object", "-w", "other").trim();
    for (const path of [".env", ".env.local"]) git("update-index", "--add", "--cacheinfo", `100644,${blob},${path}`);
    expect(findSecretFiles(workspace).hidden).toEqual([".env.local"]);
    rmSync(join(workspace, ".env.local"));
    put(".env");
    expect(findSecretFiles(workspace).hidden).toEqual([".env"]);
    git("add", "-f", ".env");
    expect(findSecretFiles(workspace)).toMatchObject({ hidden: [], tracked: [".env"] });
    put(".env", "changed by a person\n");
    expect(findSecretFiles(workspace)).toMatchObject({ hidden: [], tracked: [".env"] });
  });
});

describeWithBubblewrap("files that may hold secrets, in a sandbox", () => {
  it("are hidden from commands, which can't move them or put others in their place; tracked ones and samples are read", async () => {
    put(".env");
    put("sub/key.pem");
    put(".env.example", "A=\n");
    put("config/.env.ci", "tracked\n");
    git("add", "config/.env.ci");
    git("commit", "-qm", "x");
    const { stdout } = await run(
      "cat .env sub/key.pem; cat < .env; grep -r canary .; cp .env x && cat x; ln .env y; cat y; mv .env z; mv sub sub2; cat z sub2/*; tar c . | grep -a canary; cat .env.example config/.env.ci; git status --porcelain --untracked-files=no",
    );
    expect(stdout).toBe("A=\ntracked\n");
  });

  it("are named at the end of a failed command and of one that stumbled over them, and not of others", async () => {
    put(".env");
    put("sub/key.pem");
    const failed = await run("echo text; exit 3");
    expect(failed).toMatchObject({ exitCode: 3, stdout: "text\n", hiddenFiles: [".env", "sub/key.pem"] });
    expect(failed.stderr).toContain('Sandbox: hidden from commands, because they may hold secrets: ".env", "sub/key.pem".');
    expect((await run("git add -A; true")).stderr).toContain("Sandbox: hidden from commands");
    expect(await run("echo text")).toMatchObject({ exitCode: 0, stderr: "", hiddenFiles: [".env", "sub/key.pem"] });
  });

  it("are shown to a command to which they are revealed, or by the policy", async () => {
    put(".env");
    put("key.pem", "other\n");
    expect(await run("cat .env key.pem", { mayReveal: (path) => path === ".env" })).toMatchObject({ stdout: "canary\n", exitCode: 1 });
    const policy = { filesystem: { hideSecrets: true, revealed: ["key.pem"] } };
    expect(await createSandboxExecutor(policy, { workspace }).execute({ command: "cat .env key.pem" })).toMatchObject({
      stdout: "other\n",
    });
    expect(await createSandboxExecutor({}, { workspace }).execute({ command: "cat .env" })).toMatchObject({ stdout: "canary\n" });
  });
});
