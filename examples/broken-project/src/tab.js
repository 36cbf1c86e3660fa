import { parseAmount } from "./money.js";

const EXPENSE = /^(\S+) paid (\S+) for ([^:]+?)(?:\s*:\s*(.*))?$/;

/**
 * @typedef {{ payer: string, cents: number, people: string[], remark: string }} Expense
 */

/**
 * Reads a tab. Empty lines and lines that start with `#` are skipped.
 * @param {string} text
 * @returns {Expense[]}
 */
export function parseTab(text) {
  const lines = text.split(/\r?\n/).map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const expenses = lines
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ line, number }) => parseExpense(line, number));

  const everyone = namesIn(expenses);
  return expenses.map((expense) => (isForEveryone(expense) ? { ...expense, people: everyone } : expense));
}

function parseExpense(line, number) {
  const match = EXPENSE.exec(line);
  if (match === null) throw new Error(`line ${number}: expected "<name> paid <amount> for <names>", found "${line}"`);
  const [, payer, amount, names, remark = ""] = match;
  const people = names.split(",").map((name) => name.trim()).filter((name) => name !== "");
  return { payer, cents: parseAmount(amount), people, remark };
}

function namesIn(expenses) {
  const names = new Set();
  for (const expense of expenses) {
    names.add(expense.payer);
    if (!isForEveryone(expense)) for (const name of expense.people) names.add(name);
  }
  return [...names];
}

function isForEveryone(expense) {
  return expense.people.length === 1 && expense.people[0] === "everyone";
}
