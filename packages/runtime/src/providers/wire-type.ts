import type { JsonValue } from "@keelson/protocol";

/** An object of a response, by the members that a decoder reads. What stands in them is checked where it is read. */
export type Reads<Member extends string> = { readonly [M in Member]?: unknown };

declare const echoed: unique symbol;

/** What a vendor said itself and gets back as it was: its shape is the vendor's affair. */
export interface Echo {
  readonly [echoed]: true;
  /** It can stand in a union with the objects that are told apart so. */
  readonly type?: never;
}

export function echo(value: JsonValue): Echo {
  // The mark is for the compiler alone: no value has it.
  return value as unknown as Echo;
}

/**
 * `Shape`, unless `T` has members that `Shape` has not: the compiler lets those pass where they come by a spread. Use:
 * `const made = { … } satisfies Shape; return made satisfies Exactly<typeof made, Shape>`.
 */
export type Exactly<T, Shape> = Shape & { readonly [K in Exclude<keyof T, keyof Shape>]: never };
