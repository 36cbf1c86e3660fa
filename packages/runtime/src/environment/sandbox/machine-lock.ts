import { createServer, connect, type Server, type Socket } from "node:net";
import { EnvironmentError } from "@keelson/protocol";
import { withPathLock } from "../files/path-lock.ts";

const WAIT_MS = 30_000;

/**
 * Runs `work` while nobody else of this user does so under this name, in this process or another. The name is that of an abstract socket
 * (unix(7)), which the kernel lets go of with its process, however that ends. Elsewhere than on Linux only this process is looked at.
 */
export function withMachineLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  return withPathLock([`/${name}`], async () => {
    if (process.platform !== "linux") return work();
    const release = await take(`\0${name}-${process.getuid?.() ?? ""}`, name);
    try {
      return await work();
    } finally {
      release();
    }
  });
}

/** @returns what lets go of it */
async function take(address: string, name: string): Promise<() => void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), WAIT_MS);
  try {
    for (;;) {
      const waiting = new Set<Socket>();
      const server = createServer((socket) => {
        waiting.add(socket);
        socket.on("error", () => socket.destroy()).once("close", () => waiting.delete(socket));
      });
      if (await listens(server, address))
        return () => {
          server.close();
          for (const socket of waiting) socket.destroy();
        };
      await untilFree(address, late.signal);
      if (late.signal.aborted)
        throw new EnvironmentError({
          kind: "provision-failed",
          message: `Another process has held the lock "${name}" for ${WAIT_MS / 1000} s. End it, or try again when it is done.`,
        });
    }
  } finally {
    clearTimeout(timer);
  }
}

async function listens(server: Server, address: string): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  server
    .once("listening", () => resolve(true))
    .once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(false);
      else reject(error);
    });
  server.listen({ path: address });
  return promise;
}

/** Whoever holds it lets go of those who wait, when it is done or gone. */
async function untilFree(address: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect({ path: address }).once("close", () => resolve());
  socket.on("error", () => socket.destroy()).resume();
  const leave = (): void => void socket.destroy();
  signal.addEventListener("abort", leave, { once: true });
  await promise;
  signal.removeEventListener("abort", leave);
}
