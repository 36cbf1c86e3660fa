import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { createSandboxExecutor, type NetworkDecision, type SandboxExecutorOptions, type SandboxPolicy } from "keelson/environment";
import { EnvironmentError } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { describeWithBubblewrap } from "./with-bubblewrap.ts";

let workspace: string;
beforeEach(() => void (workspace = realpathSync(mkdtempSync(join(tmpdir(), "keelson-sandbox-")))));
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const sandbox = (policy: SandboxPolicy = {}, options: Partial<SandboxExecutorOptions> = {}) =>
  createSandboxExecutor(policy, { workspace, ...options });
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => (EnvironmentError.is(error) ? error.failure : error),
  );

describe("a sandbox that can't be made", () => {
  it("runs nothing where there is no bubblewrap, and says what to install", async () => {
    const executor = sandbox({}, { bubblewrap: join(workspace, "bwrap") });
    expect(await failure(executor.execute({ command: "touch ran" }))).toMatchObject({
      kind: "provision-failed",
      message: expect.stringContaining("install bubblewrap"),
    });
    expect(readdirSync(workspace)).toEqual([]);
  });

  it("runs nothing where bubblewrap is too old, or is kept from making namespaces, and passes on its words", async () => {
    const fake = (body: string): string => {
      const path = join(workspace, "fake-bwrap");
      writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
      return path;
    };
    expect(await failure(sandbox({}, { bubblewrap: fake("echo bubblewrap 0.6.2") }).execute({ command: "true" }))).toMatchObject({
      kind: "provision-failed",
      message: expect.stringContaining("0.8 or newer is needed"),
    });
    const denied = fake(
      '[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit; echo "bwrap: setting up uid map: Permission denied" >&2; exit 1',
    );
    expect(await failure(sandbox({}, { bubblewrap: denied }).execute({ command: "true" }))).toMatchObject({
      kind: "provision-failed",
      message: expect.stringMatching(/uid map: Permission denied.*apparmor_restrict_unprivileged_userns/s),
    });
  });
});

describeWithBubblewrap("a command in a sandbox", () => {
  it("works in the workspace as it would without, and tells how it ended", async () => {
    writeFileSync(join(workspace, "in"), "data");
    const response = await sandbox().execute({ command: "cat in - > out; echo told; echo wrong >&2; exit 3", stdin: " more" });
    expect(response).toMatchObject({ exitCode: 3, stdout: "told\n", stderr: "wrong\n", timedOut: false });
    expect(readFileSync(join(workspace, "out"), "utf8")).toBe("data more");
    expect(await sandbox().execute({ program: "printf", args: ["%s|", "a b", "", "'c'"] })).toMatchObject({ stdout: "a b||'c'|" });
    mkdirSync(join(workspace, "sub"));
    expect(await sandbox().execute({ command: "pwd", cwd: "sub" })).toMatchObject({ stdout: `${join(workspace, "sub")}\n` });
  });

  it("rejects when there is no such program or folder", async () => {
    expect(await failure(sandbox().execute({ program: "no-such-program" }))).toMatchObject({
      kind: "provision-failed",
      message: expect.stringContaining("no-such-program"),
    });
    expect(await failure(sandbox().execute({ command: "true", cwd: "nowhere" }))).toMatchObject({
      kind: "provision-failed",
      message: expect.stringContaining("nowhere"),
    });
  });

  it("lets commands commit in a submodule, and make none that brings hooks", async () => {
    const git = (cwd: string, ...args: readonly string[]): void =>
      void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always", ...args], {
        cwd,
        stdio: "ignore",
      });
    const [source, repository] = [join(workspace, "source"), join(workspace, "repository")];
    for (const path of [source, repository]) {
      mkdirSync(path);
      git(path, "init");
      git(path, "commit", "--allow-empty", "-m", "first");
    }
    git(repository, "submodule", "add", source, "lib/part");
    const inside = createSandboxExecutor({}, { workspace: repository });
    const commit = "git -c user.name=b -c user.email=b@example.com commit --allow-empty -m second";
    expect(await inside.execute({ command: `cd lib/part && echo x > new.txt && git add new.txt && ${commit}` })).toMatchObject({
      exitCode: 0,
    });
    for (const path of ["later/hooks", "lib/later"])
      expect((await inside.execute({ command: `mkdir -p .git/modules/${path}` })).stderr).toMatch(/Read-only file system/);
    expect((await inside.execute({ command: "echo x > .git/modules/lib/part/hooks/post-commit" })).exitCode).not.toBe(0);
    expect(readdirSync(join(repository, ".git/modules/lib"))).toEqual(["part"]);
  });

  it("puts a protected link back that was replaced, and keeps what replaced it aside", async () => {
    writeFileSync(join(workspace, "notes.md"), "notes");
    symlinkSync("notes.md", join(workspace, "AGENTS.md"));
    const { stderr } = await sandbox().execute({ command: "echo x > AGENTS.md; rm AGENTS.md; echo evil > AGENTS.md" });
    expect(stderr).toContain("Read-only file system");
    expect(readlinkSync(join(workspace, "AGENTS.md"))).toBe("notes.md");
    expect(readFileSync(join(workspace, "notes.md"), "utf8")).toBe("notes");
    expect(readdirSync(workspace).some((name) => name === "AGENTS.md.withheld-1")).toBe(true);
  });

  it("shows only readable roots where the policy names some", async () => {
    mkdirSync(join(workspace, "shown"));
    mkdirSync(join(workspace, "work"));
    writeFileSync(join(workspace, "other"), "canary");
    writeFileSync(join(workspace, "shown/file"), "fine");
    const executor = sandbox({ filesystem: { readableRoots: ["shown"], writableRoots: ["work"] } });
    const { stdout } = await executor.execute({
      command: "cat ../shown/file; cat ../other; touch x && ls x; ls /var/log; touch ../shown/x /y",
      cwd: "work",
    });
    expect(stdout).toBe("finex\n");
    expect(readdirSync(join(workspace, "shown"))).toEqual(["file"]);
  });

  it("passes on the usual variables, those that the policy names and no others, and never a secret by a pattern", async () => {
    const env = { PATH: process.env["PATH"], LANG: "C", MY_A: "a", MY_TOKEN: "canary", NAMED_TOKEN: "named", OTHER: "canary" };
    const { stdout } = await sandbox({ environment: { pass: ["MY_*", "NAMED_TOKEN"], set: { SET: "s" } } }, { env }).execute({
      command: "env",
      env: { ASKED: "q" },
    });
    for (const line of ["MY_A=a", "NAMED_TOKEN=named", "SET=s", "ASKED=q", "LANG=C", "TMPDIR=/tmp"])
      expect(stdout.split("\n")).toContain(line);
    expect(stdout).not.toMatch(/canary|KEELSON_COMMAND|NODE_CHANNEL/);
  });

  it("has its variables from nowhere that others on the machine can read", async () => {
    const seen: string[] = [];
    const stop = new AbortController();
    const running = sandbox().execute({
      command: 'echo "$CANARY"; sleep 60',
      env: { CANARY: "value-of-canary" },
      signal: stop.signal,
      onOutput(_stream, text) {
        expect(text).toBe("value-of-canary\n");
        for (const entry of readdirSync("/proc"))
          try {
            if (/^\d+$/.test(entry)) seen.push(readFileSync(`/proc/${entry}/cmdline`, "latin1"));
          } catch {
            // It ended meanwhile.
          }
        stop.abort();
      },
    });
    expect(await failure(running)).toMatchObject({ kind: "cancelled" });
    expect(seen.some((line) => line.includes("bwrap"))).toBe(true);
    expect(seen.filter((line) => line.includes("value-of-canary"))).toEqual([]);
  });

  it("is not given what it made a root lead to", async () => {
    mkdirSync(join(workspace, "dist/out"), { recursive: true });
    const executor = sandbox({ filesystem: { writableRoots: [".", "dist/out"] } });
    const outside = realpathSync(mkdtempSync(join(homedir(), ".keelson-outside-")));
    try {
      await executor.execute({ command: `mv dist old; mkdir dist; ln -s ${outside} dist/out` });
      for (const filesystem of [{ writableRoots: [".", "dist/out"] }, { writableRoots: ["."], readableRoots: ["dist/out"] }])
        expect(await failure(sandbox({ filesystem }).execute({ command: "echo x > dist/out/x" }))).toMatchObject({
          kind: "provision-failed",
          message: expect.stringContaining("by a link within"),
        });
      expect(readdirSync(outside)).toEqual([]);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it("does not begin where a folder became a link while its sandbox was being made", async () => {
    const base = realpathSync(mkdtempSync(join(homedir(), ".keelson-swapped-")));
    try {
      for (const folder of ["workspace/deep/er", "outside"]) mkdirSync(join(base, folder), { recursive: true });
      const swapping = join(base, "bwrap");
      // Another command in the same workspace could do that; here it happens at just the wrong moment.
      const swap = `case "$1" in --args) mv ${base}/workspace/deep ${base}/workspace/away; ln -s ../outside ${base}/workspace/deep; mkdir ${base}/outside/er; esac`;
      writeFileSync(swapping, `#!/bin/sh\n${swap}\nexec /usr/bin/bwrap "$@"\n`, { mode: 0o755 });
      const executor = createSandboxExecutor(
        { filesystem: { deniedPaths: ["deep/er"] } },
        { workspace: join(base, "workspace"), bubblewrap: swapping },
      );
      expect(await failure(executor.execute({ command: `touch ran; echo x > ${base}/outside/x` }))).toMatchObject({
        kind: "provision-failed",
        message: expect.stringContaining("became something else while it was being made"),
      });
      expect(readdirSync(join(base, "outside"))).toEqual(["er"]);
      expect(readdirSync(join(base, "workspace"))).not.toContain("ran");
    } finally {
      rmSync(base, { recursive: true });
    }
  });

  it("is planned again when a socket of somebody else, which was to be hidden, ends meanwhile", async () => {
    const outside = mkdtempSync(join(homedir(), ".keelson-socket-"));
    const folder = join(outside, "server");
    const server = createServer();
    try {
      mkdirSync(folder);
      await new Promise<void>((resolve) => void server.listen(join(folder, "sock"), resolve));
      const program = join(outside, "slow-bwrap");
      const bwrap = execFileSync("sh", ["-c", "command -v bwrap"], { encoding: "utf8" }).trim();
      writeFileSync(program, `#!/bin/sh\n[ "$1" = --args ] && rm -rf '${folder}'\nexec '${bwrap}' "$@"\n`, { mode: 0o755 });
      let heard = "";
      const onOutput = (_stream: string, text: string): void => void (heard += text);
      const onStart = vi.fn();
      const { stdout, exitCode } = await sandbox({}, { bubblewrap: program }).execute({ command: "cat", stdin: "said", onOutput, onStart });
      expect({ stdout, exitCode }).toEqual({ stdout: "said", exitCode: 0 });
      // The first plan, of which bubblewrap said something, was no start of the command.
      expect(heard).toBe("said");
      expect(onStart).toHaveBeenCalledTimes(1);
    } finally {
      server.close();
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it("is not made by a program that stands where commands can write", async () => {
    mkdirSync(join(workspace, "node_modules/.bin"), { recursive: true });
    writeFileSync(join(workspace, "node_modules/.bin/bwrap"), `#!/bin/sh\ntouch ${join(workspace, "ran")}\n`, { mode: 0o755 });
    vi.stubEnv("PATH", `${join(workspace, "node_modules/.bin")}:${process.env["PATH"]}`);
    try {
      expect(await sandbox().execute({ command: "echo fine" })).toMatchObject({ stdout: "fine\n" });
    } finally {
      vi.unstubAllEnvs();
    }
    expect(readdirSync(workspace)).not.toContain("ran");
  });

  it("does not turn what is denied elsewhere for the next command", async () => {
    const outside = realpathSync(mkdtempSync(join(homedir(), ".keelson-outside-")));
    try {
      writeFileSync(join(outside, "env"), "canary");
      symlinkSync(join(outside, "env"), join(workspace, ".env"));
      const executor = sandbox({ filesystem: { deniedPaths: [".env"] } });
      await executor.execute({ command: "rm .env; echo mine > .env" });
      const { stdout } = await executor.execute({ command: `cat .env ${outside}/env` });
      expect(stdout).toBe("");
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it("finds the Node that runs Keelson if it lies below /tmp, which the sandbox replaces", async () => {
    const folder = mkdtempSync("/tmp/keelson-node-");
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const node = join(folder, "node");
    try {
      linkSync(process.execPath, node);
    } catch {
      copyFileSync(process.execPath, node);
    }
    const program = `import { createSandboxExecutor } from "keelson/environment";
      const executor = createSandboxExecutor({}, { workspace: ${JSON.stringify(workspace)} });
      const { stdout, stderr } = await executor.execute({ command: process.execPath + " -p 6*7; ls ${folder}" });
      console.log(stdout + stderr);`;
    const { stdout } = spawnSync(node, ["--conditions=source", "--input-type=module", "-e", program], { cwd: import.meta.dirname });
    expect(stdout.toString().trim()).toBe("42\nnode");
  });

  it("gets no file that this process was started with", async () => {
    const secret = join(workspace, "secret");
    writeFileSync(secret, "canary");
    const program = `import { createSandboxExecutor } from "keelson/environment";
      const executor = createSandboxExecutor(${JSON.stringify({ filesystem: { deniedPaths: [secret] } })}, { workspace: ${JSON.stringify(workspace)} });
      const { stdout } = await executor.execute({ command: "cat <&20; cat <&7; ls /proc/self/fd | tr '\\\\n' ' '" });
      console.log(stdout);`;
    const file = openSync(secret, "r");
    // Descriptors 3 to 20 of the process, as a careless parent leaves them open.
    const descriptors = Array.from({ length: 18 }, () => file);
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", program], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit", ...descriptors],
    });
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => void (said += String(chunk)));
    await new Promise((resolve) => child.once("close", resolve));
    expect(said.trim()).toBe("0 1 2 3");
  });

  it("runs no program that the policy denies, whatever starts it, and none but those that it allows [MC-11]", async () => {
    const denied = sandbox({ commands: { denied: ["perl"] } });
    expect(await failure(denied.execute({ command: "true && perl -e 1" }))).toEqual({
      kind: "isolation-violation",
      message: expect.stringContaining('It starts "perl", which the policy denies'),
    });
    expect(await failure(denied.execute({ program: "/usr/bin/perl" }))).toMatchObject({ kind: "isolation-violation" });
    const { exitCode, stdout } = await denied.execute({
      command: 'p=$(printf pe); "$p"rl -e "print 1"; cp $(command -v ${p}rl) other; ./other -e "print 1"',
    });
    expect([exitCode, stdout]).toEqual([expect.not.toSatisfy((code) => code === 0), ""]);
    const allowed = sandbox({ commands: { allowed: ["echo", "ls"] } });
    expect(await allowed.execute({ command: "echo 1 && ls" })).toMatchObject({ exitCode: 0 });
    for (const command of ["cat x", "echo $(cat x)", "$X"])
      expect(await failure(allowed.execute({ command }))).toMatchObject({ kind: "isolation-violation" });
  });
});

describeWithBubblewrap("what a command in a sandbox started", () => {
  const name = (): string => `3131.${process.pid}${Math.trunc(performance.now())}`;
  const isRunning = (seconds: string): boolean =>
    readdirSync("/proc").some((entry) => {
      try {
        return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/cmdline`, "latin1") === `sleep\0${seconds}\0`;
      } catch {
        return false;
      }
    });

  it.each([
    ["in the background", (seconds: string) => `sleep ${seconds} >/dev/null 2>&1 &`],
    ["in a session of its own", (seconds: string) => `setsid sleep ${seconds} >/dev/null 2>&1 </dev/null & disown`],
    [
      "with another environment, forked twice",
      (seconds: string) => `(setsid env -i /bin/sh -c "trap '' TERM HUP; sleep ${seconds} & sleep ${seconds}" &) >/dev/null 2>&1`,
    ],
  ])("%s is gone when the command has ended", async (_how, command) => {
    const bare = name();
    execFileSync("bash", ["-c", command(bare)]);
    await vi.waitFor(() => expect(isRunning(bare)).toBe(true));
    execFileSync("pkill", ["-9", "-f", `^sleep ${bare.replace(".", "\\.")}$`]);
    const inside = name();
    const response = await sandbox().execute({ command: `${command(inside)}\nsleep 0.05; ps -e -o args= | grep -c "[s]leep ${inside}"` });
    expect([response.exitCode, response.left]).toEqual([0, undefined]);
    expect(isRunning(inside)).toBe(false);
  });

  it("is gone when the command is aborted, and when it takes too long", async () => {
    const [aborted, late] = [name(), `${name()}1`];
    const controller = new AbortController();
    const running = sandbox().execute({
      command: `setsid sleep ${aborted} & echo started; wait`,
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    expect(await failure(running)).toMatchObject({ kind: "cancelled" });
    expect(await sandbox().execute({ command: `trap '' TERM; setsid sleep ${late} & wait`, timeoutMs: 300 })).toMatchObject({
      timedOut: true,
    });
    expect([isRunning(aborted), isRunning(late)]).toEqual([false, false]);
  });

  it("is gone when the process that ran it is killed", async () => {
    const seconds = name();
    const program = `import { createSandboxExecutor } from "keelson/environment";
      await createSandboxExecutor({}, { workspace: ${JSON.stringify(workspace)} }).execute({ command: "setsid sleep ${seconds} & echo started; wait", onOutput: (_, text) => process.stdout.write(text) });`;
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", program], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    await vi.waitFor(() => expect(isRunning(seconds)).toBe(true));
    child.kill("SIGKILL");
    await vi.waitFor(() => expect(isRunning(seconds)).toBe(false));
  });
});

describeWithBubblewrap("the network of a sandbox", () => {
  it("is the proxy outside, which the usual programs find by themselves", async () => {
    const server = createServer((request, response) => response.end(`hello ${request.headers.host}`));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const decisions: NetworkDecision[] = [];
    const executor = sandbox(
      { network: { enabled: true, allowedDomains: ["allowed.test"] } },
      {
        resolve: async () => ["93.184.216.34"],
        dial: () => connect(port, "127.0.0.1"),
        onDecision: (decision) => decisions.push(decision),
      },
    );
    try {
      const fetches = (address: string): string =>
        `'${process.execPath}' -e 'fetch("${address}").then(async (r) => console.log(r.status, (await r.text()).trim()), (e) => console.log("failed", e.cause?.code ?? e.message))'`;
      const { stdout } = await executor.execute({
        command: [
          fetches("http://allowed.test/"),
          fetches("http://denied.test/"),
          fetches(`http://127.0.0.1:${port}/`),
          // Around the proxy there is nothing.
          `(exec 3<>/dev/tcp/93.184.216.34/80) 2>/dev/null || echo unreachable`,
          "ls /proc/self/fd | tr '\\n' ' '",
        ].join("\n"),
      });
      expect(stdout.split("\n")).toEqual([
        "200 hello allowed.test",
        expect.stringMatching(/^failed/),
        "failed ECONNREFUSED",
        "unreachable",
        "0 1 2 3 ",
      ]);
      expect(decisions.map(({ host, refused }) => `${host}: ${refused ?? "allowed"}`)).toEqual([
        "allowed.test: allowed",
        "denied.test: the policy does not allow denied.test",
      ]);
    } finally {
      server.close();
    }
  });
});
