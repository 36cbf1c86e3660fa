/** Loaded with the first snapshot: it brings Node's streams with it, 2 MiB that an import of `keelson` doesn't pay for. */
let v8: typeof import("node:v8") | undefined;

function nodeV8(): typeof import("node:v8") {
  return (v8 ??= process.getBuiltinModule("node:v8"));
}

/** Values as Node serialises them: maps, sets and references that are shared come back as they were, and later Nodes read it. */
export function toBytes(value: object): Uint8Array {
  return nodeV8().serialize(value);
}

/** @throws Error when a later Node wrote them */
export function fromBytes<T>(bytes: Uint8Array): T {
  return nodeV8().deserialize(bytes) as T;
}
