import { createHash } from "node:crypto";

/** Lines of a file that were shown, of so many. */
export interface SeenLines {
  readonly start: number;
  readonly end: number;
  readonly total: number;
}

/** What each session has seen of the files, by digest, so that nothing is overwritten unseen. */
export interface SeenFiles {
  /** The session now knows this content: it read it or wrote it. */
  see(session: string, path: string, content: Uint8Array): void;
  /** The session was shown some lines of the content with this digest. All lines together count like the whole. */
  seeLines(session: string, path: string, digest: string, lines: SeenLines): void;
  /** `current`: this content was seen; `partial`: some lines of it were; `stale`: other content was; `never`: none. */
  check(session: string, path: string, content: Uint8Array): "current" | "partial" | "stale" | "never";
}

interface Seen {
  readonly digest: string;
  /** Regions in order, apart from each other. `undefined`: the whole. */
  readonly regions: readonly (readonly [start: number, end: number])[] | undefined;
}

// A forgotten file costs one more read.
const MAX_ENTRIES = 10_000;

export function createSeenFiles(): SeenFiles {
  const files = new Map<string, Seen>();
  const keyOf = (session: string, path: string): string => `${session}\0${path}`;
  const keep = (key: string, seen: Seen): void => {
    files.delete(key); // to the end: the order is that of use
    files.set(key, seen);
    if (files.size > MAX_ENTRIES)
      for (const oldest of files.keys()) {
        files.delete(oldest);
        break;
      }
  };
  return {
    see: (session, path, content) => keep(keyOf(session, path), { digest: digestOf(content), regions: undefined }),
    seeLines(session, path, digest, { start, end, total }) {
      const key = keyOf(session, path);
      const known = files.get(key);
      const before = known?.digest === digest ? known.regions : [];
      if (before === undefined) return keep(key, { digest, regions: undefined });
      const regions = start <= end ? joined([...before, [start, end]]) : before;
      const isWhole = total === 0 || regions.some(([from, to]) => from <= 1 && to >= total);
      keep(key, { digest, regions: isWhole ? undefined : regions });
    },
    check(session, path, content) {
      const seen = files.get(keyOf(session, path));
      if (seen === undefined) return "never";
      if (seen.digest !== digestOf(content)) return "stale";
      return seen.regions === undefined ? "current" : "partial";
    },
  };
}

function joined(regions: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const result: [number, number][] = [];
  for (const [start, end] of regions.toSorted((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last !== undefined && start <= last[1] + 1) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}

export function digestOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("base64");
}
