import type { Socket } from "node:net";

const CONNECT_MS = 15_000;

/** The socket once it is connected. From then on errors end the connection. @throws Error when it can't be within 15 s */
export async function connected(socket: Socket): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => socket.destroy(new Error(`no connection within ${CONNECT_MS / 1000} s`)), CONNECT_MS);
  socket
    .once("connect", resolve)
    .once("error", reject)
    .once("close", () => reject(new Error("the connection was closed")));
  try {
    if (socket.connecting) await promise;
    socket.on("error", () => socket.destroy());
    return socket;
  } finally {
    clearTimeout(timer);
    promise.catch(() => {});
  }
}
