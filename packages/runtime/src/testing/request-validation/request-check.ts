/** What an API would refuse in a request. */
export interface RequestProblem {
  /** Where, for example `messages[2].content[0].id`. */
  readonly path: string;
  readonly message: string;
}

export interface Fields {
  readonly [name: string]: unknown;
}

/** What the rules of a wire depend on beside the body. */
export interface RequestFacts {
  /** The model, where the body doesn't name it (Gemini's stands in the path). */
  readonly model?: string | undefined;
  /** Who serves it, where that isn't the vendor whose wire it is: his limits of call ids aren't known. */
  readonly vendor?: string | undefined;
  /** The vendor keeps earlier responses, so that reasoning can be sent by its id alone (Responses). */
  readonly stored?: boolean | undefined;
}

/** Gathers what is wrong with one request. The readers return what they were asked for, or `undefined` after noting why not. */
export class RequestCheck {
  readonly problems: RequestProblem[] = [];

  fail(path: string, message: string): undefined {
    this.problems.push({ path, message });
    return undefined;
  }

  object(value: unknown, path: string): Fields | undefined {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
    return this.fail(path, `must be an object, not ${nameOf(value)}`);
  }

  list(value: unknown, path: string): readonly unknown[] | undefined {
    if (!Array.isArray(value)) return this.fail(path, `must be an array, not ${nameOf(value)}`);
    return value.length > 0 ? value : this.fail(path, "must not be empty");
  }

  string(value: unknown, path: string): string | undefined {
    return typeof value === "string" ? value : this.fail(path, `must be a string, not ${nameOf(value)}`);
  }

  /** A string with something in it. */
  filled(value: unknown, path: string): string | undefined {
    const text = this.string(value, path);
    return text === "" ? this.fail(path, "must not be empty") : text;
  }

  matching(value: unknown, path: string, pattern: RegExp): string | undefined {
    const text = this.string(value, path);
    if (text === undefined || pattern.test(text)) return text;
    return this.fail(path, `${JSON.stringify(text)} does not match ${pattern.source}`);
  }

  oneOf(value: unknown, path: string, values: readonly string[]): string | undefined {
    if (typeof value === "string" && values.includes(value)) return value;
    return this.fail(path, `must be one of ${values.join(", ")}, not ${nameOf(value)}`);
  }

  /** A number that may be left out, or null. */
  number(
    value: unknown,
    path: string,
    { from = -Infinity, to = Infinity, whole = false }: { from?: number; to?: number; whole?: boolean } = {},
  ): number | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "number" || !Number.isFinite(value)) return this.fail(path, `must be a number, not ${nameOf(value)}`);
    if (whole && !Number.isInteger(value)) return this.fail(path, `must be a whole number, not ${value}`);
    return value >= from && value <= to ? value : this.fail(path, `must lie between ${from} and ${to}, not ${value}`);
  }

  flag(value: unknown, path: string): boolean | undefined {
    if (value === undefined || value === null || typeof value === "boolean") return value === true;
    return this.fail(path, `must be true or false, not ${nameOf(value)}`);
  }

  known(fields: Fields, path: string, names: ReadonlySet<string>): void {
    for (const name of Object.keys(fields))
      if (!names.has(name)) this.fail(path === "" ? name : `${path}.${name}`, "is not a field of the API");
  }

  /** Names of tools, each once. */
  unique(names: readonly string[], path: string, what: string): void {
    const seen = new Set<string>();
    for (const name of names) {
      if (seen.has(name)) this.fail(path, `${what} ${JSON.stringify(name)} stands there twice`);
      seen.add(name);
    }
  }
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : JSON.stringify(value).slice(0, 60);
}
