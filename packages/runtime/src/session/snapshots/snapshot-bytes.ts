import { deserialize, serialize } from "node:v8";

/** Values as Node serialises them: maps, sets and references that are shared come back as they were, and later Nodes read it. */
export function toBytes(value: object): Uint8Array {
  return serialize(value);
}

/** @throws Error when a later Node wrote them */
export function fromBytes<T>(bytes: Uint8Array): T {
  return deserialize(bytes) as T;
}
