import { REDACTED } from "../../transport/redactor.ts";

/** Takes values out of text that comes in pieces; one that lies across pieces is found as well. */
export interface ValueHider {
  /** @returns what can be told by now */
  push(text: string): string;
  /** @returns the rest */
  end(): string;
}

/** What is shorter stands in too many other words to be a secret. */
const LEAST_LENGTH = 4;

/** Hides the values, whole, and as JSON, URLs, base64 and hex spell them. What a program does to a value beyond that is not known here. */
export function createValueHider(values: readonly string[]): ValueHider {
  const spellings = [...new Set(values.filter((value) => value.length >= LEAST_LENGTH).flatMap(spellingsOf))].sort(
    (a, b) => b.length - a.length,
  );
  const beginnings = new Set(spellings.map((spelling) => spelling[0]));
  let held = "";

  /** From left to right, the longest spelling at each place: what comes of it is the same whatever the pieces are. */
  const take = (text: string, isEnd: boolean): string => {
    held += text;
    let told = "";
    let from = 0;
    let at = 0;
    while (at < held.length) {
      if (beginnings.has(held[at])) {
        const rest = held.length - at;
        const mayStillCome = !isEnd && spellings.some((spelling) => spelling.length > rest && held.endsWith(spelling.slice(0, rest)));
        if (mayStillCome) break;
        const found = spellings.find((spelling) => held.startsWith(spelling, at));
        if (found !== undefined) {
          told += held.slice(from, at) + REDACTED;
          at += found.length;
          from = at;
          continue;
        }
      }
      at++;
    }
    told += held.slice(from, at);
    held = held.slice(at);
    return told;
  };

  return { push: (text) => take(text, false), end: () => take("", true) };
}

function spellingsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const base64 = bytes.toString("base64");
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    base64,
    base64.replace(/=+$/, ""),
    bytes.toString("base64url"),
    bytes.toString("hex"),
    // With the line break that `echo` adds.
    Buffer.from(`${value}\n`, "utf8").toString("base64"),
  ];
}
