import { type JsonValue, type Tool, ToolError, type ToolFailure, type ToolSchema } from "@keelson/protocol";
import { undisguiseName, undisguiseSentName } from "./undisguise-name.ts";
import { nearestName } from "../json/nearest-name.ts";
import { aliasesOf, toolByAlias } from "./find-alias.ts";

export type FoundTool =
  | { readonly ok: true; readonly tool: Tool }
  /** `failure.message` is for the model: it names what there is. */
  | { readonly ok: false; readonly failure: Extract<ToolFailure, { kind: "not-found" }>; readonly suggestion?: string };

/** Tools by name, as they are at one moment. Iterates in ascending order of names. */
export interface ToolSet extends Iterable<Tool> {
  readonly size: number;
  /** By its exact name. */
  get(name: string): Tool | undefined;
  /**
   * Finds the tool by the name that a model wrote: the exact name, else an alias, else either in another case or in a known disguise if that means one tool
   * only, else the name that other coding agents have for it. @param input the arguments, which distinguish the meanings of such a name
   */
  find(name: string, input?: JsonValue): FoundTool;
  /** What models are told, in ascending order of names. The same list until a tool changes, so that requests may be cached by it. */
  schemas(): readonly ToolSchema[];
}

export interface ToolRegistry extends ToolSet {
  /**
   * The same name replaces the tool that had it.
   * @throws ToolError of kind `invalid-definition` when another tool has one of its aliases
   */
  register(tool: Tool): void;
  /** What is registered now, for a run: later registrations do not show in it. */
  snapshot(): ToolSet;
}

/** @param tools tools of any context: the registry only finds them */
export function createToolRegistry(tools: Iterable<Tool<unknown, never>> = []): ToolRegistry {
  const byName = new Map<string, Tool>();
  // Replaced as a whole at the next look after a change; snapshots keep the one they were given.
  let current: ToolSet | undefined;
  const set = (): ToolSet => (current ??= createToolSet(byName));

  const registry: ToolRegistry = {
    get size() {
      return byName.size;
    },
    register(tool) {
      for (const other of byName.values()) {
        const shared = other.name === tool.name ? undefined : tool.aliases.find((alias) => other.aliases.includes(alias));
        if (shared !== undefined) {
          throw new ToolError({
            kind: "invalid-definition",
            tool: tool.name,
            message: `Tool "${tool.name}": \`aliases\` has "${shared}", which is an alias of "${other.name}" already`,
          });
        }
      }
      byName.set(tool.name, tool);
      current = undefined;
    },
    get: (name) => byName.get(name),
    find: (name, input) => set().find(name, input),
    schemas: () => set().schemas(),
    snapshot: set,
    [Symbol.iterator]: () => set()[Symbol.iterator](),
  };
  for (const tool of tools) registry.register(tool as Tool<never>);
  return registry;
}

function createToolSet(tools: ReadonlyMap<string, Tool>): ToolSet {
  // By code units, not by locale: the order reaches prompts and must be the same on every machine.
  const sorted = [...tools.values()].sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
  const byName = new Map(sorted.map((tool) => [tool.name, tool]));
  const byAlias = new Map(sorted.flatMap((tool) => tool.aliases.map((alias) => [alias, tool] as const)));
  let schemas: readonly ToolSchema[] | undefined;

  return {
    size: sorted.length,
    get: (name) => byName.get(name),
    find(name, input) {
      const tool =
        byName.get(name) ??
        byAlias.get(name) ??
        findInAnyCase(sorted, name) ??
        findInDisguise(sorted, name, input) ??
        toolByAlias(sorted, name, input);
      return tool === undefined ? notFound(name, [...byName.keys()], byAlias) : { ok: true, tool };
    },
    schemas: () =>
      (schemas ??= Object.freeze(sorted.map(({ name, description, inputSchema }) => Object.freeze({ name, description, inputSchema })))),
    [Symbol.iterator]: () => sorted.values(),
  };
}

function findInAnyCase(tools: readonly Tool[], name: string): Tool | undefined {
  const lower = name.toLowerCase();
  const matching = tools.filter((tool) => tool.name.toLowerCase() === lower || tool.aliases.some((alias) => alias.toLowerCase() === lower));
  return matching.length === 1 ? matching[0] : undefined;
}

/** After exact names, aliases and other cases. A name of another coding agent may be disguised, too. */
function findInDisguise(tools: readonly Tool[], name: string, input: JsonValue | undefined): Tool | undefined {
  const find = (bare: string): Tool | undefined => findPlain(tools, bare) ?? toolByAlias(tools, bare, input);
  const plain = undisguiseName(name, (bare) => find(bare) !== undefined);
  if (plain !== undefined) return find(plain);
  const sent = undisguiseSentName(
    name,
    tools.map((tool) => tool.name),
  );
  return sent === undefined ? undefined : tools.find((tool) => tool.name === sent);
}

function findPlain(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name || tool.aliases.includes(name)) ?? findInAnyCase(tools, name);
}

/** A wrapper of several calls that some models were trained on. */
const PARALLEL = /^(?:functions\.)?multi_tool_use[._]parallel/;

function notFound(name: string, available: readonly string[], aliases: ReadonlyMap<string, Tool>): FoundTool {
  const near = aliasesOf(name).find(({ tool }) => available.includes(tool))?.tool ?? nearestName(name, [...available, ...aliases.keys()]);
  const suggestion = near === undefined ? undefined : (aliases.get(near)?.name ?? near);
  const hint = suggestion === undefined ? "" : ` Did you mean "${suggestion}"?`;
  const parallel = PARALLEL.test(name) ? " Make each call by itself: calls go beside each other in one response." : "";
  const message = `There is no tool ${JSON.stringify(name.slice(0, 100))}.${parallel}${hint} Available tools: ${listNames(available)}.`;
  return {
    ok: false,
    failure: { kind: "not-found", tool: name.slice(0, 100), available, message },
    ...(suggestion !== undefined && { suggestion }),
  };
}

const MAX_NAMED = 100;

function listNames(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
