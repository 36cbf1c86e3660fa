import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { hostname, homedir } from "node:os";
import { basename, join } from "node:path";
import { createControlGroup } from "../../src/environment/sandbox/control-group.ts";

/** What there is to be stolen, broken or reached: a workspace, folders beside it, servers and processes. */
export interface ProbeWorld extends AsyncDisposable {
  readonly workspace: string;
  readonly outside: string;
  /** For overlays of the workspace. */
  readonly store: string;
  readonly env: { readonly [name: string]: string };
  /** Variables that a sandbox must not pass on. */
  readonly secrets: { readonly [name: string]: string };
}

export async function createProbeWorld(): Promise<ProbeWorld> {
  // Not in /tmp, which is another one in a sandbox.
  const base = realpathSync(mkdtempSync(join(process.env["KEELSON_PROBE_FOLDER"] ?? homedir(), ".keelson-probes-")));
  const name = basename(base).slice(1);
  const [workspace, outside] = [join(base, "workspace"), join(base, "outside")];
  const store = join(base, "store");
  for (const folder of [
    "workspace/.git/hooks",
    "workspace/.git/info",
    "workspace/nested/.git/hooks",
    ...["workspace/.git/modules/lib/sub", "workspace/bare.git"].flatMap((path) =>
      ["hooks", "objects", "refs"].map((folder) => `${path}/${folder}`),
    ),
    "workspace/.git/worktrees/side",
    "workspace/tools/git-hooks",
    "workspace/.claude/private",
    "workspace/denied",
    "workspace/deep/er",
    "workspace/services/api",
    "outside",
  ])
    mkdirSync(join(base, folder), { recursive: true });
  const files: { readonly [path: string]: string } = {
    "workspace/.git/config": "[core]\n\thooksPath = tools/git-hooks ; ours\n[include]\n\tpath = ../tools/gitconfig\n",
    "workspace/.git/worktrees/side/commondir": "../..\n",
    "workspace/tools/gitconfig": "[core]\n",
    "workspace/.claude/private/key": "canary\n",
    ...Object.fromEntries(
      ["workspace/.git/modules/lib/sub", "workspace/bare.git"].flatMap((path) => [
        [`${path}/HEAD`, "ref: refs/heads/main\n"],
        [`${path}/config`, "[core]\n"],
      ]),
    ),
    "workspace/.git/hooks/post-merge": "echo hook\n",
    "workspace/nested/.git/config": "[core]\n",
    "workspace/AGENTS.md": "Be good.\n",
    "workspace/lefthook.yml": "pre-commit:\n",
    "workspace/denied/key": "canary\n",
    "workspace/deep/er/key": "canary\n",
    "workspace/.env": "TOKEN=canary\n",
    "workspace/services/api/.env.local": "TOKEN=canary\n",
    "workspace/services/api/server.pem": "canary\n",
    "outside/secret": "canary\n",
    ...Object.fromEntries(["file", "truncated", "deleted", "renamed", "taken"].map((file) => [`outside/${file}`, "kept\n"])),
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(base, path), text);
  const [hostTmp, hostShm] = [`/tmp/${name}-tmp`, `/dev/shm/${name}-shm`];
  for (const path of [hostTmp, hostShm]) writeFileSync(path, "canary\n");

  const servers: Server[] = [];
  const serve = async (at: { path: string } | { port: number; host: string }): Promise<Server> => {
    const server = createServer((socket) => socket.on("error", () => socket.destroy()).end("canary\n"));
    servers.push(server);
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(at, resolve));
    return server;
  };
  const port = portOf(await serve({ port: 0, host: "::" }));
  await serve({ path: `\0${name}` });
  await serve({ path: join(outside, "server.sock") });
  await serve({ path: join(workspace, "server.sock") });
  const datagrams = createSocket("udp4").on("message", (_message, from) => datagrams.send("canary\n", from.port, from.address));
  await new Promise<void>((resolve) => void datagrams.bind(0, "127.0.0.1", resolve));
  const secrets = { PROBE_CANARY: `canary-${name}` };
  const argument = `argument-${name}`;
  // It listens by a name that is relative to where it stands.
  const listens = '$s = IO::Socket::UNIX->new(Local => "relative.sock", Listen => 5) or die; syswrite(STDOUT, "up"); sleep 600';
  const victim: ChildProcess = spawn("perl", ["-MIO::Socket::UNIX", "-e", listens, argument], {
    cwd: workspace,
    env: { ...process.env, ...secrets },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  await new Promise((resolve) => victim.stdout?.once("data", resolve));
  const otherHome = process.getuid?.() === 0 && existsSync("/home") ? `/home/${name}` : undefined;
  if (otherHome !== undefined) {
    mkdirSync(join(otherHome, ".ssh"), { recursive: true });
    writeFileSync(join(otherHome, ".ssh/id_ed25519"), "canary\n");
  }
  const [key, removedKey] = ["0x4b11", "0x4b12"].map((prefix) => `${prefix}${(process.pid & 0xffff).toString(16).padStart(4, "0")}`) as [
    string,
    string,
  ];
  for (const made of [key, removedKey]) execFileSync("perl", ["-e", `defined shmget(${made}, 64, 01600) or die $!`]);

  return {
    workspace,
    outside,
    store,
    secrets,
    env: {
      WORLD: name,
      WS: workspace,
      OUT: outside,
      STORE: store,
      SECRET: join(outside, "secret"),
      HOST_TMP: hostTmp,
      HOST_SHM: hostShm,
      HOST_PORT: String(port),
      HOST_UDP: String(datagrams.address().port),
      HOST_ABSTRACT: name,
      HOST_SOCKET: join(outside, "server.sock"),
      HOST_PID: String(victim.pid),
      HOST_ARGUMENT: argument,
      HOST_NAME: hostname(),
      HOST_NODE: realpathSync(process.execPath),
      OTHER_HOME_KEY: otherHome === undefined ? "" : join(otherHome, ".ssh/id_ed25519"),
      MEMORY_GROUP: (await boundsMemory()) ? "yes" : "",
      HOST_IPC: key,
      HOST_IPC_REMOVED: removedKey,
    },
    async [Symbol.asyncDispose]() {
      victim.kill("SIGKILL");
      datagrams.close();
      for (const server of servers) server.close();
      for (const made of [key, removedKey]) execFileSync("perl", ["-e", `$i = shmget(${made}, 0, 0); shmctl($i, 0, 0) if defined $i`]);
      for (const path of [base, hostTmp, hostShm, `/tmp/${name}-left`, ...(otherHome === undefined ? [] : [otherHome])])
        rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Whether control groups of this machine can be made to bound memory: else a sandbox bounds it for each process alone. */
async function boundsMemory(): Promise<boolean> {
  const group = await createControlGroup({ processes: 10, memory: 1024 ** 3 });
  await group?.remove();
  return group?.boundsMemory === true;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
