/** What a local reference (`#`, `#/$defs/x`) points at in a JSON Schema; `undefined` when it points at nothing. */
export function resolveLocalReference(root: unknown, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let target = root;
  for (const part of reference.slice(2).split("/")) {
    if (typeof target !== "object" || target === null) return undefined;
    const key = decodePart(part);
    if (key === undefined || !Object.hasOwn(target, key)) return undefined;
    target = (target as Record<string, unknown>)[key];
  }
  return target;
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined; // a malformed percent escape names nothing
  }
}
