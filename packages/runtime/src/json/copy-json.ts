/** A copy of plain data in depth. @param freezes the copy is frozen in depth */
export function copyJson<T>(value: T, freezes: boolean = false): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [...(value as readonly unknown[])];
    for (let index = 0; index < items.length; index++) {
      const item = items[index];
      if (typeof item === "object" && item !== null) items[index] = copyJson(item, freezes);
    }
    return (freezes ? Object.freeze(items) : items) as T;
  }
  // The members as they are, then those that are objects or lists themselves: most are neither.
  const members: { [name: string]: unknown } = { ...(value as object) };
  for (const name in members) {
    const member = members[name];
    if (typeof member === "object" && member !== null) members[name] = copyJson(member, freezes);
  }
  return (freezes ? Object.freeze(members) : members) as T;
}

/** A copy of plain data, frozen in depth: whoever is given it can neither change it nor what it was made from. */
export function frozenCopy<T>(value: T): T {
  return copyJson(value, true);
}
