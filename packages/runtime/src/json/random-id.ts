import { nodeCrypto } from "../platform/node-crypto.ts";

const scratch = Buffer.alloc(36);

/** A random UUID. Node puts it together from twenty pieces, all of which would be kept as long as the id: read out anew, it is one flat string. */
export function randomId(): string {
  return scratch.toString("latin1", 0, scratch.write(nodeCrypto().randomUUID(), "latin1"));
}
