import fc from "fast-check";
import { asJson } from "./combinators.ts";
import { json } from "./values.ts";

/** One arbitrary for each member of a union, so that a new member does not compile without one. */
export type Members<U extends { readonly type: unknown }> = { readonly [K in Exclude<U["type"], "other"> & string]: fc.Arbitrary<unknown> };

export const oneMember = <U>(members: Readonly<Record<string, fc.Arbitrary<unknown>>>, other = true): fc.Arbitrary<U> =>
  asJson<U>(
    fc.oneof(
      ...Object.entries(members).map(([type, rest]) => rest.map((fields) => ({ type, ...(fields as object) }))),
      ...(other
        ? [fc.record({ type: fc.constantFrom("from-the-future", "hologram"), text: json }).map((raw) => ({ type: "other", raw }))]
        : []),
    ),
  );
