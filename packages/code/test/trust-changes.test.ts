import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, chmod, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { findProjectItems } from "../src/trust/project-items.ts";
import type { ProjectItem } from "../src/trust/project-item.ts";
import { openWorkspace } from "./keelson-process.ts";

// Every test looks through folders, and some start processes, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

type Files = { readonly [path: string]: string };
type Change = (project: string) => Promise<unknown>;

interface Case {
  readonly what: string;
  /** The line of a hook, or its program with arguments. */
  readonly hook?: string | readonly string[];
  /** The entry of a server. */
  readonly server?: object;
  readonly files: Files;
  readonly change: Change;
}

const hasPython = ((): boolean => {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function write(project: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), content);
  }
}

const writes =
  (files: Files): Change =>
  (project) =>
    write(project, files);

const git = (project: string, ...args: readonly string[]): void =>
  void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", ...args], {
    cwd: project,
    stdio: "ignore",
  });

async function openProject({ hook, server, files }: Omit<Case, "what" | "change">): Promise<string> {
  const project = await realpath(await mkdtemp(join(tmpdir(), "keelson-test-")));
  folders.push(project);
  const handler = typeof hook === "string" ? { command: hook } : { command: hook?.[0], args: hook?.slice(1) };
  const hooks = { hooks: { PreToolUse: [{ hooks: [{ type: "command", ...handler }] }] } };
  await write(project, {
    "src/app.ts": "export {};\n",
    ...(hook === undefined ? {} : { ".keelson/hooks.json": JSON.stringify(hooks) }),
    ...(server === undefined ? {} : { ".mcp.json": JSON.stringify({ mcpServers: { s: server } }) }),
    ...files,
  });
  git(project, "init");
  git(project, "add", "-A");
  git(project, "commit", "-m", "first");
  return project;
}

async function itemOf(project: string): Promise<ProjectItem> {
  const items = (await findProjectItems(project, { environment: {} })).filter(({ kind }) => kind !== "instructions");
  expect(items).toHaveLength(1);
  return items[0] as ProjectItem;
}

const GUARD = "process.exit(0);\n";
const PACKAGE = JSON.stringify({ type: "module", scripts: { guard: "node tools/guard.js" } });

const CASES: readonly Case[] = [
  { what: "a script that a line names", hook: "sh ./note.sh", files: { "note.sh": "echo a\n" }, change: writes({ "note.sh": "echo b\n" }) },
  {
    what: "a script behind cd",
    hook: "cd hooks && ./run.sh",
    files: { "hooks/run.sh": "#!/bin/sh\necho a\n" },
    change: writes({ "hooks/run.sh": "#!/bin/sh\necho b\n" }),
  },
  {
    what: "a script that a script runs",
    hook: "sh ./a.sh",
    files: { "a.sh": "sh ./b.sh\n", "b.sh": "echo a\n" },
    change: writes({ "b.sh": "echo b\n" }),
  },
  {
    what: "a script that a script sources",
    hook: "sh ./a.sh",
    files: { "a.sh": ". ./lib.sh\n", "lib.sh": "x() { :; }\n" },
    change: writes({ "lib.sh": "x() { echo; }\n" }),
  },
  {
    what: "a script whose name a script computes",
    hook: "sh ./a.sh",
    files: { "a.sh": 'for f in parts/*.sh; do sh "$f"; done\n', "parts/1.sh": "echo\n" },
    change: writes({ "parts/2.sh": "echo new\n" }),
  },
  {
    what: "the main file of a folder",
    hook: "node hooks",
    files: { "hooks/index.js": GUARD },
    change: writes({ "hooks/index.js": "process.exit(2);\n" }),
  },
  {
    what: "the package.json that says what the main file of a folder is",
    hook: "node hooks",
    files: { "hooks/index.js": GUARD },
    change: writes({ "hooks/package.json": '{"main":"other.js"}', "hooks/other.js": "" }),
  },
  {
    what: "a file that is imported",
    hook: "node tools/guard.mjs",
    files: { "tools/guard.mjs": 'import "./rules.mjs";\n', "tools/rules.mjs": "" },
    change: writes({ "tools/rules.mjs": "process.exit(0);\n" }),
  },
  {
    what: "a file that an imported file imports",
    hook: "node tools/guard.mjs",
    files: {
      "tools/guard.mjs": 'export * from "./a.mjs";\n',
      "tools/a.mjs": 'import { b } from "../lib/b.mjs"; b();\n',
      "lib/b.mjs": "export const b = () => {};\n",
    },
    change: writes({ "lib/b.mjs": "export const b = () => process.exit();\n" }),
  },
  {
    what: "a file that comes before the one that is required",
    hook: "node tools/guard.cjs",
    files: { "tools/guard.cjs": 'require("./rules");\n', "tools/rules/index.js": "" },
    change: writes({ "tools/rules.js": "process.exit(0);\n" }),
  },
  {
    what: "a package that is imported",
    hook: "node tools/guard.mjs",
    files: { "tools/guard.mjs": 'import "left-pad";\n', "node_modules/left-pad/index.js": "" },
    change: writes({ "node_modules/left-pad/index.js": "process.exit(0);\n" }),
  },
  {
    what: "a module whose name is computed",
    hook: "node tools/guard.mjs",
    files: { "tools/guard.mjs": "await import(`./${process.argv[2]}.mjs`);\n", "tools/a.mjs": "" },
    change: writes({ "tools/a.mjs": "process.exit(0);\n" }),
  },
  {
    what: "a script that a script starts",
    hook: "node tools/guard.mjs",
    files: { "tools/guard.mjs": 'import { execFileSync } from "node:child_process"; execFileSync("./x.sh");\n', "x.sh": "#!/bin/sh\n" },
    change: writes({ "x.sh": "#!/bin/sh\necho\n" }),
  },
  {
    what: "a list of rules that a script reads",
    hook: "node tools/guard.mjs",
    files: { "tools/guard.mjs": 'import { readFileSync } from "node:fs"; readFileSync("tools/rules.json");\n', "tools/rules.json": "[1]" },
    change: writes({ "tools/rules.json": "[]" }),
  },
  {
    what: "a list of rules that a script would read if it were there",
    hook: "node tools/guard.mjs",
    files: { "tools/guard.mjs": 'import { existsSync } from "node:fs"; existsSync("tools/rules.local.json");\n' },
    change: writes({ "tools/rules.local.json": "[]" }),
  },
  {
    what: "a folder of rules that a script reads",
    hook: "node tools/guard.mjs",
    files: { "tools/guard.mjs": 'import { readdirSync } from "node:fs"; readdirSync("./rules/all");\n', "rules/all/1.json": "" },
    change: writes({ "rules/all/2.json": "" }),
  },
  {
    what: "a file that a line reads by a redirection",
    hook: "grep -q x < rules",
    files: { rules: "x\n" },
    change: writes({ rules: "\n" }),
  },
  {
    what: "a package.json above a script, by which Node reads it as another kind of module",
    hook: "node tools/guard.js",
    files: { "tools/guard.js": GUARD },
    change: writes({ "tools/package.json": '{"type":"module"}' }),
  },
  {
    what: "a module of Python",
    hook: "python3 -m tools.guard",
    files: { "tools/guard.py": "pass\n" },
    change: writes({ "tools/guard.py": "raise SystemExit\n" }),
  },
  {
    what: "a module that takes the place of one of Python's own",
    hook: "python3 -m tools.guard",
    files: { "tools/guard.py": "import json\n" },
    change: writes({ "json.py": "raise SystemExit\n" }),
  },
  {
    what: "a module beside a script of Python",
    hook: "python3 hooks/guard.py",
    files: { "hooks/guard.py": "import json\n" },
    change: writes({ "hooks/json.py": "raise SystemExit\n" }),
  },
  {
    what: "compiled code beside a script of Python",
    hook: "python3 hooks/guard.py",
    files: { "hooks/guard.py": "import rules\n", "hooks/rules.py": "x = 1\n" },
    change: writes({ "hooks/__pycache__/rules.cpython-312.pyc": "other" }),
  },
  {
    what: "a script of package.json",
    hook: "npm run guard",
    files: { "package.json": PACKAGE, "tools/guard.js": GUARD },
    change: writes({ "package.json": PACKAGE.replace("tools/guard.js", "evil.js") }),
  },
  {
    what: "the file that a script of package.json runs",
    hook: "npm run guard",
    files: { "package.json": PACKAGE, "tools/guard.js": GUARD },
    change: writes({ "tools/guard.js": "process.exit(2);\n" }),
  },
  {
    what: "a program of node_modules, which git ignores",
    hook: "npx guard",
    files: { ".gitignore": "node_modules\n", "node_modules/.bin/guard": "#!/bin/sh\n" },
    change: writes({ "node_modules/.bin/guard": "#!/bin/sh\necho\n" }),
  },
  {
    what: "the .npmrc that says where npx gets programs",
    server: { command: "npx", args: ["-y", "some-server"] },
    files: {},
    change: writes({ ".npmrc": "registry=https://evil.example.com\n" }),
  },
  {
    what: "a file that a variable has Node load",
    server: { command: process.execPath, args: ["s.mjs"], env: { NODE_OPTIONS: "--require ./pre.js" } },
    files: { "s.mjs": "", "pre.js": "" },
    change: writes({ "pre.js": "process.exit(0);\n" }),
  },
  {
    what: "a program of a folder that PATH names",
    server: { command: "guard-server", env: { PATH: "./bin" } },
    files: { "bin/guard-server": "#!/bin/sh\n" },
    change: writes({ "bin/guard-server": "#!/bin/sh\necho\n" }),
  },
  {
    what: "a program that a line finds by its own PATH",
    hook: "PATH=./bin guard",
    files: { "bin/guard": "#!/bin/sh\n" },
    change: writes({ "bin/guard": "#!/bin/sh\necho\n" }),
  },
  {
    what: "a folder that a variable names with a word, and that comes later",
    server: { command: process.execPath, args: ["s.mjs"], env: { NODE_PATH: "lib" } },
    files: { "s.mjs": "" },
    change: writes({ "lib/index.js": "" }),
  },
  {
    what: "a script in the folder of a server",
    server: { command: "sh", args: ["-c", "./start.sh"], cwd: "servers" },
    files: { "servers/start.sh": "#!/bin/sh\necho\n" },
    change: writes({ "servers/start.sh": "#!/bin/sh\n:\n" }),
  },
  {
    what: "a script that an argument of a program names",
    hook: ["node", "tools/guard.mjs"],
    files: { "tools/guard.mjs": GUARD },
    change: writes({ "tools/guard.mjs": "process.exit(2);\n" }),
  },
  {
    what: "a file that an option names",
    server: { command: process.execPath, args: ["--require=./pre.js", "s.mjs"] },
    files: { "s.mjs": "", "pre.js": "" },
    change: writes({ "pre.js": "process.exit(0);\n" }),
  },
  {
    what: "a configuration that a program of a server loads by itself",
    server: { command: "npx", args: ["eslint-server"] },
    files: { "eslint.config.js": "" },
    change: writes({ "eslint.config.js": "process.exit(0);\n" }),
  },
  {
    what: "a link that is turned to another script",
    hook: "sh ./current.sh",
    files: { "one.sh": "echo\n", "two.sh": "echo\n" },
    change: async (project) => {
      await rm(join(project, "current.sh"), { force: true });
      await symlink("two.sh", join(project, "current.sh"));
    },
  },
  {
    what: "a folder that is exchanged for a link",
    hook: "cd hooks && ./run.sh",
    files: { "hooks/run.sh": "#!/bin/sh\necho\n", "other/run.sh": "#!/bin/sh\n:\n" },
    change: async (project) => {
      await rename(join(project, "hooks"), join(project, "old"));
      await symlink("other", join(project, "hooks"));
    },
  },
  {
    what: "a file of which the index of git says that it has not changed",
    hook: "make guard",
    files: { Makefile: "guard:\n\ttrue\n" },
    change: async (project) => {
      git(project, "update-index", "--assume-unchanged", "Makefile");
      await writeFile(join(project, "Makefile"), "guard:\n\tcurl\n");
    },
  },
  {
    what: "a change that keeps size and time of the file",
    hook: "make guard",
    files: { "node_modules/x/Makefile": "a\n", "Makefile": "include node_modules/x/Makefile\n" },
    change: async (project) => {
      const at = new Date(1_700_000_000_000);
      await writeFile(join(project, "node_modules/x/Makefile"), "b\n");
      await utimes(join(project, "node_modules/x/Makefile"), at, at);
    },
  },
  {
    what: "a hook of git that a program would run",
    hook: "git commit --allow-empty -m x",
    files: {},
    change: async (project) => {
      await writeFile(join(project, ".git/hooks/pre-commit"), "#!/bin/sh\n");
      await chmod(join(project, ".git/hooks/pre-commit"), 0o755);
    },
  },
  {
    what: "a setting of git by which it runs a program",
    hook: "git commit --allow-empty -m x",
    files: {},
    change: (project) => appendFile(join(project, ".git/config"), "[core]\n\tfsmonitor = ./evil.sh\n"),
  },
  {
    what: "the commit that is checked out",
    hook: "make guard",
    files: { Makefile: "guard:\n" },
    change: async (project) => git(project, "commit", "--allow-empty", "-m", "second"),
  },
];

describe("a change behind what is trusted", () => {
  it.each(CASES)("is noticed: $what", async ({ change, ...given }) => {
    const project = await openProject(given);
    const before = await itemOf(project);
    expect((await itemOf(project)).digest, "without a change").toBe(before.digest);
    await change(project);
    expect((await itemOf(project)).digest).not.toBe(before.digest);
  });

  it.each(
    CASES.filter(({ what }) =>
      /computes|is computed|package that|starts|a module of Python|package\.json runs|npx|PATH|variable has|option|by itself|index of git|commit that/.test(
        what,
      ),
    ),
  )("is announced beforehand where the files are not known: $what", async (given) => {
    const { shows } = await itemOf(await openProject(given));
    expect(shows).toContainEqual(expect.stringMatching(/^cannot tell which files of the repository this runs: /));
    expect(shows.at(-1)).toContain("you are asked again after every change of any file of the repository");
  });
});

describe("a command that is not one of a closed form", () => {
  it.each([
    "exec ./run.sh",
    "env ./run.sh",
    "xargs ./run.sh",
    "cat run.sh | sh",
    "sh < ./run.sh",
    "source ./run.sh",
    "(cd hooks; ./run.sh)",
    '"./run.sh"',
    "s\\h ./run.sh",
    "printf -v PATH ./bin; ls",
    "read PATH < f; ls",
    "BASH_ENV=./x.sh bash ./run.sh",
    "alias ls=./evil; ls",
    "hash -p ./evil ls; ls",
    "trap './x.sh' EXIT; ls",
    "jq -f rules.jq",
    "jq 'import \"a\" as a; .'",
    "sort --compress-program=./x f",
    "git status",
    "cargo --version",
    "node --import ./x.mjs tools/guard.mjs",
    "node -e 'require(\"./x\")'",
    "python3 -c 'import x'",
    "python3 guard.py",
    "docker run -v .:/work image",
    "/usr/bin/env some-program",
  ])("covers the whole repository: %s", async (hook) => {
    const files = { "run.sh": "#!/bin/sh\n", "f": "", "guard.py": "", "tools/guard.mjs": "" };
    const project = await openProject({ hook, files });
    const { digest, shows } = await itemOf(project);
    expect(shows).toContainEqual(expect.stringMatching(/^cannot tell which files of the repository this runs: /));
    await write(project, { "src/app.ts": "export const changed = 1;\n" });
    expect((await itemOf(project)).digest).not.toBe(digest);
  });

  it.each([
    ["import subprocess", true],
    ["import json, os.path\nfrom re import compile as c\nprint(re.compile('x'))", false],
    ["from rules import RULES\nfrom . import more", false],
    ["import requests", true],
    ["exec(open('x').read())", true],
    ["import os\nos.system('./x.sh')", true],
    ["import sys\nsys.path.insert(0, 'lib')", true],
    ["x = 1; import yaml", true],
  ])(`is a script of Python with %j: %s${hasPython ? "" : " (skipped: python3 is not installed)"}`, async (text, isUnknown) => {
    if (!hasPython) return;
    const project = await openProject({ hook: "python3 hooks/guard.py", files: { "hooks/guard.py": `${text}\n`, "hooks/rules.py": "" } });
    expect((await itemOf(project)).shows.some((line) => line.startsWith("cannot tell"))).toBe(isUnknown);
  });
});

describe("a change of a file that nothing trusted leads to", () => {
  it.each([
    ["a script for a shell", { hook: "sh ./note.sh", files: { "note.sh": "echo ran >> ran.txt\n" } }],
    ["a script behind cd", { hook: "cd hooks && ./run.sh", files: { "hooks/run.sh": "#!/bin/sh\necho a\n" } }],
    [
      "a script with what it imports",
      { hook: "node tools/guard.mjs", files: { "tools/guard.mjs": 'import "node:fs"; import "./a.mjs";\n', "tools/a.mjs": "" } },
    ],
    ...(hasPython
      ? [
          [
            "a script of Python in its own folder",
            { hook: "python3 hooks/guard.py", files: { "hooks/guard.py": "import json, sys\nsys.exit(0)\n" } },
          ] as const,
        ]
      : []),
    [
      "a script that decides by what it reads",
      {
        hook: "./guard.sh || exit 2",
        files: {
          "guard.sh": `#!/bin/sh\nset -eu\ninput=$(cat)\nname=$(printf '%s' "$input" | jq -r .tool_name)\ncase "$name" in\n  Bash) echo "no" >&2; exit 2 ;;\n  *) exit 0 ;;\nesac\n`,
        },
      },
    ],
    ["a line of plain programs", { hook: "cat | jq -r .tool_name >> log.txt", files: {} }],
    [
      "a server with a word as its variable",
      {
        server: { command: process.execPath, args: ["s.mjs"], env: { MODE: "all", TOKEN: "${T:-x}", URL: "https://example.com/v1" } },
        files: { "s.mjs": "" },
      },
    ],
  ] as const)("leaves %s trusted", async (_what, given) => {
    const project = await openProject(given);
    if (existsSync(join(project, "guard.sh"))) await chmod(join(project, "guard.sh"), 0o755);
    const before = await itemOf(project);
    expect(before.shows.filter((line) => line.startsWith("cannot tell"))).toEqual([]);
    await write(project, { "src/app.ts": "export const changed = 1;\n", "ran.txt": "ran\n", "new/file.ts": "" });
    git(project, "add", "-A");
    git(project, "commit", "-m", "second");
    expect((await itemOf(project)).digest).toBe(before.digest);
  });
});

describe("a hook whose files are not known", () => {
  it("says so, runs once it is trusted, and not after any change of the repository", async () => {
    const hooks = { hooks: { SessionStart: [{ hooks: [{ type: "command", command: 'make -s guard > "$OUT"' }] }] } };
    await using workspace = await openWorkspace([{ text: "done" }, { text: "done" }], {
      ".keelson/hooks.json": JSON.stringify(hooks),
      "Makefile": "guard:\n\t@echo ran\n",
    });
    await mkdir(workspace.home, { mode: 0o700 });
    await writeFile(join(workspace.home, "policy.json"), JSON.stringify({ environment: { pass: ["OUT"] } }));
    const out = join(dirname(workspace.project), "out.txt");
    const env = { OUT: out };
    const listed = await workspace.start(["trust"], { env }).finished;
    expect(listed.stdout).toContain("cannot tell which files of the repository this runs: make -s guard");
    expect(listed.stdout).toContain("so you are asked again after every change of any file of the repository");
    await workspace.start(["trust", "accept"], { env }).finished;
    expect((await workspace.start(["-p", "go"], { env }).finished).stderr).not.toContain("left out");
    expect(await readFile(out, "utf8")).toBe("ran\n");
    await rm(out);
    await writeFile(join(workspace.project, "other.txt"), "");
    expect((await workspace.start(["-p", "go"], { env }).finished).stderr).toContain("nobody trusts it as it is: .keelson/hooks.json");
    expect(existsSync(out)).toBe(false);
  });
});
