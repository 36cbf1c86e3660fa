/** An object of a vendor, as it stands on the wire. */
export interface Fields {
  readonly [name: string]: unknown;
}

/** Nothing where there is no list. */
export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}

/** Empty where there is no string. */
export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Gemini takes the names of its members in both cases. */
export function camelCased(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()), value]),
  );
}
