/** A copy of plain data in depth. */
export function copyJson<T>(value: T): T {
  return isContainer(value) ? (copy(value, false) as T) : value;
}

/** A copy of plain data, frozen in depth: whoever is given it can neither change it nor what it was made from. */
export function frozenCopy<T>(value: T): T {
  return isContainer(value) ? (copy(value, true) as T) : value;
}

/** Calls itself for objects and lists alone: most members are neither. */
function copy(value: object, freezes: boolean): object {
  let copied: object;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value as readonly unknown[]) items.push(typeof item === "object" && item !== null ? copy(item, freezes) : item);
    copied = items;
  } else {
    const members: { [name: string]: unknown } = {};
    for (const name of Object.keys(value)) {
      const given = (value as { readonly [name: string]: unknown })[name];
      const member = typeof given === "object" && given !== null ? copy(given, freezes) : given;
      // Data from outside may bring this name as its own.
      if (name === "__proto__") Object.defineProperty(members, name, { value: member, enumerable: true });
      else members[name] = member;
    }
    copied = members;
  }
  return freezes ? Object.freeze(copied) : copied;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
