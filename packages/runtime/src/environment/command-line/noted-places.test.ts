import { mkdir, mkdtemp, realpath, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCommandLine } from "./read-command-line.ts";

const cwd = await realpath(await mkdtemp(join(tmpdir(), "keelson-test-")));
const reads = async (line: string): Promise<readonly string[]> => (await readCommandLine(line, { cwd })).reads ?? [];

describe("the files that a command reads", () => {
  it.each([
    "cat /proc/1/envir*",
    "cat /proc/[0-9]*/environ",
    "cat /p*/1/environ",
    "grep -r KEY /proc",
    "grep -ra KEY /",
    "head /*/1/environ",
  ])("hold the variables of other processes, if a pattern or a folder reaches them: %s", async (line) =>
    expect(await reads(line)).toContain("/proc/*/environ"),
  );

  it.each(["cat /proc/cpuinfo", "cat /process/*", "grep -r KEY src", "cat src/*", "ls /proc/*"])(
    "hold no variables of processes, if nothing leads there: %s",
    async (line) => expect(await reads(line)).not.toContain("/proc/*/environ"),
  );

  it.skipIf(process.platform !== "linux")("are those of the system, where a path goes up behind a link", async () => {
    expect(await reads("cat /dev/fd/../../1/environ")).toEqual(["/proc/1/environ"]);
    expect(await reads("cat /proc/self/../1/environ")).toEqual(["/proc/1/environ"]);
    const outside = await realpath(await mkdtemp(join(tmpdir(), "keelson-test-")));
    await mkdir(join(outside, "deep"));
    await symlink(join(outside, "deep"), join(cwd, "link"));
    const { commands, reads: found } = await readCommandLine("cat link/../secret", { cwd });
    expect(found).toEqual([join(outside, "secret")]);
    expect(commands?.[0]?.readOnly).not.toBe(true);
  });

  it("are as they are written, where a path goes up behind a folder, or behind nothing", async () => {
    await mkdir(join(cwd, "src"));
    expect(await reads("cat src/../a")).toEqual([join(cwd, "a")]);
    expect(await reads("cat nowhere/../a")).toEqual([join(cwd, "a")]);
    expect(await reads("cat ./src/./../src//../a")).toEqual([join(cwd, "a")]);
  });

  it("may be any below the root, if a program goes through it", async () => {
    expect((await readCommandLine("grep -r KEY /", { cwd })).mayTouch).toContain("/*");
  });
});
