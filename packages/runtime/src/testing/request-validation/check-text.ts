import type { RequestCheck } from "./request-check.ts";

/**
 * Notes each text that has no UTF-8: a body with half a surrogate pair is "not valid JSON: no low surrogate in string". Text that is
 * itself JSON (the arguments of a call) is read, too, since servers parse it for their templates.
 */
export function checkWellFormed(check: RequestCheck, value: unknown, path = ""): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) check.fail(path, "holds half a surrogate pair");
    else if (path.endsWith(".arguments") && /\\u[dD]/.test(value)) checkWellFormed(check, parsed(value), path);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) checkWellFormed(check, item, `${path}[${at}]`);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    const place = path === "" ? name : `${path}.${name}`;
    if (!name.isWellFormed()) check.fail(place, "has a name with half a surrogate pair");
    checkWellFormed(check, member, place);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
