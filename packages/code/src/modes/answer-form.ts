import type { JsonObject, JsonValue } from "@keelson/protocol";
import { isInexactInteger } from "keelson/tools";

/** One line of a form that a tool asks a person to fill in. */
export interface FormField {
  /** In the value; absent where the value is this field alone. */
  readonly name?: string;
  /** For the person: text of whoever asks. */
  readonly label: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** What the line begins with. */
  readonly start: string;
}

export type ReadField = { readonly value: JsonValue } | { readonly left: true } | { readonly problem: string };

/** The fields of a flat schema, in their order. @returns nothing for one that is more than lines can hold */
export function formFields(schema: JsonObject): readonly FormField[] | undefined {
  if (schema["type"] !== "object") return isPlain(schema) ? [fieldOf(undefined, schema, true)] : undefined;
  const properties = Object.entries((schema["properties"] ?? {}) as { readonly [name: string]: JsonObject });
  const required = (schema["required"] ?? []) as readonly string[];
  if (properties.length === 0 || !properties.every(([, property]) => isPlain(property))) return undefined;
  return properties.map(([name, property]) => fieldOf(name, property, required.includes(name)));
}

function isPlain(schema: JsonObject): boolean {
  return Array.isArray(schema["enum"]) || ["string", "number", "integer", "boolean"].includes(String(schema["type"]));
}

function fieldOf(name: string | undefined, schema: JsonObject, isRequired: boolean): FormField {
  const label = [schema["title"] ?? name ?? "answer", schema["description"]].filter((part) => typeof part === "string").join(": ");
  const start = schema["default"] === undefined ? "" : written(schema["default"]);
  return { ...(name !== undefined && { name }), label, schema, isRequired, start };
}

function written(value: JsonValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What may be typed into a field. */
export function fieldHint({ schema, isRequired }: FormField): string {
  const choices = schema["enum"] as readonly JsonValue[] | undefined;
  const kind = choices?.map(written).join("/") ?? (schema["type"] === "boolean" ? "yes/no" : String(schema["type"]));
  return isRequired ? kind : `${kind}, may be left empty`;
}

/** Reads a line as the value of a field; whether it fits in all else is checked where the question is decided. */
export function readField({ schema, isRequired }: FormField, line: string): ReadField {
  const given = line.trim();
  const choices = schema["enum"] as readonly JsonValue[] | undefined;
  if (given === "" && !isRequired) return { left: true };
  if (choices !== undefined) {
    const chosen = choices.find((choice) => written(choice) === given);
    return chosen === undefined ? { problem: `one of ${choices.map(written).join(", ")}` } : { value: chosen };
  }
  switch (schema["type"]) {
    case "boolean":
      if (/^(y|yes|true)$/i.test(given)) return { value: true };
      return /^(n|no|false)$/i.test(given) ? { value: false } : { problem: "yes or no" };
    case "integer":
      return /^[+-]?\d+$/.test(given) ? readNumber(given) : { problem: "a whole number" };
    case "number":
      return given !== "" && Number.isFinite(Number(given)) ? readNumber(given) : { problem: "a number" };
    default:
      return given === "" ? { problem: "something: it is needed" } : { value: line };
  }
}

/** A rounded id would be the id of another thing. */
function readNumber(given: string): ReadField {
  if (isInexactInteger(given.replace(/^\+/, ""))) return { problem: `a number of fewer digits: a number does not keep those of ${given}` };
  return { value: Number(given) };
}

/** What a form that is filled in comes to. */
export function formValue(fields: readonly FormField[], values: readonly ReadField[]): JsonValue {
  const [first] = fields;
  if (first !== undefined && first.name === undefined)
    return "value" in (values[0] ?? {}) ? (values[0] as { value: JsonValue }).value : null;
  return Object.fromEntries(
    fields.flatMap(({ name }, index) => {
      const read = values[index];
      return name !== undefined && read !== undefined && "value" in read ? [[name, read.value] as const] : [];
    }),
  );
}

/** A value of this shape, to be written over. */
export function exampleAnswer(schema: JsonObject): JsonValue {
  const fields = formFields(schema);
  if (fields === undefined) return {};
  const examples = fields.map(({ schema: { default: start, enum: choices, type } }): ReadField => {
    if (start !== undefined) return { value: start };
    if (Array.isArray(choices)) return { value: choices[0] ?? null };
    return { value: type === "boolean" ? true : type === "string" ? "…" : 0 };
  });
  return formValue(fields, examples);
}
