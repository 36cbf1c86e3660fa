import fc from "fast-check";
import type { Digest, JsonObject, JsonValue } from "@keelson/protocol";
import { asJson } from "./combinators.ts";

export const text: fc.Arbitrary<string> = fc.string({ unit: "grapheme", maxLength: 8 });
export const id: fc.Arbitrary<string> = text;
export const json: fc.Arbitrary<JsonValue> = asJson(fc.jsonValue({ maxDepth: 2 }));
export const jsonObject: fc.Arbitrary<JsonObject> = asJson(fc.dictionary(fc.constantFrom("a", "b", "c"), json, { maxKeys: 3 }));
export const count: fc.Arbitrary<number> = fc.nat({ max: 1_000_000 });
export const at: fc.Arbitrary<number> = fc.nat({ max: 2 ** 45 });
export const flag: fc.Arbitrary<boolean> = fc.boolean();
export const ratio: fc.Arbitrary<number> = fc.constantFrom(0, 0.25, 1);

export const digest: fc.Arbitrary<Digest> = fc
  .string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 })
  .map((hex) => `sha256:${hex}` as Digest);
