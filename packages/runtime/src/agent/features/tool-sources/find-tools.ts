import type { ToolSchema } from "@keelson/protocol";

/** Of what one search gives, in characters of JSON. */
const MAX_FOUND = 32_000;
const MAX_TOOLS = 8;

/** The tools that fit a search best, best first: those that are named, then those of whose words more are in it. */
export function findTools(tools: readonly ToolSchema[], query: string): readonly ToolSchema[] {
  const wanted = wordsOf(query);
  const scored = tools
    .map((tool) => ({ tool, score: scoreOf(tool, query, wanted) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1));
  const found: ToolSchema[] = [];
  let size = 0;
  for (const { tool } of scored.slice(0, MAX_TOOLS)) {
    size += JSON.stringify(tool).length;
    if (found.length > 0 && size > MAX_FOUND) break;
    found.push(tool);
  }
  return found;
}

function scoreOf({ name, description, inputSchema }: ToolSchema, query: string, wanted: readonly string[]): number {
  if (query.split(/[\s,;]+/).includes(name)) return Number.MAX_SAFE_INTEGER;
  const names = wordsOf(name);
  const about = wordsOf(description);
  const parameters = wordsOf(Object.keys((inputSchema["properties"] ?? {}) as object).join(" "));
  let score = 0;
  for (const word of wanted) score += hit(names, word) * 4 + hit(about, word) * 2 + hit(parameters, word);
  return score;
}

/** A word counts whole, or half as the beginning of another. */
function hit(words: readonly string[], word: string): number {
  if (words.includes(word)) return 2;
  return word.length > 2 && words.some((other) => other.startsWith(word) || (other.length > 2 && word.startsWith(other))) ? 1 : 0;
}

/** Also of names such as `createIssue` and `create_issue`. */
function wordsOf(text: string): readonly string[] {
  const parts = text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return [...new Set(parts.filter((part) => part !== ""))];
}
