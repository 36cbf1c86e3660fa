import fc from "fast-check";
import type { SerializedError } from "@keelson/protocol";
import { asJson, some } from "./combinators.ts";
import { count, flag, text } from "./values.ts";

export const failure: fc.Arbitrary<unknown> = some({ kind: text, message: text }, { status: count });

export const serializedError: fc.Arbitrary<SerializedError> = asJson<SerializedError>(
  some({ v: fc.constant(1), error: text, failure, retryable: flag }, { cause: text }),
);
