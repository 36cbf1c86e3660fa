/** A copy of plain data in depth. */
export function copyJson<T>(value: T): T {
  return copy(value, false);
}

/** A copy of plain data, frozen in depth: whoever is given it can neither change it nor what it was made from. */
export function frozenCopy<T>(value: T): T {
  return copy(value, true);
}

function copy<T>(value: T, freezes: boolean): T {
  if (typeof value !== "object" || value === null) return value;
  const copied: unknown = Array.isArray(value) ? value.map((item: unknown) => copy(item, freezes)) : members(value, freezes);
  return (freezes ? Object.freeze(copied) : copied) as T;
}

function members(value: object, freezes: boolean): object {
  const copied: { [name: string]: unknown } = {};
  for (const name of Object.keys(value)) {
    const member = copy((value as { readonly [name: string]: unknown })[name], freezes);
    // Data from outside may bring this name as its own.
    if (name === "__proto__") Object.defineProperty(copied, name, { value: member, enumerable: true });
    else copied[name] = member;
  }
  return copied;
}
