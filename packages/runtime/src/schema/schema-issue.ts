/** What is wrong with a value, and where. The message is written for whoever has to send a better one: often a model. */
export interface SchemaIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** `options.lines[2]: expected a number, got "ten"` */
export function formatIssue(issue: { readonly message: string; readonly path?: readonly (string | number)[] }): string {
  const place = formatPath(issue.path ?? []);
  return place === "" ? issue.message : `${place}: ${issue.message}`;
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

function formatPath(path: readonly (string | number)[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (IDENTIFIER.test(key)) text += text === "" ? key : `.${key}`;
    else text += `[${JSON.stringify(key)}]`;
  }
  return text;
}

/** A value in a few words: enough to recognise it, whatever its size. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}…` : value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object") return `an object${withKeys(Object.keys(value))}`;
  return String(value);
}

function withKeys(keys: readonly string[]): string {
  return keys.length === 0 ? " without keys" : ` with the keys ${listKeys(keys)}`;
}

const MAX_LISTED = 12;

/** `"a", "b" and 3 more` */
export function listKeys(keys: readonly string[]): string {
  if (keys.length === 0) return "none";
  const shown = keys
    .slice(0, MAX_LISTED)
    .map((key) => JSON.stringify(key))
    .join(", ");
  return keys.length > MAX_LISTED ? `${shown} and ${keys.length - MAX_LISTED} more` : shown;
}
