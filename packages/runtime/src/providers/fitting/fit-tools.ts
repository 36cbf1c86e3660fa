import type { JsonObject, ToolSchema, UnfitTool } from "@keelson/protocol";
import { fitName } from "./fit-name.ts";
import { fitSchema, type UnfitSchema } from "./fit-schema.ts";
import type { FittedSchema } from "./schema-fitter.ts";
import { wellFormed } from "./well-formed.ts";
import type { SchemaRules, WireRules } from "./wire-rules.ts";

export interface FittedTools {
  /** The tools in the given order; the given list itself if it fits. */
  readonly tools: readonly ToolSchema[];
  /** The original name by the name in the request, for tools that were renamed. */
  readonly originalNames: ReadonlyMap<string, string>;
  /** By the name in the request: the original property key by the key in the request. */
  readonly originalKeys: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Tools that are left out. */
  readonly unfit: readonly UnfitTool[];
}

const lists = new WeakMap<WireRules, WeakMap<readonly ToolSchema[], FittedTools>>();
const schemas = new WeakMap<SchemaRules, WeakMap<JsonObject, FittedSchema | UnfitSchema>>();

/** Tools as a vendor accepts them. The work is done once for a list and once for a schema. */
export function fitTools(tools: readonly ToolSchema[], rules: WireRules): FittedTools {
  return cached(lists, rules, tools, () => fitList(tools, rules));
}

/** Calls `fitSchema` once for each schema. */
export function fitSchemaOnce(schema: JsonObject, rules: SchemaRules): FittedSchema | UnfitSchema {
  return cached(schemas, rules, schema, () => fitSchema(schema, rules));
}

function fitList(given: readonly ToolSchema[], rules: WireRules): FittedTools {
  const originalNames = new Map<string, string>();
  const originalKeys = new Map<string, ReadonlyMap<string, string>>();
  const unfit: UnfitTool[] = [];
  const tools = given.flatMap((tool): readonly ToolSchema[] => {
    const fitted = fitSchemaOnce(tool.inputSchema, rules.schemas);
    if ("problem" in fitted) {
      unfit.push({ tool: tool.name, problem: `its schema ${fitted.problem}` });
      return [];
    }
    const name = fitName(tool.name, rules.names);
    if (name !== tool.name) originalNames.set(name, tool.name);
    if (fitted.originalKeys.size > 0) originalKeys.set(name, fitted.originalKeys);
    const inputSchema = wellFormed(fitted.schema);
    const description = wellFormed([tool.description, ...fitted.notes].filter((text) => text !== "").join("\n"));
    const isSame = name === tool.name && description === tool.description && inputSchema === tool.inputSchema;
    return [isSame ? tool : { name, description, inputSchema }];
  });
  const isSame = tools.length === given.length && tools.every((tool, at) => tool === given[at]);
  return { tools: isSame ? given : tools, originalNames, originalKeys, unfit };
}

function cached<Rules extends object, Key extends object, Value>(
  caches: WeakMap<Rules, WeakMap<Key, Value>>,
  rules: Rules,
  key: Key,
  make: () => Value,
): Value {
  let cache = caches.get(rules);
  if (cache === undefined) caches.set(rules, (cache = new WeakMap()));
  let value = cache.get(key);
  if (value === undefined) cache.set(key, (value = make()));
  return value;
}
