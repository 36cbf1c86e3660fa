import type { Transport } from "@modelcontextprotocol/client";

type Hear = NonNullable<Transport["onmessage"]>;

/** The members that a part of each known type needs. */
const NEEDED: { readonly [type: string]: readonly string[] } = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource_link: ["uri", "name"],
  resource: ["resource"],
};

/**
 * The same transport, whose results hold only parts of known types: the SDK refuses a whole result for one part that it does not know. A
 * part of another type, or without the members of its type, becomes a text with the JSON of the part.
 */
export function knownParts<T extends Transport>(transport: T): T {
  return new Proxy(transport, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" && key !== "onmessage" ? (value as (...given: unknown[]) => unknown).bind(target) : value;
    },
    set(target, key, value: unknown) {
      if (key !== "onmessage" || typeof value !== "function") return Reflect.set(target, key, value, target);
      const hear = value as Hear;
      target.onmessage = (message, extra) => hear(withKnownParts(message) as typeof message, extra);
      return true;
    },
  });
}

function withKnownParts(message: unknown): unknown {
  const result = (message as { readonly result?: unknown }).result;
  const content = (result as { readonly content?: unknown } | undefined | null)?.content;
  if (!Array.isArray(content) || content.every(isKnown)) return message;
  const parts = content.map((part: unknown) => (isKnown(part) ? part : { type: "text", text: JSON.stringify(part) }));
  return { ...(message as object), result: { ...(result as object), content: parts } };
}

function isKnown(part: unknown): boolean {
  if (typeof part !== "object" || part === null) return false;
  const { type, resource } = part as { readonly type?: unknown; readonly resource?: unknown };
  const needed = typeof type === "string" && Object.hasOwn(NEEDED, type) ? NEEDED[type] : undefined;
  if (needed === undefined) return false;
  if (type === "resource") return typeof resource === "object" && resource !== null;
  return needed.every((name) => typeof (part as { readonly [name: string]: unknown })[name] === "string");
}
