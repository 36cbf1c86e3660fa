import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { KNOWN_VENDORS } from "../openai-compatible/vendors.ts";
import { compatibleRules } from "./rules/compatible.ts";
import { WIRE_RULES } from "./unfit-tools.ts";
import type { NameRule, WireRules } from "./wire-rules.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../../../../docs/vendors.md"), "utf8");

/** The row of a vendor in the page. */
function rowOf(name: string, { names, schemas }: WireRules): string {
  const conditions = [
    schemas.references === "inline" ? "definitions in the place of references" : "references into `$defs`",
    ...(schemas.patterns === "portable" ? ["portable patterns"] : []),
    ...(schemas.tuples === "lower" ? ["lists in the place of tuples"] : []),
    ...(schemas.typeInAlternatives === true ? ["types within alternatives"] : []),
    ...(schemas.typed === true ? ["a type everywhere"] : []),
    ...(schemas.without === undefined ? [] : [`no ${schemas.without.map((keyword) => `\`${keyword}\``).join(", ")}`]),
    `${schemas.maxDepth} levels`,
  ];
  return `| ${name} | \`${patternOf(names)}\` | ${schemas.keys === undefined ? "any" : `\`${patternOf(schemas.keys)}\``} | ${conditions.join("; ")} |`;
}

function patternOf({ first, rest, maxLength }: NameRule): string {
  return first === rest ? `[${first}]{1,${maxLength}}` : `[${first}][${rest}]{0,${maxLength - 1}}`;
}

const ORDINARY = compatibleRules("");

const ROWS = [
  ...Object.entries(WIRE_RULES).map(([wire, rules]) => [`\`${wire}\``, rules] as const),
  ["any other vendor of the chat wire", ORDINARY] as const,
  ...KNOWN_VENDORS.map((vendor) => [vendor, compatibleRules(vendor)] as const).filter(([, rules]) => rules !== ORDINARY),
];

it.each(ROWS)("the page on vendors has the row of %s", (name, rules) => {
  expect(page).toContain(rowOf(name, rules));
});

it("the page on vendors names each source once", () => {
  const sources = new Set(ROWS.flatMap(([, rules]) => rules.sources));
  expect([...sources].filter((source) => page.split(`<${source}>`).length !== 2)).toEqual([]);
});
