import { modelFamily } from "./history/model-family.ts";
import type { ModelPrice } from "./model-price.ts";
import { PRICES, PRICES_AS_OF } from "./prices.gen.ts";

/** A model that the built-in table knows. */
export interface ListedPrice {
  readonly vendor: string;
  /** The vendor's name for it. */
  readonly model: string;
  readonly price: ModelPrice;
  /** Tokens of input and output together; `null` when unknown. */
  readonly contextWindow: number | null;
}

interface Pattern {
  readonly start: string;
  /** Stands anywhere. */
  readonly part: string;
  readonly end: string;
  readonly entry: ListedPrice;
}

interface VendorTable {
  readonly exact: ReadonlyMap<string, ListedPrice>;
  /** The longest first: it says most. */
  readonly patterns: readonly Pattern[];
}

/** `-20251001` of Anthropic, `-2025-08-07` of OpenAI, and the alias `-latest`. */
export const DATE_SUFFIX: RegExp = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** Other names that people give to providers of these vendors. */
const VENDOR_ALIASES: { readonly [name: string]: string } = {
  "google": "gemini",
  "vertex": "gemini",
  "azure": "openai",
  "openai-chat": "openai",
  "openai-responses": "openai",
  "x-ai": "xai",
  "moonshotai": "moonshot",
  "mistralai": "mistral",
  "z-ai": "zai",
};

/** Whose models others resell, at the same price. */
const RESOLD = ["anthropic", "openai", "gemini", "xai"];

let tables: ReadonlyMap<string, VendorTable> | undefined;

/** Finds a model by its id, with or without the provider before it. */
export function findListed(reference: string): ListedPrice | undefined {
  tables ??= parseTables(PRICES);
  const segments = reference.toLowerCase().split("/");
  for (let at = 0; at < segments.length - 1; at += 1) {
    const name = segments[at] as string;
    const table = tables.get(Object.hasOwn(VENDOR_ALIASES, name) ? (VENDOR_ALIASES[name] as string) : name);
    const found = table && findIn(table, segments.slice(at + 1).join("/"));
    if (found !== undefined) return found;
  }
  const bare = segments.at(-1) as string;
  for (const vendor of RESOLD) {
    const found = findIn(tables.get(vendor) as VendorTable, bare);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All models that the table knows, vendor by vendor. */
export function listedPrices(): readonly ListedPrice[] {
  tables ??= parseTables(PRICES);
  return [...new Set([...tables.values()].flatMap(({ exact, patterns }) => [...exact.values(), ...patterns.map(({ entry }) => entry)]))];
}

function findIn({ exact, patterns }: VendorTable, id: string): ListedPrice | undefined {
  const undated = id.replace(DATE_SUFFIX, "");
  const known = exact.get(id) ?? exact.get(undated);
  if (known !== undefined) return known;
  const family = modelFamily(id);
  for (const name of new Set([id, undated, family])) {
    const found =
      exact.get(name) ??
      patterns.find(({ start, part, end }) => name.startsWith(start) && name.endsWith(end) && name.includes(part))?.entry;
    if (found !== undefined) return found;
  }
  return undefined;
}

function parseTables(text: string): ReadonlyMap<string, VendorTable> {
  const parsed = new Map<string, VendorTable>();
  let vendor = "";
  let batch = "";
  let exact = new Map<string, ListedPrice>();
  let patterns: Pattern[] = [];
  for (const line of text.trim().split("\n")) {
    if (line.startsWith("@")) {
      [vendor = "", batch = ""] = line.slice(1).split("|");
      exact = new Map();
      patterns = [];
      parsed.set(vendor, { exact, patterns });
      continue;
    }
    const { names, entry } = parseLine(line, vendor, batch);
    for (const name of names) {
      const [start, ...rest] = name.split("*");
      if (rest.length === 0) exact.set(name, entry);
      else patterns.push({ start: start as string, part: rest.length > 1 ? (rest[0] as string) : "", end: rest.at(-1) as string, entry });
    }
  }
  const weight = ({ start, part, end }: Pattern): number => start.length + part.length + end.length;
  for (const table of parsed.values()) (table.patterns as Pattern[]).sort((a, b) => weight(b) - weight(a));
  return parsed;
}

function parseLine(line: string, vendor: string, batch: string): { readonly names: readonly string[]; readonly entry: ListedPrice } {
  const [names = "", context = "", input = "", output = "", cacheRead = "", cacheWrite = "", long = ""] = line.split("|");
  const [above = "", longRates = ""] = long.split(":");
  const all = names.split(" ");
  const price: ModelPrice = {
    vendor,
    asOf: PRICES_AS_OF,
    ...ratesOf(input, output, cacheRead, cacheWrite),
    ...(batch !== "" && { batch }),
    ...(above !== "" && { longPrompt: { aboveInputTokens: Number(above), ...ratesOf(...(longRates.split(",") as [string, string])) } }),
  };
  const model = (all.find((name) => !name.includes("*")) ?? (all[0] as string)).replaceAll("*", "");
  return { names: all, entry: { vendor, model, price, contextWindow: context === "" ? null : Number(context) } };
}

/** Embeddings have no output, and speech no input. */
function ratesOf(
  input: string,
  output: string,
  cacheRead = "",
  cacheWrite = "",
): Pick<ModelPrice, "input" | "output" | "cacheRead" | "cacheWrite"> {
  return {
    input: input || "0",
    output: output || "0",
    ...(cacheRead !== "" && { cacheRead }),
    ...(cacheWrite !== "" && { cacheWrite }),
  };
}
