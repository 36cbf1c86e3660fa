import type { PatternNode } from "../files/pattern-node.ts";
import type { TextFilter } from "./text-filter.ts";

type PatternSet = Extract<PatternNode, { readonly type: "set" }>;
/** Characters that follow each other. */
type Run = readonly PatternSet[];

/** Runs that each match of a node holds. */
interface NodeRuns {
  /** The whole of every match; absent if matches differ in length. */
  readonly exact?: Run;
  /** The beginning and the end of every match. */
  readonly prefix: Run;
  readonly suffix: Run;
  readonly inner: readonly Run[];
}

const NONE: NodeRuns = { prefix: [], suffix: [], inner: [] };
/** A longer run finds hardly fewer texts. */
const MAX_RUN = 16;
const ASCII: readonly string[] = Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code));
/** A character beyond ASCII. It begins with a byte that no other byte of a character is, so that the expression never goes back far. */
const BEYOND_ASCII = "[\\xc2-\\xf4][\\x80-\\xbf]{1,3}";

/**
 * Finds the texts that cannot match because they lack a run of characters that is part of every match, such as the digits of `[0-9]{5}` or the last letter, the
 * blank and the sign of `\w+ =`. The expression of JavaScript that looks for it has no repetition but the bytes of a character, so that no text makes it slow.
 * @returns `undefined` if no run is known
 */
export function createRunFilter(node: PatternNode, caseInsensitive: boolean): TextFilter | undefined {
  const { exact, prefix, suffix, inner } = runsOf(node);
  const runs = [exact ?? [], prefix, suffix, ...inner].filter((run) => run.length > 0);
  if (runs.length === 0) return undefined;
  const members = new Map<string, string>();
  const membersOf = ({ script }: PatternSet): string => {
    let found = members.get(script);
    if (found === undefined) {
      const set = new RegExp(`^${script}$`, caseInsensitive ? "vi" : "v");
      members.set(script, (found = ASCII.filter((character) => set.test(character)).join("")));
    }
    return found;
  };
  // A set with few members is found seldom.
  const share = (run: Run): number => run.reduce((product, set) => product * (Math.max(1, membersOf(set).length) / ASCII.length), 1);
  const rarest = runs.reduce((best, run) => (share(run) < share(best) ? run : best));
  const pattern = new RegExp(rarest.map((set) => inBytes(set, membersOf(set), caseInsensitive)).join(""));
  return { isIn: (bytes) => pattern.test(bytes.toString("latin1")), isAscii: false, shortest: 0 };
}

/** Returns an expression in which a character is a byte of UTF-8. */
function inBytes({ literal }: PatternSet, members: string, caseInsensitive: boolean): string {
  if (literal !== undefined && !caseInsensitive) return escaped(Buffer.from(literal).toString("latin1"));
  return members === "" ? `(?:${BEYOND_ASCII})` : `(?:[${escaped(members)}]|${BEYOND_ASCII})`;
}

function escaped(bytes: string): string {
  return [...bytes].map((byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`).join("");
}

function runsOf(node: PatternNode): NodeRuns {
  switch (node.type) {
    case "set":
      return exactly([node]);
    case "place":
      return exactly([]);
    case "sequence":
      return joined(node.parts.map(runsOf));
    case "repeat": {
      const { part, least, most } = node;
      if (least === 0) return NONE;
      const inPart = runsOf(part);
      const repeated = joined(Array.from({ length: Math.min(least, MAX_RUN) }, () => inPart));
      const { exact, ...others } = repeated;
      return least === most && least <= MAX_RUN && exact !== undefined ? repeated : others;
    }
    default:
      return NONE;
  }
}

function exactly(run: Run): NodeRuns {
  return { exact: run, prefix: run, suffix: run, inner: [] };
}

function joined(parts: readonly NodeRuns[]): NodeRuns {
  let prefix: Run | undefined;
  let current: Run = [];
  const inner: Run[] = [];
  for (const part of parts) {
    if (part.exact !== undefined) {
      current = [...current, ...part.exact];
      // The text goes on behind a run that is cut.
      if (current.length <= MAX_RUN) continue;
      prefix ??= current.slice(0, MAX_RUN);
      inner.push(current.slice(0, MAX_RUN));
      current = current.slice(-MAX_RUN);
      continue;
    }
    const before = [...current, ...part.prefix].slice(0, MAX_RUN);
    prefix ??= before;
    inner.push(before, ...part.inner);
    current = part.suffix;
  }
  return prefix === undefined ? exactly(current) : { prefix, suffix: current, inner };
}
