import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface Turns extends AsyncDisposable {
  /** Where `in-turn.sh` asks for turns. */
  readonly port: number;
}

/** Lets so many programs run at a time that were started by `in-turn.sh`, in the order in which they came. */
export async function giveTurns(most: number): Promise<Turns> {
  const waiting: Socket[] = [];
  let running = 0;
  const next = (): void => {
    while (running < most) {
      const socket = waiting.shift();
      if (socket === undefined) return;
      running++;
      socket.write("go\n");
      socket.once("close", () => {
        running--;
        next();
      });
    }
  };
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.resume();
    waiting.push(socket);
    next();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}
