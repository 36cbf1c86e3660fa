import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { McpServerConfig } from "@keelson/protocol";
import { chromium, peers, playwright } from "../peers.ts";

const entry = (name: string): string => join(peers, name, "dist/index.js");

export const everythingServer: McpServerConfig = {
  type: "stdio",
  command: process.execPath,
  args: [entry("server-everything"), "stdio"],
};

/** @param folder what it may work with, unless it is told of roots */
export function filesystemServer(folder: string): McpServerConfig {
  return { type: "stdio", command: process.execPath, args: [entry("server-filesystem"), folder] };
}

export function memoryServer(file: string): McpServerConfig {
  return { type: "stdio", command: process.execPath, args: [entry("server-memory")], env: { MEMORY_FILE_PATH: file } };
}

/** Works a browser that is not shown and keeps nothing. @param folder where it puts files */
export function browserServer(folder: string): McpServerConfig {
  const browser = ["--browser=chromium", `--executable-path=${chromium}`, "--headless", "--isolated", "--no-sandbox"];
  const args = [playwright, ...browser, `--output-dir=${folder}`];
  return { type: "stdio", command: process.execPath, args, env: { TMPDIR: folder } };
}

export interface RemoteServer extends AsyncDisposable {
  readonly config: McpServerConfig;
}

const PATHS = { http: ["streamableHttp", "/mcp"], sse: ["sse", "/sse"] } as const;

/** The reference server that has something of everything, as a program that serves a port of this machine. */
export async function serveEverything(type: keyof typeof PATHS): Promise<RemoteServer> {
  const [name, path] = PATHS[type];
  const port = await freePort();
  const server = spawn(process.execPath, [entry("server-everything"), name], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  for await (const line of createInterface({ input: server.stderr })) if (/ on port \d+/.test(line)) break;
  server.stderr.resume();
  if (server.exitCode !== null) throw new Error(`The server did not start on port ${port}.`);
  return { config: { type, url: `http://127.0.0.1:${port}${path}` }, [Symbol.asyncDispose]: () => end(server) };
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGKILL");
  await ended;
}

/** Servers that take no port 0. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
