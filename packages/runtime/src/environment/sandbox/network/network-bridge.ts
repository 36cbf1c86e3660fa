import type { ChildProcess } from "node:child_process";
import { Server } from "node:net";
import { PROXY_PORT } from "../sandbox-environment.ts";
import type { FilteringProxy } from "./filtering-proxy.ts";

/**
 * Runs within the sandbox before the command: it listens there, hands the listening socket to us, and is gone. So connections to the
 * proxy are taken outside, and nothing stays inside that a command could turn to its use.
 */
export const BRIDGE_PROGRAM: string = `const server=require("node:net").createServer();
server.listen(${PROXY_PORT},"127.0.0.1",511,()=>process.send("listening",server));
process.on("disconnect",()=>process.exit(0));`;

/** Steps of a shell of which `$1` is Node and `$2` the program above; `channel` is the descriptor of the channel to us. */
export function bridgeScript(channel: number): string {
  return `/usr/bin/env -i NODE_CHANNEL_FD=${channel} "$1" --no-warnings -e "$2" >/dev/null 2>&1 </dev/null || exit 125
shift 2`;
}

/** Connects the proxy with the sandbox of this process. @returns ends the connection */
export function bridgeTo(child: ChildProcess, proxy: FilteringProxy): () => void {
  let listening: Server | undefined;
  const disconnect = (): void => {
    if (child.connected) child.disconnect();
  };
  child.once("message", (_message, handle) => {
    if (handle instanceof Server) {
      listening = handle;
      handle.on("connection", (socket) => proxy.accept(socket));
      handle.on("error", () => handle.close());
    }
    disconnect();
  });
  return () => {
    disconnect();
    listening?.close();
  };
}
