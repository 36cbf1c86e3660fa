import type { ApprovalRequest, AskedBudget, Decision } from "@keelson/protocol";
import { parseJson } from "keelson/tools";

/** What a typed answer means: a decision, the wish to say more, or nothing that is known. */
export type Answer =
  | { readonly type: "decided"; readonly decision: Decision }
  | { readonly type: "edit" | "always" | "amount" }
  /** The line after it says why not, or what the output was. */
  | { readonly type: "words"; readonly of: "deny" | "fail" | "supply" }
  | { readonly type: "unclear"; readonly hint: string };

type Asked = Pick<ApprovalRequest, "type" | "always" | "budget">;

interface Choice {
  readonly key: string;
  readonly word: string;
  /** How it is shown, with its key in brackets. */
  readonly label: string;
  readonly answer: Exclude<Answer, { readonly type: "unclear" }>;
}

const ALWAYS: Choice = { key: "a", word: "always", label: "[a]lways", answer: { type: "always" } };
const ABORT: Choice = { key: "b", word: "abort", label: "a[b]ort", answer: { type: "decided", decision: { type: "abort" } } };

const APPROVAL: readonly Choice[] = [
  { key: "y", word: "yes", label: "[y]es", answer: { type: "decided", decision: { type: "allow" } } },
  { key: "n", word: "no", label: "[n]o", answer: { type: "decided", decision: { type: "deny" } } },
  { key: "w", word: "why", label: "[w]hy not", answer: { type: "words", of: "deny" } },
  ALWAYS,
  { key: "e", word: "edit", label: "[e]dit", answer: { type: "edit" } },
  ABORT,
];

const BUDGET: readonly Choice[] = [
  { key: "y", word: "yes", label: "[y]es", answer: { type: "decided", decision: { type: "allow" } } },
  { key: "o", word: "other", label: "an[o]ther amount", answer: { type: "amount" } },
  { key: "n", word: "no", label: "[n]o, end here", answer: { type: "decided", decision: { type: "deny" } } },
  ABORT,
];

const UNKNOWN_STATE: readonly Choice[] = [
  { key: "r", word: "retry", label: "[r]etry", answer: { type: "decided", decision: { type: "retry" } } },
  { key: "s", word: "supply", label: "[s]upply its output", answer: { type: "words", of: "supply" } },
  { key: "f", word: "fail", label: "[f]ail", answer: { type: "decided", decision: { type: "fail" } } },
  { key: "w", word: "why", label: "[w]hy it failed", answer: { type: "words", of: "fail" } },
  ABORT,
];

function choicesOf({ type, always = [], budget }: Asked): readonly Choice[] {
  if (budget !== undefined) return BUDGET;
  if (type === "decision") return UNKNOWN_STATE;
  return always.length > 0 ? APPROVAL : APPROVAL.filter((choice) => choice !== ALWAYS);
}

/** The choices as they are shown, in so many columns: with their words where there is room. */
export function questionPrompt(question: Asked, columns: number): string {
  const choices = choicesOf(question);
  const words = choices.map(({ label }) => label).join(" ");
  // Some room is left for the answer.
  return words.length + 12 <= columns ? `${words} › ` : `[${choices.map(({ key }) => key).join("/")}] › `;
}

/** Reads an answer: one letter or its whole word, and nothing else. Whatever is longer was meant for somebody else. */
export function readAnswer(question: Asked, line: string): Answer {
  const choices = choicesOf(question);
  const given = line.trim().toLowerCase();
  const choice = choices.find(({ key, word }) => given === key || given === word);
  if (choice !== undefined) return choice.answer;
  const words = choices.map(({ key, word }) => `${key} (${word})`);
  return { type: "unclear", hint: `answer with one of ${words.join(", ")}, and Enter; /why says what decided that it is asked` };
}

/** Reads an amount that is added to a limit: `2.50`, `$2.50`, or whole tokens. @throws SyntaxError if it is no amount above 0 */
export function readAmount({ unit }: Pick<AskedBudget, "unit">, line: string): Decision {
  const text = line.trim();
  if (unit === "tokens") {
    const tokens = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (tokens === 0) throw new SyntaxError("write a whole number of tokens above 0, such as 50000");
    return { type: "allow-modified", input: { tokens } };
  }
  const { dollars = "" } = /^\$?(?<dollars>\d{1,9}(?:\.\d{1,6})?)$/.exec(text)?.groups ?? {};
  if (!/[1-9]/.test(dollars)) throw new SyntaxError("write an amount of dollars above 0, such as 2.50");
  return { type: "allow-modified", input: { usd: dollars } };
}

/** Arguments that a person edited; integers keep their digits. @throws SyntaxError when they are no JSON */
export function readEdited(line: string): Decision {
  return { type: "allow-modified", input: parseJson(line) };
}
