import { NAME_HASH_LENGTH, nameHash } from "../json/name-hash.ts";

/** Namespaces that models put before the names of functions: those of OpenAI's, Gemini's and other training formats. */
const NAMESPACES: readonly string[] = ["functions", "function", "default_api", "tools", "tool", "api", "commentary", "default"];
const SEPARATORS: readonly string[] = [".", ":", "::", "/"];
/** Tokens of chat formats that leak behind a name, with whatever follows them. */
const MARKUP = /<\||<\/|\|>|<｜/;
/** Quotes and brackets around a whole name. */
const WRAPPINGS: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ["'", "'"],
  ["`", "`"],
  ["<", ">"],
  ["[", "]"],
];
const MAX_STEPS = 8;
const SENT_NAME = new RegExp(`^(.*?)_?([a-z2-7]{${NAME_HASH_LENGTH}})$`, "s");

/**
 * The known tool that a model means by a name in disguise: with a namespace before it, markup behind it, or blanks and quotes
 * around it. A name that is a tool's own is no disguise. What could mean two tools means none.
 * @param isTool true for the exact names of tools
 * @returns `undefined` if it means no tool
 */
export function undisguiseName(name: string, isTool: (name: string) => boolean): string | undefined {
  if (isTool(name)) return name;
  const found = new Set<string>();
  const seen = new Set<string>([name]);
  let layer = [name];
  for (let step = 0; step < MAX_STEPS && layer.length > 0; step += 1) {
    const next = layer.flatMap(unwrapped).filter((bare) => bare !== "" && !seen.has(bare));
    layer = [];
    for (const bare of new Set(next)) {
      seen.add(bare);
      // The name of a tool is not unwrapped further.
      if (isTool(bare)) found.add(bare);
      else layer.push(bare);
    }
  }
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

/**
 * Does the same as `undisguiseName` for a name that went to the vendor in another form before (`functions_look_x7k2m4ab` for `functions.look`),
 * which models repeat from the conversation.
 */
export function undisguiseSentName(name: string, tools: readonly string[]): string | undefined {
  const [, readable, hash] = SENT_NAME.exec(name) ?? [];
  if (readable === undefined || hash === undefined) return undefined;
  const found = tools.filter((tool) => readable.includes(tool) && disguisesOf(tool).some((disguise) => nameHash(disguise) === hash));
  return found.length === 1 ? found[0] : undefined;
}

/** Returns the name without its outermost layer, in each way in which it can be read. */
function unwrapped(name: string): readonly string[] {
  const bare: string[] = [];
  const trimmed = name.trim();
  if (trimmed !== name) return [trimmed];
  for (const [start, end] of WRAPPINGS)
    if (name.length > 2 && name.startsWith(start) && name.endsWith(end)) bare.push(name.slice(start.length, -end.length));
  const markup = MARKUP.exec(name);
  if (markup !== null && markup.index > 0) bare.push(name.slice(0, markup.index));
  if (name.endsWith("()")) bare.push(name.slice(0, -2));
  for (const namespace of NAMESPACES)
    for (const separator of SEPARATORS)
      if (name.startsWith(namespace + separator)) bare.push(name.slice(namespace.length + separator.length));
  return bare;
}

function disguisesOf(tool: string): readonly string[] {
  const spaced = [` ${tool}`, `${tool} `, `$${tool}`];
  return [...spaced, ...NAMESPACES.flatMap((namespace) => SEPARATORS.map((separator) => `${namespace}${separator}${tool}`))];
}
