/** Where two values differ first, and what stands there, as JSON. A member that is `undefined` counts as absent. */
export interface ValueDifference {
  readonly path: string;
  readonly first: string;
  readonly second: string;
}

/** Of plain data, with maps and sets. */
export function firstDifference(first: unknown, second: unknown, path: string = ""): ValueDifference | undefined {
  if (Object.is(first, second)) return undefined;
  const [one, other] = [membersOf(first), membersOf(second)];
  if (one === undefined || other === undefined) return { path: path === "" ? "it" : path, first: told(first), second: told(second) };
  for (const key of new Set([...one.keys(), ...other.keys()])) {
    const found = firstDifference(one.get(key), other.get(key), path === "" ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const entries: Iterable<readonly [unknown, unknown]> =
    value instanceof Map
      ? value
      : value instanceof Set
        ? [...value].map((member, index) => [index, member])
        : value instanceof Uint8Array
          ? [["bytes", Buffer.from(value).toString("base64")]]
          : Object.entries(value);
  return new Map([...entries].map(([key, member]) => [String(key), member]));
}

const MOST = 200;

function told(value: unknown): string {
  const text = value === undefined ? "absent" : (JSON.stringify(value) ?? String(value));
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
}
