/** A copy of plain data, frozen in depth: whoever is given it can neither change it nor what it was made from. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => frozenCopy(item))) as T;
  const copy: { [name: string]: unknown } = {};
  for (const name of Object.keys(value)) {
    const part = frozenCopy((value as { readonly [name: string]: unknown })[name]);
    // Data from outside may bring this name as its own.
    if (name === "__proto__") Object.defineProperty(copy, name, { value: part, enumerable: true });
    else copy[name] = part;
  }
  return Object.freeze(copy) as T;
}
