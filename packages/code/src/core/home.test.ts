import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError } from "@keelson/protocol";
import { loadApprovalKeys } from "keelson/agent";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { homePath, openHome } from "./home.ts";

describe("openHome", () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "keelson-home-"))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const open = (path: string): ReturnType<typeof openHome> => openHome({ KEELSON_HOME: path });

  it("is ~/.keelson unless KEELSON_HOME names another folder", () => {
    expect(homePath({})).toBe(join(homedir(), ".keelson"));
    expect(homePath({ KEELSON_HOME: "" })).toBe(join(homedir(), ".keelson"));
    expect(homePath({ KEELSON_HOME: "/somewhere" })).toBe("/somewhere");
  });

  it("makes a folder of its owner alone, with the version of its layout", async () => {
    const home = await open(join(folder, "a", "b"));
    expect(home).toEqual({
      path: join(folder, "a", "b"),
      database: join(folder, "a", "b", "sessions.db"),
      history: join(folder, "a", "b", "history"),
      permissions: join(folder, "a", "b", "permissions.jsonl"),
      trust: join(folder, "a", "b", "trust.jsonl"),
    });
    expect((await stat(home.path)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(home.path, "version"), "utf8")).toBe("1\n");
    await expect(open(home.path)).resolves.toEqual(home);
  });

  it("closes a folder that others could read", async () => {
    await mkdir(join(folder, "h"));
    await chmod(join(folder, "h"), 0o755);
    await open(join(folder, "h"));
    expect((await stat(join(folder, "h"))).mode & 0o777).toBe(0o700);
  });

  it("never closes a folder of others, such as /tmp", async () => {
    await mkdir(join(folder, "shared"));
    await writeFile(join(folder, "shared", "theirs"), "");
    await chmod(join(folder, "shared"), 0o1777);
    await expect(open(join(folder, "shared"))).rejects.toThrow(/holds what is not Keelson's.*chmod 700/);
    expect((await stat(join(folder, "shared"))).mode & 0o777).toBe(0o777);
  });

  it.runIf(existsSync("/proc/self"))("that can be no folder is an error, and no endless wait", async () => {
    await writeFile(join(folder, "file"), "");
    for (const path of ["/proc/keelson/home", "/dev/null", join(folder, "file", "below")])
      await expect(open(path)).rejects.toThrow(`The folder ${path} cannot be used`);
  });

  it("whose files are pipes that nobody writes to is an error, and no endless wait", async () => {
    await mkdir(join(folder, "h"), { mode: 0o700 });
    execFileSync("mkfifo", [join(folder, "h", "version"), join(folder, "approval-keys.json")]);
    await expect(open(join(folder, "h"))).rejects.toThrow(/version is no file/);
    await expect(loadApprovalKeys(folder)).rejects.toThrow(/approval-keys.json is no file/);
  });

  it("can be made by several at once", async () => {
    await Promise.all(Array.from({ length: 8 }, () => open(join(folder, "h"))));
    expect(await readFile(join(folder, "h", "version"), "utf8")).toBe("1\n");
  });

  it.each([
    ["2\n", /newer Keelson \(layout 2; this one knows 1\)/],
    ["0", /should hold the number 1/],
    ["", /should hold the number 1/],
    ["one", /holds "one"/],
  ])("refuses the version %j and leaves the folder alone", async (version, words) => {
    await writeFile(join(folder, "version"), version);
    const error = await open(folder).catch((refused: unknown) => refused);
    expect(AgentError.is(error, "backend") && error.message).toMatch(words);
    expect(await readFile(join(folder, "version"), "utf8")).toBe(version);
  });

  it("says what to do when the folder cannot be used", async () => {
    await writeFile(join(folder, "file"), "");
    const error = await open(join(folder, "file")).catch((refused: unknown) => refused);
    expect(AgentError.is(error, "backend") && error.message).toMatch(/cannot be used: [\s\S]* Set KEELSON_HOME/);
  });
});
