import { errorFromJSON, type JsonValue, type KeelsonError, toOperatorError } from "@keelson/protocol";
import type { Settled } from "./operator-messages.ts";

/** How a piece of work ended, as data. An error that is not of ours becomes an `OperatorError` that says the same. */
export async function settle(work: () => unknown): Promise<Settled> {
  try {
    const value = (await work()) as JsonValue | undefined;
    return value === undefined ? { ok: true } : { ok: true, value };
  } catch (error) {
    return { ok: false, error: (isOurs(error) ? error : toOperatorError(error)).toJSON() };
  }
}

/** The value, or throws what was thrown over there. */
export function valueOf(result: Settled): JsonValue | undefined {
  if (result.ok) return result.value;
  throw errorFromJSON(result.error);
}

function isOurs(error: unknown): error is KeelsonError {
  return error instanceof Error && "~keelson" in error && "toJSON" in error;
}
