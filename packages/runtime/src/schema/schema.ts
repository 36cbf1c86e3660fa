import type { SelfDescribing, StandardSchema } from "./standard-schema.ts";

/** A plain JSON Schema (draft 2020-12; the common words of draft 7 are understood too). */
export interface JsonSchema {
  readonly "type"?: string | readonly string[];
  readonly "properties"?: { readonly [key: string]: unknown };
  readonly "~standard"?: never;
  readonly [keyword: string]: unknown;
}

/**
 * A schema whose values have the type `Out` and that models can be told about: a Standard Schema that describes itself as
 * JSON Schema (Zod 4, ArkType), or one that cannot (Valibot) paired with its JSON Schema. Where no type is needed, a
 * plain {@link JsonSchema} serves as well.
 */
export type Schema<Out> =
  | (StandardSchema<unknown, Out> & SelfDescribing)
  | { readonly schema: StandardSchema<unknown, Out>; readonly jsonSchema: JsonSchema };
