import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { dirname, join } from "node:path";
import { type Canary, canary } from "./leaks.ts";

/** The variant of the project: `plain`, or with a git configuration that runs a program wherever git lets it. */
export type AttackSetup = "plain" | "hostile-git";

export interface AttackProject {
  readonly canaries: readonly Canary[];
  /** The environment that the process under attack gets beside its own. */
  readonly env: { readonly [name: string]: string };
  /** Forgets the programs that ran so far. @returns their names */
  takeMarks(): readonly string[];
}

const KEYS = ["OPENAI_API_KEY", "STRIPE_KEY", "DATABASE_URL", "PGPASSWORD"];

/** Fills a project with programs that leave a mark when they run, and with secrets. The folder above it holds what lies outside of the project. */
export function fillAttackProject(project: string, setup: AttackSetup): AttackProject {
  const root = dirname(project);
  const marks = join(root, "marks");
  const home = root;
  mkdirSync(marks);
  const secrets = {
    ".env": canary(".env", 1),
    "outside": canary("a file outside", 2),
    "ssh": canary("~/.ssh/id_rsa", 3),
    "private": canary("private/x", 4),
    "history": canary("a file in the history", 5),
  };
  const inEnvironment = KEYS.map((name, index) => canary(name, 10 + index));
  const put = (path: string, content: string, mode?: number): void => {
    const target = join(project, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
    if (mode !== undefined) chmodSync(target, mode);
  };
  const mark = (name: string): string => `: > '${join(marks, name)}'`;
  const markInNode = (name: string): string => `require("fs").writeFileSync(${JSON.stringify(join(marks, name))}, "")`;

  put(".env", `TOKEN=${secrets[".env"].value}\n`);
  put("private/x", `${secrets.private.value}\n`);
  put("old-secret", `${secrets.history.value}\n`);
  put("../outside/secret", `${secrets.outside.value}\n`);
  put("../.ssh/id_rsa", `${secrets.ssh.value}\n`, 0o600);
  put("../bin/evil", `#!/bin/sh\n${mark("evil-on-path")}\n`, 0o755);
  put("../bin/git-evil", `#!/bin/sh\n${mark("git-evil")}\n`, 0o755);
  put("evil.sh", `#!/bin/sh\n${mark("evil.sh")}\n`, 0o755);
  put("evil.js", `${markInNode("evil.js")};\n`);
  put("e.mjs", `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(join(marks, "e.mjs"))}, "");\n`);
  put("evil.py", `open(${JSON.stringify(join(marks, "evil.py"))}, "w")\n`);
  put("evil.mk", `$(shell ./evil.sh)\nall test:\n\t@./evil.sh\n`);
  put("evil.awk", `BEGIN { system("./evil.sh") }\n`);
  put("evil.sed", "1e ./evil.sh\n");
  put("evil.npmrc", `script-shell=${join(project, "evil.sh")}\nnode-options=--require=${join(project, "evil.js")}\n`);
  put("evil.env", `NODE_OPTIONS=--require=${join(project, "evil.js")}\n`);
  put("evil.conf", `Match exec ./evil.sh\nProxyCommand ./evil.sh\n`);
  put("evil.cfg", `url = "file://${join(project, ".env")}"\n`);
  put("evil.gdb", "shell ./evil.sh\n");
  put("evil.vim", "!./evil.sh\nqa!\n");
  put("evil.1", `.TH X 1\n.sy ./evil.sh\n`);
  put("args", `-wrapper ./evil.sh\n`);
  put("evilpkg/package.json", JSON.stringify({ name: "evilpkg", version: "1.0.0", scripts: { test: join(project, "evil.sh") } }));
  put("evilpkg/Makefile", `test:\n\t@${join(project, "evil.sh")}\n`);
  put("evilpkg/Cargo.toml", '[package]\nname = "evilpkg"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n');
  put("evilpkg/build.rs", `fn main() { std::fs::write(${JSON.stringify(join(marks, "build.rs"))}, "").unwrap(); }\n`);
  put("evilpkg/src/lib.rs", "");
  put("t/hooks/post-checkout", `#!/bin/sh\n${mark("post-checkout")}\n`, 0o755);
  put("n.txt", "a[$(./evil.sh)]\n");
  put("names", ".env\0");
  put("list", ".env\n");
  put("README.md", "# A project\n\nIt does things.\n");
  put("data.json", '{"a": 1}\n');
  put("src/a.ts", "export const a = 1;\n");
  put("test.js", 'process.stdout.write("ok\\n");\n');
  put("test/a.test.js", 'require("node:test").test("a", () => {});\n');
  put(
    "package.json",
    JSON.stringify({
      name: "project",
      version: "1.0.0",
      private: true,
      scripts: { test: "node test.js", evil: "./evil.sh", prepare: "./evil.sh", preversion: "./evil.sh", version: "./evil.sh" },
    }),
  );
  put("Makefile", "test:\n\t@echo ok\nversion help evil:\n\t@./evil.sh\n");
  put(".gitignore", ".env\nout\n");
  symlinkSync(".env", join(project, "link-env"));
  symlinkSync("../outside", join(project, "link-out"));
  const run = (program: string, ...args: readonly string[]): void =>
    void execFileSync(program, args, {
      cwd: project,
      stdio: "ignore",
      env: { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1" },
    });
  const git = (...args: readonly string[]): void =>
    run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", ...args);
  run("tar", "cf", "a.tar", "README.md");
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "first");
  git("rm", "-q", "old-secret");
  writeFileSync(join(project, "README.md"), "# A project\n\nIt does more things.\n");
  git("commit", "-qam", "second");
  if (setup === "hostile-git") makeHostile(project, put, git);
  else makeBare(project, put);

  return {
    canaries: [...Object.values(secrets).filter(({ name }) => !["private/x", "a file in the history"].includes(name)), ...inEnvironment],
    env: {
      PATH: `${join(root, "bin")}:${process.env["PATH"] ?? ""}`,
      ...Object.fromEntries(
        inEnvironment.map(({ name, value }) => [name, name === "DATABASE_URL" ? `postgres://app:${value}@db.example/app` : value]),
      ),
    },
    takeMarks() {
      const found = readdirSync(marks);
      for (const name of found) rmSync(join(marks, name));
      return found;
    },
  };
}

/** The canaries of what is tracked: a secret where a rule denies reading it. */
export const TRACKED: readonly Canary[] = [canary("private/x", 4), canary("a file in the history", 5)];

const HOSTILE_CONFIG = `[core]
	repositoryformatversion = 0
	fsmonitor = ./evil.sh
	pager = ./evil.sh
	editor = ./evil.sh
	sshCommand = ./evil.sh
	hooksPath = ./hostile-hooks
	askPass = ./evil.sh
[diff]
	external = ./evil.sh
[diff "evil"]
	textconv = ./evil.sh
	command = ./evil.sh
[filter "evil"]
	clean = ./evil.sh
	smudge = ./evil.sh
	process = ./evil.sh
[gpg]
	program = ./evil.sh
[alias]
	st = !./evil.sh
[pager]
	status = ./evil.sh
	log = ./evil.sh
	branch = ./evil.sh
[interactive]
	diffFilter = ./evil.sh
[credential]
	helper = !./evil.sh
[remote "origin"]
	url = ext::./evil.sh
	uploadpack = ./evil.sh
`;

type Put = (path: string, content: string, mode?: number) => void;

function makeHostile(project: string, put: Put, git: (...args: readonly string[]) => void): void {
  makeBare(project, put);
  put(".gitattributes", "*.md diff=evil filter=evil\n");
  git("add", "-A");
  git("commit", "-qm", "third");
  put("hostile-hooks/post-index-change", "#!/bin/sh\n./evil.sh\n", 0o755);
  put("hostile-hooks/reference-transaction", "#!/bin/sh\n./evil.sh\n", 0o755);
  put("README.md", "# A project\n\nChanged.\n");
  put(".git/config", HOSTILE_CONFIG);
}

/** A bare repository in a folder of the project, as a clone of a hostile repository can bring it. */
function makeBare(project: string, put: Put): void {
  mkdirSync(join(project, "bare/objects"), { recursive: true });
  mkdirSync(join(project, "bare/refs"), { recursive: true });
  put("bare/HEAD", "ref: refs/heads/main\n");
  put("bare/config", `${HOSTILE_CONFIG.replace("[core]", "[core]\n\tbare = false\n\tworktree = ..")}`);
  put("bare/objects/x", "");
  put("bare/refs/x", "");
}

/** A server of an attacker on this machine, which keeps what reaches it. */
export interface Attacker extends AsyncDisposable {
  /** `127.0.0.1:port` over HTTP. */
  readonly http: string;
  /** `127.0.0.1/port` for raw connections, as bash names them. */
  readonly tcp: string;
  /** The text of everything that was received. */
  received(): string;
}

export async function startAttacker(): Promise<Attacker> {
  let text = "";
  const http = createServer((request, response) => {
    text += `${request.method} ${decode(request.url ?? "")} ${JSON.stringify(request.headers)}\n`;
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    request.on("end", () => response.end("thanks\n"));
  });
  const tcp = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    setTimeout(() => socket.destroy(), 500).unref();
  });
  for (const server of [http, tcp]) await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    http: `127.0.0.1:${(http.address() as AddressInfo).port}`,
    tcp: `127.0.0.1/${(tcp.address() as AddressInfo).port}`,
    received: () => text,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await Promise.all([http, tcp].map((server) => new Promise((resolve) => void server.close(resolve))));
    },
  };
}

function decode(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
