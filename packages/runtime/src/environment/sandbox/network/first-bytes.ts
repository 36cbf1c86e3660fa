import type { Socket } from "node:net";
import { readServerName } from "./client-hello.ts";

const MAX_FIRST_BYTES = 32 * 1024;

/** What the client says first, as much as tells whom it means. */
export async function firstBytes(client: Socket, head: Buffer): Promise<Buffer> {
  let bytes = head;
  while (readServerName(bytes).type === "more" && bytes.length < MAX_FIRST_BYTES) {
    const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
    const onData = (chunk: Buffer): void => resolve(chunk);
    const onEnd = (): void => resolve(undefined);
    client.once("data", onData).once("end", onEnd).once("close", onEnd);
    const chunk = await promise;
    client.pause();
    client.off("data", onData).off("end", onEnd).off("close", onEnd);
    if (chunk === undefined) break;
    bytes = Buffer.concat([bytes, chunk]);
  }
  return bytes;
}
