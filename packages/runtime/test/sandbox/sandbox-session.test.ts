import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import {
  createSandboxExecutor,
  createSandboxSession,
  type SandboxExecutorOptions,
  type SandboxPolicy,
  type SandboxSession,
} from "keelson/environment";
import type { ExecuteRequest, HostVerdict } from "@keelson/protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { describeWithBubblewrap } from "./with-bubblewrap.ts";

let workspace: string;
let session: SandboxSession;
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), "keelson-session-")));
  session = createSandboxSession();
});
afterEach(async () => {
  await session[Symbol.asyncDispose]();
  rmSync(workspace, { recursive: true, force: true });
});

const sandbox = (policy: SandboxPolicy = {}, options: Partial<SandboxExecutorOptions> = {}) =>
  createSandboxExecutor(policy, { workspace, session, ...options });

const serve = (port: number, text: string): string =>
  `${JSON.stringify(process.execPath)} -e 'require("http").createServer((_, r) => r.end(${JSON.stringify(text)})).listen(${port}, "127.0.0.1", () => console.log("up"))'`;
const fetchText = (url: string): string =>
  `${JSON.stringify(process.execPath)} -e 'fetch("${url}").then((r) => r.text()).then(console.log, (e) => console.log("none", e.cause && e.cause.code))'`;

/** Starts a job and resolves when it has written something. */
async function started(executor: ReturnType<typeof sandbox>, command: string): Promise<string> {
  const { id } = await executor.jobs.start({ command });
  await executor.jobs.poll(id, { waitMs: 60_000 });
  return id;
}

describeWithBubblewrap("a session of sandboxes", () => {
  it("keeps /tmp and /var/tmp from one command to the next, within their bound, and away from this machine", async () => {
    const executor = sandbox({ resources: { temporary: "2MiB" } });
    await executor.execute({ command: "echo kept > /tmp/file; echo too > /var/tmp/file; ln -s /etc/hostname /tmp/link; mkfifo /tmp/pipe" });
    expect(session.unavailable).toBeUndefined();
    expect(await executor.execute({ command: "cat /tmp/file /var/tmp/file; readlink /tmp/link" })).toMatchObject({
      stdout: "kept\ntoo\n/etc/hostname\n",
    });
    for (const name of ["file", "link", "pipe"]) expect(existsSync(join("/tmp", name))).toBe(false);
    expect((await executor.execute({ command: "head -c 4000000 /dev/zero > /tmp/big" })).stderr).toContain("No space left");
    await using other = createSandboxSession();
    const next = createSandboxExecutor({}, { workspace, session: other });
    expect(await next.execute({ command: "ls -d /tmp/file /tmp/link; ls /sys/kernel" })).toMatchObject({ stdout: "" });
  });

  it("has one loopback network, on which a server of one command answers the next, and which is not this machine's", async () => {
    const outer = createServer((socket) => socket.end("outer"));
    await new Promise<void>((resolve) => void outer.listen(0, "127.0.0.1", resolve));
    const executor = sandbox();
    const server = await started(executor, serve(4711, "answered"));
    const { stdout } = await executor.execute({ command: fetchText("http://127.0.0.1:4711/") });
    expect(stdout).toBe("answered\n");
    const { port } = outer.address() as AddressInfo;
    expect((await executor.execute({ command: fetchText(`http://127.0.0.1:${port}/`) })).stdout).toContain("none");
    await executor.jobs.kill(server);
    expect((await executor.execute({ command: fetchText("http://127.0.0.1:4711/") })).stdout).toContain("ECONNREFUSED");
    outer.close();
  });

  it("publishes a port under the same number, also of a server that listens on ::1 alone, until it ends", async () => {
    const executor = sandbox();
    const script = serve(4712, "published").replace('"127.0.0.1"', '"::1"');
    await started(executor, script);
    await session.publish(4712);
    await session.publish(4712);
    expect(await (await fetch("http://127.0.0.1:4712/")).text()).toBe("published");
    await session[Symbol.asyncDispose]();
    await expect(fetch("http://127.0.0.1:4712/")).rejects.toThrow();
  });

  it("says that a port of this machine is used, and publishes nothing of a session that has no network", async () => {
    const executor = sandbox();
    await expect(session.publish(4713)).rejects.toThrow(/no command of this session was started/);
    await executor.execute({ command: "true" });
    const busy = createServer();
    await new Promise<void>((resolve) => void busy.listen(0, "127.0.0.1", resolve));
    await expect(session.publish((busy.address() as AddressInfo).port)).rejects.toThrow(/EADDRINUSE.*another port/);
    busy.close();
  });

  it("runs commands one by one where nothing can outlive them, and says why", async () => {
    const fake = join(workspace, "..", `fake-bwrap-${process.pid}`);
    writeFileSync(fake, '#!/bin/sh\ncase "$*" in *--dev-bind*) echo no namespaces today >&2; exit 1;; esac\nexec bwrap "$@"\n', {
      mode: 0o755,
    });
    try {
      const executor = sandbox({}, { bubblewrap: fake });
      expect(await executor.execute({ command: "echo x > /tmp/x" })).toMatchObject({ exitCode: 0 });
      expect(session.unavailable).toContain("no namespaces today");
      expect(await executor.execute({ command: "cat /tmp/x" })).toMatchObject({ exitCode: 1 });
    } finally {
      rmSync(fake);
    }
  });

  it("is not used where no sandbox can be made in it, as with an nsenter that knows less", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keelson-programs-"));
    writeFileSync(join(folder, "nsenter"), "#!/bin/sh\necho nsenter: unrecognized option >&2; exit 1\n", { mode: 0o755 });
    const path = process.env["PATH"];
    process.env["PATH"] = `${folder}:${path}`;
    try {
      expect(await sandbox().execute({ command: "echo runs" })).toMatchObject({ stdout: "runs\n" });
      expect(session.unavailable).toContain("unrecognized option");
      await expect(session.publish(4714)).rejects.toThrow(/unrecognized option/);
    } finally {
      process.env["PATH"] = path;
      rmSync(folder, { recursive: true });
    }
  });

  it("starts no program that a command could have written, though PATH leads there first", async () => {
    writeFileSync(join(workspace, "nsenter"), '#!/bin/sh\ntouch "$(dirname "$0")/ran"\nexit 1\n', { mode: 0o755 });
    const path = process.env["PATH"];
    process.env["PATH"] = `${workspace}:${path}`;
    try {
      expect(await sandbox().execute({ command: "echo runs" })).toMatchObject({ stdout: "runs\n" });
      expect(session.unavailable).toBeUndefined();
      expect(readdirSync(workspace)).toEqual(["nsenter"]);
    } finally {
      process.env["PATH"] = path;
    }
  });

  it("belongs to one executor", () => {
    sandbox();
    expect(() => sandbox()).toThrow(/belongs to one executor/);
  });

  it("makes no mount over a link that a command put in its way, though the workspace lies in /tmp", async () => {
    const nested = join(workspace, "a/b");
    mkdirSync(nested, { recursive: true });
    const victim = realpathSync(mkdtempSync(join(homedir(), ".keelson-victim-")));
    const top = `/tmp/${workspace.split("/")[2]}`;
    try {
      const executor = createSandboxExecutor({}, { workspace: nested, session });
      await executor.execute({ command: "echo x > ours" });
      const moved = await executor.execute({ command: `mv ${top} /tmp/z; rmdir ${top}; ls -d ${top}` });
      expect(moved.stderr).toMatch(/busy|Read-only/);
      expect(moved.stdout.trim()).toBe(top);
      await executor.execute({ command: `ln -sfn ${victim} ${top}; ln -s ${victim} /tmp/other` });
      expect(await executor.execute({ command: "cat ours" })).toMatchObject({ stdout: "x\n" });
      expect(readdirSync(victim)).toEqual([]);
    } finally {
      rmSync(victim, { recursive: true });
    }
  });

  it("leaves no process that a command or another program could trace, and no descriptor in a command", async () => {
    const executor = sandbox();
    const { stdout } = await executor.execute({ command: "readlink /proc/self/ns/net; ls -l /proc/self/fd" });
    const [network = "", ...descriptors] = stdout.trim().split("\n");
    expect(descriptors.filter((line) => /ns|net:|mnt:|user:/.test(line))).toEqual([]);
    const inside = readdirSync("/proc").filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/ns/net`) === network;
      } catch {
        return false;
      }
    });
    expect(inside).toEqual([]);
  });

  it("can't bring down or filter its own network, which other commands use", async () => {
    const { stdout } = await sandbox().execute({
      command: "ip link set lo down 2>&1; unshare -Un true 2>&1; cat /proc/self/status | grep CapEff; cat /proc/net/dev | grep -c lo:",
    });
    expect(stdout).toMatch(/not permitted|not found/);
    expect(stdout).toContain("CapEff:\t0000000000000000");
  });
});

describeWithBubblewrap("the hosts of a session", () => {
  async function world(policy: SandboxPolicy = {}) {
    const web = createHttpServer((_request, response) => response.end("the web"));
    await new Promise<void>((resolve) => void web.listen(0, "127.0.0.1", resolve));
    web.unref();
    const executor = sandbox(policy, {
      resolve: async () => ["93.184.216.34"],
      dial: () => connect((web.address() as AddressInfo).port, "127.0.0.1"),
    });
    const get = (host: string, request: Partial<ExecuteRequest> = {}) =>
      executor.execute({ command: `curl -sS -m 20 http://${host}/`, ...request });
    return { executor, get };
  }

  it("are closed where the policy says nothing, named in the result, and open while an answer says so", async () => {
    const { get } = await world();
    const closed = await get("example.com");
    expect(closed).toMatchObject({ refusedHosts: ["example.com:80"] });
    expect(closed.stdout).toContain("the policy does not allow example.com");
    let verdict: HostVerdict = "open";
    const judgeHost = (host: string): HostVerdict => (host === "example.com" ? verdict : "unlisted");
    const open = await get("example.com", { judgeHost });
    expect(open.stdout).toBe("the web");
    expect(open.refusedHosts).toBeUndefined();
    expect(await get("other.example.com", { judgeHost })).toMatchObject({ refusedHosts: ["other.example.com:80"] });
    verdict = "unlisted";
    expect(await get("example.com", { judgeHost })).toMatchObject({ refusedHosts: ["example.com:80"] });
  });

  it("stay closed where they are denied or not public, whatever an answer says, and a rule closes those of the policy", async () => {
    const { get } = await world({ network: { enabled: true, allowedDomains: ["listed.com"], deniedDomains: ["evil.com"] } });
    const judgeHost = (): HostVerdict => "open";
    for (const host of ["evil.com", "10.0.0.1", "169.254.169.254"]) {
      const response = await get(host, { judgeHost });
      expect(response.stdout).toContain("Refused by the sandbox");
      // An answer could not open it.
      expect(response.refusedHosts).toBeUndefined();
    }
    expect((await get("listed.com")).stdout).toBe("the web");
    expect((await get("listed.com", { judgeHost: () => "denied" })).stdout).toContain("a rule denies listed.com");
  });

  it("are asked about before a line runs that names them, unless the policy says that there is no network", async () => {
    const { executor } = await world({ network: { enabled: true, allowedDomains: ["listed.com"], deniedDomains: ["evil.com"] } });
    const effects = { hosts: ["listed.com", "new.com", "evil.com", "10.0.0.1"] };
    expect((await executor.confine?.(effects))?.confined).toMatchObject({
      closed: ["new.com"],
      refused: [expect.stringContaining("evil.com"), expect.stringContaining("10.0.0.1")],
    });
    await using none = createSandboxSession();
    const offline = createSandboxExecutor({ network: { enabled: false } }, { workspace, session: none });
    expect((await offline.confine?.({ hosts: ["new.com"] }))?.confined?.refused).toHaveLength(1);
  });

  it("are those of the policy alone where the executor has no session", async () => {
    const executor = createSandboxExecutor({ network: { enabled: true, allowedDomains: [] } }, { workspace });
    expect((await executor.confine?.({ hosts: ["new.com"] }))?.confined).toMatchObject({ refused: [expect.stringContaining("new.com")] });
  });
});

describeWithBubblewrap("what the commands of a policy may use", () => {
  it("is a cache folder, in which nothing is protected and which hidden folders around it do not hide", async () => {
    const hidden = realpathSync(mkdtempSync(join(homedir(), ".keelson-hidden-")));
    try {
      const cache = join(hidden, "caches/project");
      mkdirSync(cache, { recursive: true });
      writeFileSync(join(hidden, "key"), "canary");
      const policy = { filesystem: { deniedPaths: [hidden], cacheFolders: [cache] } };
      const executor = sandbox(policy);
      const write = "mkdir -p .git/hooks && echo x > .git/hooks/post-merge && echo x > AGENTS.md && echo x > .npmrc && ls -A";
      expect(await executor.execute({ command: `cd ${cache} && ${write}` })).toMatchObject({ stdout: ".git\n.npmrc\nAGENTS.md\n" });
      expect((await executor.execute({ command: `cat ${hidden}/key; ls ${hidden}` })).stdout).toBe("caches\n");
      expect(readdirSync(cache).toSorted()).toEqual([".git", ".npmrc", "AGENTS.md"]);
      expect((await executor.confine?.({ writes: [join(cache, "x")] }))?.confined?.refused).toEqual([]);
    } finally {
      rmSync(hidden, { recursive: true });
    }
  });

  it("is not a cache folder in a writable root, or around it", async () => {
    mkdirSync(join(workspace, "cache"));
    const executor = sandbox({ filesystem: { cacheFolders: ["cache"] } });
    await expect(executor.execute({ command: "true" })).rejects.toThrow(/are in one another/);
  });

  it("is a share of the machine's memory, and the result names the limit that was reached", async () => {
    const executor = sandbox({ resources: { memory: "1%" } });
    const allocate = `${JSON.stringify(process.execPath)} -e 'const kept = []; for (;;) kept.push(Buffer.alloc(16 * 1024 * 1024, 1))'`;
    const response = await executor.execute({ command: allocate });
    expect(response.exitCode).not.toBe(0);
    expect(response.memoryLimit).toBeGreaterThan(2 ** 20);
    expect(
      (await sandbox({ resources: { memory: "50%" } }, { session: undefined }).execute({ command: "true" })).memoryLimit,
    ).toBeUndefined();
  });

  it("is no program that it denies, by whatever name another program starts it, while files that begin each command stay", async () => {
    const executor = sandbox({ commands: { denied: ["perl", "bash"] } });
    const found = await executor.execute({
      program: "sh",
      args: ["-c", "p=pe; $p''rl -e 'print \"ran\"'; echo $?; for f in /usr/bin/p*rl; do $f -e 'print \"ran\"'; done"],
    });
    expect(found.stdout).toMatch(/^12[67]$/m);
    expect(found.stderr).toMatch(/perl: (Permission denied|not found)/);
  });
});
