import fc from "fast-check";
import type { Query } from "@keelson/protocol";
import { asJson } from "./combinators.ts";
import { jsonObject, text } from "./values.ts";

export const query: fc.Arbitrary<Query> = asJson<Query>(fc.record({ name: text, params: jsonObject }));
