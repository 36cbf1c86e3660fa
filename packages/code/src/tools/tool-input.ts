import type { JsonObject } from "@keelson/protocol";
import type { Schema } from "keelson/tools";

/** One argument of a tool. */
export interface Field<T, Required extends boolean = boolean> {
  readonly schema: JsonObject;
  readonly required: Required;
  /** What is wrong with a value, or the value. */
  parse(value: unknown): { readonly value: T } | { readonly issue: string };
}

type Fields = { readonly [name: string]: Field<unknown> };
type InputOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Field<unknown, true> ? K : never]: F[K] extends Field<infer T> ? T : never;
} & {
  readonly [K in keyof F as F[K] extends Field<unknown, true> ? never : K]?: F[K] extends Field<infer T> ? T : never;
};

export function text(description: string): Field<string, true> {
  return {
    schema: { type: "string", description },
    required: true,
    parse: (value) => (typeof value === "string" ? { value } : { issue: "must be a string" }),
  };
}

/** Models also write 50 as "50" or 50.0. */
export function integer(
  description: string,
  { minimum, maximum }: { readonly minimum: number; readonly maximum?: number },
): Field<number, true> {
  return {
    schema: { type: "integer", description, minimum, ...(maximum !== undefined && { maximum }) },
    required: true,
    parse(value) {
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
      if (typeof number !== "number" || !Number.isInteger(number)) return { issue: "must be a whole number" };
      if (number < minimum) return { issue: `must be at least ${minimum}` };
      return maximum !== undefined && number > maximum ? { issue: `must be at most ${maximum}` } : { value: number };
    },
  };
}

export function flag(description: string): Field<boolean, true> {
  return {
    schema: { type: "boolean", description },
    required: true,
    parse(value) {
      if (value === "true" || value === "false") return { value: value === "true" };
      return typeof value === "boolean" ? { value } : { issue: "must be true or false" };
    },
  };
}

/** Models also write a list of one value as that value. */
export function list<T>(description: string, field: Field<T>): Field<readonly T[], true> {
  return {
    schema: { type: "array", description, items: field.schema },
    required: true,
    parse(value) {
      const parsed = (Array.isArray(value) ? value : [value]).map((item: unknown) => field.parse(item));
      const wrong = parsed.find((item) => "issue" in item);
      if (wrong !== undefined && "issue" in wrong) return { issue: `must be a list, each of which ${wrong.issue}` };
      return { value: parsed.flatMap((item) => ("value" in item ? [item.value] : [])) };
    },
  };
}

/** An object with fields of its own. */
export function record<const F extends Fields>(description: string, fields: F): Field<InputOf<F>, true> {
  const { jsonSchema, validate } = objectOf(fields);
  return {
    schema: { ...jsonSchema, description },
    required: true,
    parse(given) {
      const { issues, value } = validate(given);
      if (issues === undefined) return { value };
      const [{ message, path }] = issues as [{ readonly message: string; readonly path?: readonly string[] }];
      return { issue: path === undefined ? message : `has a member ${path.join(".")} that ${message}` };
    },
  };
}

export function choice<const T extends string>(description: string, values: readonly T[]): Field<T, true> {
  return {
    schema: { type: "string", description, enum: values },
    required: true,
    parse: (value) => (values.includes(value as T) ? { value: value as T } : { issue: `must be one of ${values.join(", ")}` }),
  };
}

/** May be left out, or `null`. */
export function optional<T>(field: Field<T>): Field<T, false> {
  return { ...field, required: false };
}

/** The input of a tool: described to the model, checked, and typed by one declaration. */
export function toolInput<const F extends Fields>(fields: F): Schema<InputOf<F>> {
  const { jsonSchema, validate } = objectOf(fields);
  return { schema: { "~standard": { version: 1, vendor: "keelson", validate } }, jsonSchema };
}

type Validated<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly value?: undefined; readonly issues: readonly { readonly message: string; readonly path?: readonly string[] }[] };

function objectOf<const F extends Fields>(
  fields: F,
): { readonly jsonSchema: JsonObject; readonly validate: (input: unknown) => Validated<InputOf<F>> } {
  const names = Object.keys(fields);
  const required = names.filter((name) => fields[name]?.required);
  const jsonSchema = {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, fields[name]?.schema])),
    required,
    additionalProperties: false,
  };

  const validate = (input: unknown): Validated<InputOf<F>> => {
    if (typeof input !== "object" || input === null || Array.isArray(input))
      return { issues: [{ message: `must be an object with ${names.join(", ")}` }] };
    const issues: { message: string; path: readonly string[] }[] = [];
    const value: { [name: string]: unknown } = {};
    for (const name of Object.keys(input))
      if (!Object.hasOwn(fields, name)) issues.push({ message: `is not an argument; there are ${names.join(", ")}`, path: [name] });
    for (const name of names) {
      const field = fields[name] as Field<unknown>;
      const given = (input as { readonly [name: string]: unknown })[name];
      if (given === undefined || (given === null && !field.required)) {
        if (field.required) issues.push({ message: "is missing", path: [name] });
        continue;
      }
      const parsed = field.parse(given);
      if ("issue" in parsed) issues.push({ message: parsed.issue, path: [name] });
      else value[name] = parsed.value;
    }
    return issues.length > 0 ? { issues } : { value: value as InputOf<F> };
  };
  return { jsonSchema, validate };
}
