import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compilePolicy, decidePermission } from "keelson/agent";
import { readCommandLine } from "keelson/environment";
import { readPolicy } from "keelson/security";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { confinedProgram } from "./confined-program.ts";

const bash = { name: "bash", effect: "write", risk: "high", category: "shell" } as const;
const [reads = [], writes = [], connects = []] = readFileSync(new URL("denied-effects.txt", import.meta.url), "utf8")
  .split(/^## .*\n/m)
  .slice(1)
  .map((part) =>
    part
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.replaceAll("⏎", "\n")),
  );

/** Everything is allowed that a policy file does not deny. */
const denying = compilePolicy({
  mode: "default",
  ...readPolicy({
    permissions: { allow: ["bash"] },
    filesystem: { deniedPaths: ["private"], writableRoots: ["."] },
    network: { enabled: true, deniedDomains: ["denied.test"] },
  }).permissions,
});
const ruling = compilePolicy({
  mode: "default",
  rules: [
    { pattern: "bash", behavior: "allow" },
    { pattern: "read_file(private/**)", behavior: "deny" },
    { pattern: "web_fetch(denied.test)", behavior: "deny" },
  ],
});

interface Ran {
  readonly output: string;
  readonly wroteOutside: boolean;
}

async function runAll(lines: readonly string[]): Promise<readonly (Ran & { readonly line: string })[]> {
  const ran: (Ran & { readonly line: string })[] = [];
  // One after another: each has a time limit, and some start several processes.
  for (const line of lines) ran.push({ line, ...(await runInBash(line)) });
  return ran;
}

/** In a folder that is made for it alone. */
async function runInBash(line: string): Promise<Ran> {
  const base = mkdtempSync(join(tmpdir(), "keelson-denied-"));
  const cwd = join(base, "project");
  for (const folder of ["project/private", "project/src"]) mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(cwd, "private/key"), "canary\n");
  writeFileSync(join(cwd, "src/key"), "public\n");
  try {
    const output = await new Promise<string>((resolve) => {
      // With a socket as its input bash would take itself for the shell of a remote user.
      const [program, ...args] = confinedProgram(base, "bash", "--norc", "-c", line);
      const child = execFile(program, args, { cwd, timeout: 8000, env: { PATH: process.env["PATH"] ?? "" } }, (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      );
      child.stdin?.end();
    });
    return { output, wroteOutside: existsSync(join(base, "outside")) };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

async function allowedLines(lines: readonly string[], policies = [denying, ruling]): Promise<readonly string[]> {
  const cwd = "/home/somebody/project";
  const allowed: string[] = [];
  for (const line of lines) {
    const effects = await readCommandLine(line, { cwd });
    for (const policy of policies)
      if (decidePermission({ policies: [policy], tool: bash, argumentText: line, effects, cwd }).behavior === "allow")
        allowed.push(`${policy === denying ? "policy" : "rules"}: ${line}`);
  }
  return allowed;
}

function sampled(what: string, lines: readonly string[]): readonly string[] {
  const size = sampleSize(what, { test: 25, ci: lines.length, soak: lines.length });
  return lines.filter((_line, index) => ((index + seed) * size) % lines.length < size);
}

describe("what a policy file denies, under a rule that allows every command", () => {
  it("is not read by any command that does read it in a real bash [MC-15]", { timeout: 60_000 }, async () => {
    const ran = await runAll(sampled("denied reads in a real bash", reads));
    const effective = ran.filter(({ output }) => output.includes("canary"));
    process.stdout.write(`${effective.length} of ${ran.length} lines read what is denied\n`);
    expect(effective.length).toBeGreaterThan(ran.length * 0.75);
    expect(await allowedLines(reads)).toEqual([]);
  });

  it("is not written by any that does write it", { timeout: 60_000 }, async () => {
    const ran = await runAll(sampled("denied writes in a real bash", writes));
    const effective = ran.filter(({ wroteOutside }) => wroteOutside);
    process.stdout.write(`${effective.length} of ${ran.length} lines write what is denied\n`);
    expect(effective.length).toBeGreaterThan(ran.length * 0.75);
    expect(await allowedLines(writes, [denying])).toEqual([]);
  });

  it("is not connected to", async () => {
    expect(await allowedLines(connects)).toEqual([]);
  });
});
