import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { McpServerConfig } from "@keelson/protocol";

type StdioConfig = Extract<McpServerConfig, { readonly type: "stdio" }>;

function program(name: string, args: readonly string[], more: Partial<StdioConfig>): StdioConfig {
  const path = fileURLToPath(new URL(name, import.meta.url));
  return { type: "stdio", command: process.execPath, args: ["--conditions=source", path, ...args], ...more };
}

/** A server made with the SDK, as a program. */
export function sdkServer(args: readonly string[] = [], more: Partial<StdioConfig> = {}): StdioConfig {
  return program("serve-stdio.ts", args, more);
}

/** A server that does not do what it should. */
export function faultyServer(behaviour: string, detail: number = 0, more: Partial<StdioConfig> = {}): StdioConfig {
  return program("faulty-server.ts", [behaviour, String(detail)], more);
}

/** A process that ended but that nobody has collected counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
