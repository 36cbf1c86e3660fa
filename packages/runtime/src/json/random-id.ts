import { nodeCrypto } from "../platform/node-crypto.ts";

/** A random UUID. */
export function randomId(): string {
  return nodeCrypto().randomUUID();
}
