import { parseJson } from "../../json/parse-json.ts";
import type { StateEntry } from "../kit/state-entry.ts";

/** The members of a file, as they were read. */
export type EntryFields = { readonly [name: string]: unknown };

/** The form of the files that a store in a folder keeps its values in. */
export interface EntryFormat {
  readonly name: "json" | "markdown";
  /** The end of their names. */
  readonly extension: ".json" | ".md";
  /** Returns the text of the file of an entry. */
  write(key: string, entry: StateEntry): string;
  /** Returns what the text of a file contains. Throws an `Error` with the reason if it cannot be read. */
  read(text: string): EntryFields;
}

/** An object with the key, the value and what else is known of it. */
const JSON_FORMAT: EntryFormat = {
  name: "json",
  extension: ".json",
  write: (key, { value, ...others }) =>
    `${JSON.stringify({ ...fieldsOf(key, others), value: JSON.parse(value) as unknown }, undefined, 2)}\n`,
  read: (text) => (parseJson(text) as EntryFields | null) ?? {},
};

const FRONT_MATTER = /^---\r?\n([\s\S]*?)\r?\n?---\r?\n(?:\r?\n)?/;
const JSON_BLOCK = /^```json\r?\n([\s\S]*?)\r?\n?```\s*$/;

/**
 * Front matter with a line of JSON for the key and what else is known of it, then the value: text as it is, any other value as a block of JSON,
 * which the line `type: "json"` marks.
 */
const MARKDOWN_FORMAT: EntryFormat = {
  name: "markdown",
  extension: ".md",
  write(key, { value, ...others }) {
    const parsed = JSON.parse(value) as unknown;
    // A text that UTF-8 cannot hold, with half of a surrogate pair, is kept as JSON, which escapes it.
    const isText = typeof parsed === "string" && parsed.isWellFormed();
    const fields = { ...fieldsOf(key, others), ...(!isText && { type: "json" }) };
    const lines = Object.entries(fields).flatMap(([name, field]) => (field === undefined ? [] : [`${name}: ${JSON.stringify(field)}`]));
    const body = isText ? parsed : `\`\`\`json\n${JSON.stringify(parsed, undefined, 2)}\n\`\`\``;
    return `---\n${lines.join("\n")}\n---\n\n${body}\n`;
  },
  read(text) {
    const front = FRONT_MATTER.exec(text);
    if (front === null) throw new Error("it does not begin with front matter between two lines of ---");
    const fields = Object.fromEntries(
      (front[1] ?? "")
        .split(/\r?\n/)
        .filter((line) => line.trim() !== "")
        .map(readField),
    );
    // A carriage return before the last line feed belongs to the value, unless the lines of the file end with both.
    const lastBreak = front[0].startsWith("---\r\n") ? /\r?\n$/ : /\n$/;
    const body = text.slice(front[0].length).replace(lastBreak, "");
    if (fields["type"] !== "json") return { ...fields, value: body };
    const block = JSON_BLOCK.exec(body);
    if (block === null) throw new Error('its type is "json", but its text is no block of JSON');
    return { ...fields, value: parseJson(block[1] ?? "") };
  },
};

/** The formats by their names. */
export const ENTRY_FORMATS: { readonly [name in EntryFormat["name"]]: EntryFormat } = { json: JSON_FORMAT, markdown: MARKDOWN_FORMAT };

function fieldsOf(key: string, { metadata, ...others }: Omit<StateEntry, "value">): { readonly [name: string]: unknown } {
  return { key, ...others, metadata: metadata === undefined ? undefined : (JSON.parse(metadata) as unknown) };
}

function readField(line: string): readonly [name: string, value: unknown] {
  const colon = line.indexOf(":");
  if (colon < 1) throw new Error(`the line "${line}" of its front matter has no name with a colon`);
  return [line.slice(0, colon).trim(), parseJson(line.slice(colon + 1))];
}
