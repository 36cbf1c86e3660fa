import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ConditionalPrice,
  findProvider,
  type MatchLogic,
  type ModelInfo,
  type ModelPrice,
  type TieredPrices,
} from "@pydantic/genai-prices";
import { root } from "./run-command.ts";

/*
 * Writes our table of prices from the data of `@pydantic/genai-prices`, which its maintainers read from the vendors' pages:
 *
 *   npm install -D -E @pydantic/genai-prices@<version>
 *   npm run refresh-prices -- <the day that version came out, as YYYY-MM-DD>
 */

interface Vendor {
  /** As the data calls him. */
  readonly data: string;
  /** As our providers do. */
  readonly name: string;
  /** What a token of a batch costs, as a part of the list price; where the vendor's price page says so. */
  readonly batch?: string;
  /** Which of his models are his own. */
  readonly only?: RegExp;
}

const VENDORS: readonly Vendor[] = [
  { data: "anthropic", name: "anthropic", batch: "0.5" },
  { data: "openai", name: "openai", batch: "0.5", only: /^(?!gpt-oss)/ },
  { data: "google", name: "gemini", batch: "0.5", only: /^(?:gemini|gemma|text-embedding|imagen)/ },
  { data: "x-ai", name: "xai" },
  { data: "mistral", name: "mistral", batch: "0.5" },
  { data: "deepseek", name: "deepseek" },
  { data: "groq", name: "groq", batch: "0.5" },
  { data: "cerebras", name: "cerebras" },
  { data: "cohere", name: "cohere" },
  { data: "moonshotai", name: "moonshot" },
  { data: "zai", name: "zai" },
  { data: "minimax", name: "minimax" },
  { data: "perplexity", name: "perplexity" },
  { data: "together", name: "together", batch: "0.5" },
  { data: "fireworks", name: "fireworks", batch: "0.5" },
];

const [asOf] = process.argv.slice(2);
if (asOf === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(asOf))
  throw new Error("Name the day of the data: npm run refresh-prices -- 2026-09-23");

const blocks = VENDORS.map(({ data, name, batch = "", only }) => {
  const provider = findProvider({ providerId: data });
  if (provider === undefined) throw new Error(`The data has no provider ${data}.`);
  const lines = provider.models
    .filter(({ id }) => only === undefined || only.test(id))
    .map((model) => lineOf(model, asOf))
    .filter((line) => line !== undefined);
  return [`@${name}|${batch}`, ...lines].join("\n");
});
const text = blocks.join("\n");
if (/[`\\$]/.test(text)) throw new Error("The data holds a character that would have to be escaped.");

const file = join(root, "packages/runtime/src/providers/prices.gen.ts");
writeFileSync(
  file,
  `// Made by tools/refresh-prices.ts from the data of @pydantic/genai-prices (MIT), which reads the vendors' public price pages.

/** The day the prices were read. */
export const PRICES_AS_OF = "${asOf}";

/**
 * By vendor: \`@vendor|batch factor\`, then a line for each model: names (\`*\` stands for any text)|context window|input|output|
 * cache read|cache write|longer than:input,output,cache read,cache write. US dollars per million tokens.
 */
export const PRICES = \`
${text}
\`;
`,
);
console.log(`${file}: ${text.split("\n").length - VENDORS.length} models of ${VENDORS.length} vendors, ${Buffer.byteLength(text)} bytes`);

/** One model; \`undefined\` for one that isn't paid by the token. */
function lineOf(model: ModelInfo, day: string): string | undefined {
  const prices = pricesOn(model.prices, day);
  const rates = ["input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"].map((key) => prices[key]);
  const [input, output] = rates;
  if (input === undefined && output === undefined) return undefined;
  const base = rates.map((rate) => decimal(typeof rate === "object" ? rate.base : rate));
  const tiered = rates.filter((rate) => typeof rate === "object");
  const starts = new Set(tiered.flatMap(({ tiers }) => tiers.map(({ start }) => start)));
  if (starts.size > 1 || tiered.some(({ tiers }) => tiers.length !== 1))
    throw new Error(`${model.id} has several tiers: our table has room for one.`);
  const [start] = starts;
  const long = start === undefined ? "" : `${start}:${rates.map((rate) => decimal(priceAbove(rate))).join(",")}`;
  const names = [...new Set([model.id, ...namesIn(model.match)].map((name) => name.toLowerCase()))];
  const told = names.filter((name) => !names.some((other) => other !== name && covers(other, name)));
  return [told.join(" "), model.context_window ?? "", ...base, long].join("|").replace(/\|+$/, "");
}

/** What holds on this day; where the price depends on the hour, the dearest. */
function pricesOn(prices: ConditionalPrice[] | ModelPrice, day: string): ModelPrice {
  if (!Array.isArray(prices)) return prices;
  const begun = prices.filter(
    ({ constraint }) => constraint === undefined || (constraint.type === "start_date" && constraint.start_date <= day),
  );
  const dearest = (some: readonly ConditionalPrice[]): ModelPrice =>
    some.map((each) => each.prices).reduce((a, b) => (Number(b["output_mtok"] ?? 0) > Number(a["output_mtok"] ?? 0) ? b : a));
  const byHour = prices.filter(({ constraint }) => constraint?.type === "time_of_date");
  const newest = begun.at(-1);
  if (newest === undefined) throw new Error("A model has no price on that day.");
  return byHour.length === 0 ? newest.prices : dearest([newest, ...byHour]);
}

function priceAbove(rate: number | TieredPrices | undefined): number | undefined {
  return typeof rate === "object" ? rate.tiers[0]?.price : rate;
}

function decimal(amount: number | undefined): string {
  if (amount === undefined) return "";
  const text = amount.toFixed(9).replace(/\.?0+$/, "");
  if (Number(text) !== amount) throw new Error(`The price ${amount} has more than nine decimals.`);
  return text;
}

/** The names that a rule of the data takes. Dates need none: our lookup leaves them out. */
function namesIn(match: MatchLogic): readonly string[] {
  if ("or" in match) return match.or.flatMap(namesIn);
  // What else must hold tells speech models apart, which have lines of their own.
  if ("and" in match) return match.and.filter((each) => !("regex" in each)).flatMap(namesIn);
  if ("equals" in match) return [match.equals];
  if ("starts_with" in match) return [`${match.starts_with}*`];
  if ("ends_with" in match) return [`*${match.ends_with}`];
  if ("contains" in match) return [`*${match.contains}*`];
  const dated = /^\^(.+)-(?:\\d\{8\}|\\d\{4\}-\\d\{2\}-\\d\{2\})\$$/.exec(match.regex)?.[1];
  if (dated !== undefined) return [dated.replaceAll("\\.", ".")];
  const numbered = /^\^(.+)-\\d$/.exec(match.regex)?.[1];
  if (numbered !== undefined) return [`${numbered.replaceAll("\\.", ".")}-*`];
  throw new Error(`The rule ${match.regex} can't be put into our words.`);
}

/** Whether a pattern takes all that another name takes. */
function covers(pattern: string, name: string): boolean {
  const [start = "", end] = pattern.split("*");
  return end === "" && pattern.indexOf("*") === pattern.length - 1 && name.startsWith(start) && name !== `${start}*`;
}
