import { type ChildProcess, spawn } from "node:child_process";
import { createServer, Server, Socket } from "node:net";
import { EnvironmentError } from "@keelson/protocol";
import { cannotRun } from "../cannot-run.ts";
import type { FilteringProxy } from "../network/filtering-proxy.ts";
import { BRIDGE_PROGRAM } from "../network/network-bridge.ts";

/** Connects within the network, and hands the connected socket to us. */
const CONNECTOR_PROGRAM = `const net=require("node:net");
const connect=(id,port,[host,...rest])=>{const socket=new net.Socket().pause();
socket.once("error",(error)=>rest.length>0?connect(id,port,rest):process.send({id,error:error.code}));
socket.connect(port,host,()=>process.send({id},socket));};
process.on("message",({id,port})=>connect(id,port,["127.0.0.1","::1"]));
process.on("disconnect",()=>process.exit(0));
process.send("ready");`;
const MAX_CONNECTIONS = 256;

/** Listens in a network for its proxy, and hands what connects there to the proxy. @returns ends it */
export async function listenForProxy(enter: readonly string[], proxy: FilteringProxy): Promise<() => void> {
  const child = startNode(enter, BRIDGE_PROGRAM);
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  child.once("message", (_message, handle) => {
    if (handle instanceof Server) resolve(handle);
    if (child.connected) child.disconnect();
  });
  child.once("error", reject).once("close", () => reject(cannotRun("the proxy of its network did not start")));
  const listening = await promise;
  listening.on("connection", (socket) => proxy.accept(socket)).on("error", () => listening.close());
  // The process can end without ending its session.
  listening.unref();
  return () => void listening.close();
}

/** Makes connections into a network, from outside. */
export interface Connector {
  connect(port: number): Promise<Socket>;
  close(): void;
}

export function createConnector(enter: readonly string[]): Connector {
  let child: ChildProcess | undefined;
  let next = 0;
  const waiting = new Map<number, PromiseWithResolvers<Socket>>();
  const fail = (): void => {
    child = undefined;
    for (const { reject } of waiting.values()) reject(new Error("the network of the session is gone"));
    waiting.clear();
  };
  const start = (): ChildProcess => {
    const started = startNode(enter, CONNECTOR_PROGRAM);
    started.on("message", (message: { readonly id?: number; readonly error?: string }, handle) => {
      if (message.id === undefined) return;
      const { resolve, reject } = waiting.get(message.id) ?? {};
      waiting.delete(message.id);
      if (handle instanceof Socket) resolve?.(handle);
      else reject?.(new Error(message.error ?? "no connection"));
    });
    started.once("error", fail).once("close", fail);
    started.unref();
    started.channel?.unref();
    return started;
  };
  return {
    connect(port) {
      child ??= start();
      const id = next++;
      const connection = Promise.withResolvers<Socket>();
      waiting.set(id, connection);
      child.send({ id, port });
      return connection.promise;
    },
    close: () => void child?.disconnect(),
  };
}

/** Passes on what connects to a port of this machine's loopback interface. @returns ends it */
export async function relayPort(port: number, connector: Connector): Promise<() => void> {
  const open = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (outer) => {
    outer.on("error", () => outer.destroy());
    if (open.size >= MAX_CONNECTIONS) return void outer.destroy();
    open.add(outer);
    outer.once("close", () => open.delete(outer));
    connector.connect(port).then(
      (inner) => {
        inner.on("error", () => inner.destroy()).once("close", () => outer.destroySoon());
        outer.once("close", () => inner.destroySoon());
        outer.pipe(inner).pipe(outer);
      },
      () => outer.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve)).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new EnvironmentError({
      kind: "other",
      message: `Port ${port} of this machine can't be used (${code}). Have the server listen on another port, and publish that.`,
    });
  });
  server.unref();
  return () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
}

function startNode(enter: readonly string[], program: string): ChildProcess {
  const [first = "", ...rest] = [...enter, process.execPath, "--no-warnings", "-e", program];
  return spawn(first, rest, { cwd: "/", env: {}, stdio: ["ignore", "ignore", "ignore", "ipc"] });
}
