import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Config {
  readonly Image: string;
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly HostConfig: Readonly<Record<string, unknown>>;
}

interface Container {
  readonly config: Config;
  stream?: Duplex;
  child?: ChildProcess;
  readonly exited: PromiseWithResolvers<number>;
}

/** An imitation of what is used of the Docker Engine API, by its documentation. Its containers are processes here, without boundaries. */
export interface FakeDocker extends AsyncDisposable {
  /** For `DOCKER_HOST`. */
  readonly host: string;
  readonly calls: string[];
  readonly configs: Config[];
  readonly containers: Map<string, { readonly config: Pick<Config, "Labels"> }>;
  readonly runtimes: Record<string, object>;
  /** Whether the kernel is said to have ended the containers for their memory. */
  isOutOfMemory: boolean;
}

export async function startFakeDocker(): Promise<FakeDocker> {
  const folder = mkdtempSync(join(tmpdir(), "keelson-docker-"));
  const containers = new Map<string, Container>();
  const fake = { calls: [] as string[], configs: [] as Config[], runtimes: { runc: {} } as Record<string, object>, isOutOfMemory: false };

  const answer = (response: ServerResponse, status: number, body?: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "", "http://docker");
    const [, kind, name = "", action = ""] = url.pathname.split("/");
    fake.calls.push(
      `${request.method} /${[kind, name && kind === "containers" && !["json", "create"].includes(name) ? "*" : name, action].filter(Boolean).join("/")}`,
    );
    if (url.pathname === "/info") return answer(response, 200, { Runtimes: fake.runtimes });
    if (url.pathname === "/containers/json") {
      const all = [...containers].map(([Id, { config }]) => ({ Id, Labels: config.Labels }));
      const { label = [] } = JSON.parse(url.searchParams.get("filters") ?? "{}") as { label?: string[] };
      return answer(
        response,
        200,
        all.filter(({ Labels }) => label.every((one) => Object.hasOwn(Labels, one))),
      );
    }
    if (url.pathname === "/containers/create") {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const config = JSON.parse(Buffer.concat(pieces).toString()) as Config;
      fake.configs.push(config);
      if (config.Image === "missing") return answer(response, 404, { message: "No such image: missing:latest" });
      const id = url.searchParams.get("name") ?? "";
      containers.set(id, { config, exited: Promise.withResolvers<number>() });
      return answer(response, 201, { Id: id, Warnings: [] });
    }
    const container = containers.get(name);
    if (container === undefined) return answer(response, 404, { message: `No such container: ${name}` });
    if (action === "wait") return answer(response, 200, { StatusCode: await container.exited.promise });
    if (action === "json") return answer(response, 200, { Id: name, State: { OOMKilled: fake.isOutOfMemory } });
    if (action === "start") {
      begin(container);
      return answer(response, 204);
    }
    if (request.method === "DELETE") {
      containers.delete(name);
      container.child?.kill("SIGKILL");
      return answer(response, 204);
    }
    answer(response, 404, { message: "page not found" });
  };

  const server = createServer((request, response) => void handle(request, response));
  server.on("upgrade", (request: IncomingMessage, stream: Duplex) => {
    const container = containers.get(request.url?.split("/")[2] ?? "");
    fake.calls.push("POST /containers/*/attach");
    stream.on("error", () => stream.destroy());
    stream.write("HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    if (container !== undefined) container.stream = stream;
  });
  server.listen(join(folder, "docker.sock"));
  await once(server, "listening");
  return Object.assign(fake, {
    host: `unix://${join(folder, "docker.sock")}`,
    containers,
    async [Symbol.asyncDispose]() {
      for (const { child, stream } of containers.values()) {
        child?.kill("SIGKILL");
        stream?.destroy();
      }
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

function begin(container: Container): void {
  const { config, stream, exited } = container;
  const env = Object.fromEntries(config.Env.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
  const child = spawn(process.execPath, [...process.execArgv, ...config.Cmd.slice(1)], {
    cwd: config.WorkingDir,
    env: { PATH: process.env["PATH"] ?? "", ...env },
  });
  container.child = child;
  child.stdin.on("error", () => {});
  stream?.on("data", (bytes: Buffer) => child.stdin.write(bytes));
  stream?.once("close", () => child.stdin.end());
  for (const [kind, output] of [
    [1, child.stdout],
    [2, child.stderr],
  ] as const)
    output.on("data", (bytes: Buffer) => {
      const frame = Buffer.concat([Buffer.from([kind, 0, 0, 0, 0, 0, 0, 0]), bytes]);
      frame.writeUInt32BE(bytes.byteLength, 4);
      // Wherever a connection may break it.
      stream?.write(frame.subarray(0, 5));
      stream?.write(frame.subarray(5));
    });
  child.once("close", (code) => {
    stream?.end();
    exited.resolve(code ?? 137);
  });
}
