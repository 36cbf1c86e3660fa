#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { balancesOf } from "./balances.js";
import { formatAmount } from "./money.js";
import { settle } from "./settle.js";
import { parseTab } from "./tab.js";

/**
 * The report of a tab: a line for each balance, then a line for each payment.
 * @param {string} text
 * @returns {string}
 */
export function report(text) {
  const balances = balancesOf(parseTab(text));
  const width = Math.max(...[...balances.keys()].map((name) => name.length));
  const lines = [...balances].map(([name, cents]) => `${name.padEnd(width)} ${formatAmount(cents, { sign: true }).padStart(10)}`);
  const payments = settle(balances).map(({ from, to, cents }) => `${from} pays ${to} ${formatAmount(cents)}`);
  return [...lines, "", ...payments].join("\n");
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [path] = process.argv.slice(2);
  if (path === undefined) {
    console.error("usage: shared-tab <file>");
    process.exitCode = 2;
  } else {
    console.log(report(await readFile(path, "utf8")));
  }
}
