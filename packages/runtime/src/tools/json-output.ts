import type { Content, JsonValue, ToolContent } from "@keelson/protocol";

/** Deeper values would overflow the stack of whatever walks over them. */
const MAX_DEPTH = 500;

/** Where and why a value is not JSON; `undefined` when it is. Looks at it once and copies nothing. */
export function whyNotJson(value: unknown): string | undefined {
  const flaw = visit(value, []);
  return flaw === undefined ? undefined : `$${flaw.place.slice(0, 200)} ${flaw.problem}`;
}

/** Its place is put together on the way out: a million good values need no paths. */
interface Flaw {
  place: string;
  readonly problem: string;
}

function visit(value: unknown, ancestors: object[]): Flaw | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : flaw(`is ${value}, which JSON cannot hold`);
    case "object":
      return value === null ? undefined : visitObject(value, ancestors);
    case "undefined":
      return flaw("is undefined; use null");
    case "bigint":
      return flaw("is a bigint; return it as a string or a number");
    default:
      return flaw(`is a ${typeof value}, which JSON cannot hold`);
  }
}

function visitObject(value: object, ancestors: object[]): Flaw | undefined {
  if (ancestors.includes(value)) return flaw("is a cycle: it contains itself");
  if (ancestors.length >= MAX_DEPTH) return flaw(`is nested deeper than ${MAX_DEPTH} levels`);
  ancestors.push(value);
  const found = Array.isArray(value) ? visitItems(value, ancestors) : visitMembers(value, ancestors);
  ancestors.pop();
  return found;
}

function visitItems(value: readonly unknown[], ancestors: object[]): Flaw | undefined {
  for (let index = 0; index < value.length; index++) {
    const found = visit(value[index], ancestors);
    if (found === undefined) continue;
    found.place = `[${index}]${found.place}`;
    return found;
  }
  return undefined;
}

function visitMembers(value: object, ancestors: object[]): Flaw | undefined {
  const foreign = foreignObject(value);
  if (foreign !== undefined) return flaw(foreign);
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue; // left out on the way, as everywhere
    const found = visit(member, ancestors);
    if (found === undefined) continue;
    found.place = `.${key}${found.place}`;
    return found;
  }
  return undefined;
}

function flaw(problem: string): Flaw {
  return { place: "", problem };
}

/** Objects that JSON would turn into `{}` or into something that does not read back as what it was. */
function foreignObject(value: object): string | undefined {
  if (value instanceof Date) return `is a Date; return date.toISOString()`;
  if (value instanceof Map || value instanceof Set)
    return `is a ${value.constructor.name}; return ${value instanceof Map ? "Object.fromEntries(map)" : "[...set]"}`;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return `holds bytes; return them as base64, or as a part of { type: "content" }`;
  if (value instanceof Error) return `is an Error; throw it, or return its message`;
  if (value instanceof Promise) return `is a Promise; await it first`;
  if (value instanceof RegExp) return `is a RegExp; return its source`;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function")
    return `is a ${value.constructor?.name ?? "value"} with toJSON; return plain data`;
  return undefined;
}

const PART_FIELDS: { readonly [type: string]: readonly string[] } = { text: ["text"], image: ["mediaType"], file: ["mediaType"] };

/** Whether an output is parts for the model beside plain JSON. */
export function isToolContent(output: unknown): output is ToolContent {
  return (
    typeof output === "object" &&
    output !== null &&
    (output as ToolContent).type === "content" &&
    Array.isArray((output as ToolContent).content)
  );
}

/** What is wrong with the parts of an output: tools give text, images and files. */
export function whyNotContent(parts: readonly Content[]): string | undefined {
  for (const [index, part] of parts.entries()) {
    const type = (part as { readonly type?: unknown } | null)?.type;
    const fields = typeof type === "string" && Object.hasOwn(PART_FIELDS, type) ? PART_FIELDS[type] : undefined;
    if (fields === undefined) return `$.content[${index}] is no text, image or file part`;
    const missing = fields.find((field) => typeof (part as Record<string, JsonValue>)[field] !== "string");
    if (missing !== undefined) return `$.content[${index}] is a ${String(type)} part without \`${missing}\``;
    if (type === "text") continue;
    const sources = ["data", "url", "blob"].filter((field) => (part as Record<string, unknown>)[field] !== undefined);
    if (sources.length !== 1) return `$.content[${index}] needs exactly one of \`data\`, \`url\` and \`blob\``;
  }
  return undefined;
}
