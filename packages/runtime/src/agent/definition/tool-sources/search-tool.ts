import type { JsonObject, Tool } from "@keelson/protocol";
import { canonicalJson, shortHash } from "../../../json/index.ts";
import { DEFAULT_MAX_OUTPUT_BYTES } from "../../../tools/tool-definition.ts";

/** What the tool is called that finds tools of which the model knows the names alone. */
export const SEARCH_TOOL = "search_tools";

/** The generated tool. The loop itself runs it: what it finds is among the tools of the next request. */
export interface SearchTool extends Tool<{ readonly query: string }> {
  readonly searchesTools: true;
}

/** Of the description, in characters. Names are told before what they say of themselves. */
const MAX_LIST = 16_000;
const MAX_LINE = 100;

/** @param tools those that are told by name, in the order in which they are listed */
export function searchTool(tools: readonly Pick<Tool, "name" | "description">[]): SearchTool {
  const inputSchema: JsonObject = {
    type: "object",
    properties: { query: { type: "string", description: "Words that say what the tool is to do, or names of tools." } },
    required: ["query"],
    additionalProperties: false,
  };
  const description = `Finds tools and gives their descriptions and schemas. Call it before you use one of these, of which you know only what stands here:\n${listOf(tools)}`;
  return {
    name: SEARCH_TOOL,
    description,
    inputSchema,
    effect: "read",
    concurrency: "exclusive",
    risk: "none",
    version: shortHash(canonicalJson([description, inputSchema])),
    aliases: [],
    maxOutputBytes: DEFAULT_MAX_OUTPUT_BYTES,
    searchesTools: true,
    parse(input) {
      const { query } = (input ?? {}) as { readonly query?: unknown };
      if (typeof query === "string" && query.trim() !== "") return { value: { query } };
      return { issues: [{ message: "query must be words to search for", path: ["query"] }] };
    },
    execute() {
      throw new TypeError(`"${SEARCH_TOOL}" is handled by the loop itself, not called`);
    },
  };
}

export function isSearchTool(tool: Tool): tool is SearchTool {
  return "searchesTools" in tool;
}

function listOf(tools: readonly Pick<Tool, "name" | "description">[]): string {
  const told = tools.map(lineOf).join("\n");
  if (told.length <= MAX_LIST) return told;
  const names = tools.map(({ name }) => name).join(", ");
  if (names.length <= MAX_LIST) return names;
  const cut = names.slice(0, names.lastIndexOf(", ", MAX_LIST));
  return `${cut} and ${tools.length - cut.split(", ").length} more`;
}

function lineOf({ name, description }: Pick<Tool, "name" | "description">): string {
  const [line = ""] = description.trim().split("\n");
  const room = MAX_LINE - name.length - 2;
  return line === "" || room <= 0 ? name : `${name}: ${line.length <= room ? line : `${line.slice(0, room - 1)}…`}`;
}
