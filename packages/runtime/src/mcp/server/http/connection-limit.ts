import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/** Bounds the connections of a server. A connection in which nothing is being answered makes room for a new one. */
export interface ConnectionLimit {
  /** Keeps the connection of an authenticated request whose body was read. @returns ends that */
  hold(request: IncomingMessage): () => void;
}

interface Connection {
  /** Requests that are being answered. */
  held: number;
  /** True if it carried an authenticated request before. */
  isKnown: boolean;
}

/**
 * Closes a connection for each one above the limit: of the address that has the most that are idle or half open, the oldest, and of those first one that
 * never sent a whole request. So half a request, or none, keeps no other client out.
 */
export function limitConnections(server: Pick<Server, "on">, max: number): ConnectionLimit {
  const open = new Map<Socket, Connection>();

  const leastUseful = (): Socket | undefined => {
    const idle = [...open].filter(([, { held }]) => held === 0);
    const byAddress = Map.groupBy(idle, ([{ remoteAddress = "" }]) => remoteAddress);
    const [most = []] = [...byAddress.values()].sort((one, other) => other.length - one.length);
    return (most.find(([, { isKnown }]) => !isKnown) ?? most[0])?.[0];
  };
  server.on("connection", (socket: Socket) => {
    open.set(socket, { held: 0, isKnown: false });
    socket.once("close", () => open.delete(socket));
    if (open.size <= max) return;
    const closed = leastUseful() ?? socket;
    open.delete(closed);
    closed.destroy();
  });

  return {
    hold({ socket }) {
      const connection = open.get(socket);
      if (connection === undefined) return () => {};
      connection.held += 1;
      connection.isKnown = true;
      return () => void (connection.held -= 1);
    },
  };
}
