import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { PermissionBehavior } from "@keelson/protocol";
import { compilePolicy, decidePermission } from "keelson/agent";
import { createDiskVfs } from "keelson/environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentPermissions } from "../src/core/agent-permissions.ts";
import { type CodingExecutors, createCodingExecutors } from "../src/core/coding-executor.ts";
import { createCodingTools } from "../src/tools/index.ts";
import { createWorkspace } from "../src/workspace/create-workspace.ts";
import { hasBubblewrap } from "./has-bubblewrap.ts";

interface EverydayLine {
  readonly topic: string;
  /** `never` run, because it needs a network or a package; `py:NAME` run if Python has the module; else if the program is installed. */
  readonly where: string;
  readonly command: string;
}

function readLines(): readonly EverydayLine[] {
  let topic = "";
  return readFileSync(new URL("everyday-lines.txt", import.meta.url), "utf8")
    .split("\n")
    .flatMap((line) => {
      if (line.startsWith("## ")) topic = line.slice(3);
      const [where, command] = line.split("\t");
      return where === undefined || command === undefined ? [] : [{ topic, where, command: command.replaceAll("⏎", "\n") }];
    });
}

const PROJECT: { readonly [path: string]: string } = {
  "package.json": JSON.stringify({
    name: "sample",
    version: "1.0.0",
    type: "module",
    scripts: { test: "node --test", build: "node scripts/build.mjs" },
  }),
  "scripts/build.mjs": 'import { cpSync } from "node:fs";\ncpSync("src", "dist", { recursive: true });\n',
  "src/add.ts": "// version-marker\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n",
  "test/add.test.mjs": 'import test from "node:test";\nimport assert from "node:assert";\ntest("adds", () => assert.equal(1 + 1, 2));\n',
  "calc.py": "def add(a, b):\n    return a + b\n\n\nif __name__ == '__main__':\n    print(add(1, 1))\n",
  "tests/__init__.py": "",
  "tests/test_calc.py":
    "import unittest\nimport calc\n\n\nclass Adds(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n\n\nif __name__ == '__main__':\n    unittest.main()\n",
  "go.mod": "module example.com/sample\n\ngo 1.20\n",
  "add.go": "package main\n\nfunc Add(a, b int) int { return a + b }\n\nfunc main() { println(Add(1, 2)) }\n",
  "add_test.go": 'package main\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n',
  "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n\n[[bin]]\nname = "sample"\npath = "src/main.rs"\n',
  "src/main.rs":
    'fn main() {\n    println!("{}", add(1, 2));\n}\n\nfn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(super::add(1, 2), 3);\n    }\n}\n',
  "Makefile": "all:\n\t@echo made\n",
  ".gitignore": "target\ndist\n__pycache__\n.venv\n",
};

const lines = readLines();
let root: string;
let project: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-everyday-")));
  project = join(root, "project");
  for (const [path, text] of Object.entries(PROJECT)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const git = (...args: readonly string[]): void => void execFileSync("git", args, { cwd: project, stdio: "ignore" });
  git("init", "-q");
  git("config", "user.name", "Sample");
  git("config", "user.email", "sample@example.com");
  git("add", "-A");
  git("commit", "-q", "-m", "Begin");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The decision of the coding agent on each line, as a run makes it in the default mode. */
async function decideAll({
  exec,
  leaving,
}: CodingExecutors): Promise<readonly (EverydayLine & { readonly behavior: PermissionBehavior })[]> {
  const tools = createCodingTools({ exec, leaving });
  const context = createWorkspace({ files: createDiskVfs({ root: project }) });
  const bash = tools.find(({ name }) => name === "bash");
  if (bash === undefined) throw new Error("the coding agent has no tool bash");
  const policies = [compilePolicy(agentPermissions({ rules: [] }, undefined, []))];
  return Promise.all(
    lines.map(async (line) => {
      const effects = await bash.effectsOf?.({ command: line.command }, { cwd: project, context });
      const { behavior } = decidePermission({ policies, tool: bash, argumentText: line.command, effects, cwd: project });
      return { ...line, behavior };
    }),
  );
}

function isInstalled({ where, command }: EverydayLine): boolean {
  if (where === "never") return false;
  if (where.startsWith("py:")) return spawnSync("python3", ["-c", `import ${where.slice(3)}`]).status === 0;
  const program = command.split(/\s+/).find((word) => !/^[A-Z_]+=/.test(word)) ?? "";
  return !/^[a-z]/.test(program) || spawnSync("bash", ["-c", `command -v ${program}`]).status === 0;
}

describe("everyday lines of TypeScript, Python, Go and Rust", () => {
  it("are at least 150, each once", () => {
    expect(new Set(lines.map(({ command }) => command)).size).toBe(lines.length);
    expect(lines.length).toBeGreaterThanOrEqual(150);
  });

  it("are asked about in the sandbox at most twice, where they name a host, and nothing is refused [MC-15]", async () => {
    const decided = await decideAll(createCodingExecutors(project, { sandbox: true, home: join(root, "home") }));
    expect(decided.filter(({ behavior }) => behavior === "deny").map(({ command }) => command)).toEqual([]);
    const asked = decided.filter(({ behavior }) => behavior === "ask").map(({ command }) => command);
    expect(asked.length, asked.join("\n")).toBeLessThanOrEqual(2);
    for (const command of asked) expect(command).toContain("https://");
  });

  it("are asked about without the sandbox as often as is said here", async () => {
    const decided = await decideAll(createCodingExecutors(project, { sandbox: false }));
    const asked = decided.filter(({ behavior }) => behavior === "ask");
    const topics = [...new Set(lines.map(({ topic }) => topic))];
    const counts = topics.map(
      (topic) => `${topic} ${asked.filter((one) => one.topic === topic).length} of ${lines.filter((one) => one.topic === topic).length}`,
    );
    process.stdout.write(`without a sandbox ${asked.length} of ${lines.length} everyday lines are asked about: ${counts.join(", ")}\n`);
    expect(asked.length).toBeLessThan(lines.length);
  });

  it.skipIf(!hasBubblewrap)("succeed in the sandbox, as far as their programs are installed", { timeout: 600_000 }, async () => {
    const { exec } = createCodingExecutors(project, { sandbox: true, home: join(root, "home") });
    const run = lines.filter(isInstalled);
    const failed: string[] = [];
    for (const { command } of run) {
      const { exitCode, stdout, stderr, timedOut } = await exec.execute({ command, timeoutMs: 120_000 });
      if (exitCode !== 0) failed.push(`${command}: ${timedOut ? "timed out" : exitCode}\n${stderr.slice(-400)}${stdout.slice(-200)}`);
    }
    process.stdout.write(`${run.length} of ${lines.length} everyday lines were run\n`);
    expect(failed).toEqual([]);
    expect(run.length).toBeGreaterThan(40);
  });
});
