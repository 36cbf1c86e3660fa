/** A Markdown file with fields between two lines of `---` at its begin. */
export interface FrontMatter {
  /** Texts, and lists of texts, by name. */
  readonly fields: { readonly [name: string]: string | readonly string[] };
  /** The text behind the fields. */
  readonly body: string;
  /** Lines that are not understood, each with the reason. */
  readonly problems: readonly string[];
}

const FIELD = /^(?<name>[A-Za-z][\w-]*):(?:[ \t]+(?<value>.*))?$/;
const NOT_READ = "only texts and lists are read here";

/**
 * Reads the fields of a Markdown file. They are a small part of YAML: texts, with or without quotes or in a block (`|`, `>`), and lists, in
 * brackets or with hyphens. Anything else is a problem and no field.
 */
export function parseFrontMatter(text: string): FrontMatter {
  const plain = text.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
  const lines = plain.split("\n");
  const end = lines[0]?.trimEnd() === "---" ? lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---") : -1;
  if (end < 0) return { fields: {}, body: plain.trim(), problems: [] };
  const fields = new Map<string, string | readonly string[]>();
  const problems: string[] = [];
  for (let at = 1; at < end; at++) {
    const line = (lines[at] as string).trimEnd();
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const { name, value = "" } = FIELD.exec(line)?.groups ?? {};
    if (name === undefined) {
      problems.push(`line ${at + 1} is no field: ${NOT_READ}`);
      continue;
    }
    const below: string[] = [];
    while (at + 1 < end && /^(?:\s|$|- )/.test(lines[at + 1] as string)) below.push(lines[++at] as string);
    const read = readValue(value.trim(), below);
    if (read === undefined) problems.push(`${name}: ${NOT_READ}`);
    else fields.set(name, read);
  }
  return {
    fields: Object.fromEntries(fields),
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
    problems,
  };
}

function readValue(value: string, below: readonly string[]): string | readonly string[] | undefined {
  const more = below.filter((line) => line.trim() !== "");
  if (/^[|>][+-]?$/.test(value)) return readBlock(below, value.startsWith("|") ? "\n" : " ");
  if (value === "" || value.startsWith("#")) {
    if (more.length === 0) return "";
    return more.every((line) => /^\s*- /.test(line)) ? more.map((line) => readText(line.replace(/^\s*- /, "").trim()) ?? "") : undefined;
  }
  if (value.startsWith("[")) {
    const inside = /^\[(.*)\](?:\s+#.*)?$/.exec([value, ...more.map((line) => line.trim())].join(" "))?.[1];
    return inside === undefined ? undefined : splitList(inside);
  }
  // A text may go on in lines that begin with blanks.
  const whole = [value, ...more.map((line) => line.trim())].join(" ");
  return readText(whole);
}

function readBlock(below: readonly string[], joint: string): string {
  const indent = Math.min(...below.filter((line) => line.trim() !== "").map((line) => /^\s*/.exec(line)?.[0].length ?? 0));
  return below
    .map((line) => line.slice(Number.isFinite(indent) ? indent : 0).trimEnd())
    .join(joint)
    .trim();
}

/** A text without its quotes and without a comment behind it. @returns `undefined` for what is no text */
function readText(value: string): string | undefined {
  const double = /^"((?:[^"\\]|\\.)*)"(?:\s+#.*)?$/.exec(value)?.[1];
  if (double !== undefined) return double.replaceAll(/\\(.)/g, (_, sign: string) => (sign === "n" ? "\n" : sign === "t" ? "\t" : sign));
  const single = /^'((?:[^']|'')*)'(?:\s+#.*)?$/.exec(value)?.[1];
  if (single !== undefined) return single.replaceAll("''", "'");
  if (/^["'{&*!%@`]/.test(value)) return undefined;
  return value.replace(/\s+#.*$/, "");
}

/** The parts between commas that are in no quotes and no parentheses. */
export function splitList(text: string): readonly string[] {
  const parts: string[] = [];
  let part = "";
  let depth = 0;
  let quote = "";
  for (const sign of text) {
    if (quote !== "") quote = sign === quote ? "" : quote;
    else if ((sign === '"' || sign === "'") && part.trim() === "") quote = sign;
    else if (sign === "(") depth++;
    else if (sign === ")") depth = Math.max(0, depth - 1);
    if (sign === "," && depth === 0 && quote === "") {
      parts.push(part);
      part = "";
    } else part += sign;
  }
  return [...parts, part].map((one) => readText(one.trim()) ?? one.trim()).filter((one) => one !== "");
}
