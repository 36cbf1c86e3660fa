/** What survives `JSON.stringify` and `JSON.parse` unchanged. An `undefined` member is left out on the way. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** `T` when `T` survives JSON; a type that no value has otherwise. Accepts interfaces, unlike `T extends JsonValue`. */
export type Json<T> = T extends string | number | boolean | null | undefined | void
  ? T
  : T extends bigint | symbol | ((...args: never[]) => unknown)
    ? never
    : T extends readonly (infer E)[]
      ? readonly Json<E>[]
      : T extends Date | Map<unknown, unknown> | Set<unknown> | Uint8Array
        ? never
        : T extends object
          ? { readonly [K in keyof T]: Json<T[K]> }
          : never;
