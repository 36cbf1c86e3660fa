import { createHash } from "node:crypto";

/** What each session has seen of the files, by digest, so that nothing is overwritten unseen. */
export interface SeenFiles {
  /** The session now knows this content: it read it or wrote it. */
  see(session: string, path: string, content: Uint8Array): void;
  /** `current`: this very content was seen; `stale`: another one was; `never`: none. */
  check(session: string, path: string, content: Uint8Array): "current" | "stale" | "never";
}

// A forgotten file costs one more read.
const MAX_ENTRIES = 10_000;

export function createSeenFiles(): SeenFiles {
  const digests = new Map<string, string>();
  const keyOf = (session: string, path: string): string => `${session}\0${path}`;
  return {
    see(session, path, content) {
      const key = keyOf(session, path);
      digests.delete(key); // to the end: the order is that of use
      digests.set(key, digestOf(content));
      if (digests.size > MAX_ENTRIES)
        for (const oldest of digests.keys()) {
          digests.delete(oldest);
          break;
        }
    },
    check(session, path, content) {
      const seen = digests.get(keyOf(session, path));
      return seen === undefined ? "never" : seen === digestOf(content) ? "current" : "stale";
    },
  };
}

function digestOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("base64");
}
