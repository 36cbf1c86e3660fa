/** A copy of plain data in depth. */
export function copyJson<T>(value: T): T {
  return typeof value === "object" && value !== null ? (copy(value, false) as T) : value;
}

/** A copy of plain data, frozen in depth: whoever is given it can neither change it nor what it was made from. */
export function frozenCopy<T>(value: T): T {
  return typeof value === "object" && value !== null ? (copy(value, true) as T) : value;
}

/** Copies the members as they are, then those that are objects or lists themselves: most are neither. */
function copy(value: object, freezes: boolean): object {
  if (Array.isArray(value)) {
    const items: unknown[] = [...(value as readonly unknown[])];
    for (const [index, item] of items.entries()) if (typeof item === "object" && item !== null) items[index] = copy(item, freezes);
    return freezes ? Object.freeze(items) : items;
  }
  const members: { [name: string]: unknown } = { ...value };
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (typeof member === "object" && member !== null) members[name] = copy(member, freezes);
  }
  return freezes ? Object.freeze(members) : members;
}
