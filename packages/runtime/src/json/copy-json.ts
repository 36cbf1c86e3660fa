/** A copy of plain data in depth. @param freezes the copy is frozen in depth */
export function copyJson<T>(value: T, freezes: boolean = false): T {
  if (typeof value !== "object" || value === null) return value;
  const copy: unknown = Array.isArray(value)
    ? value.map((item: unknown) => copyJson(item, freezes))
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyJson(member, freezes)]));
  return (freezes ? Object.freeze(copy) : copy) as T;
}

/** A copy of plain data, frozen in depth: whoever is given it can neither change it nor what it was made from. */
export function frozenCopy<T>(value: T): T {
  return copyJson(value, true);
}
