import { type Failure, KeelsonError } from "@keelson/protocol";
import type { Redactor } from "./redactor.ts";

/** The same error without secrets in what it says; itself where there are none. What caused it is left out where that would tell one. */
export function redactError(thrown: unknown, redactor: Redactor): unknown {
  if (typeof thrown === "string") return redactor.redact(thrown);
  if (!(thrown instanceof Error)) return thrown;
  const told = [thrown.message, thrown.stack ?? "", causesOf(thrown), JSON.stringify(failureOf(thrown) ?? "")].join("\n");
  if (redactor.redact(told) === told) return thrown;
  if (thrown instanceof KeelsonError) {
    // The classes of errors that programs know are told apart by their failure, which is plain data.
    const OwnError = thrown.constructor as new (failure: Failure) => KeelsonError;
    return new OwnError(redactor.redactJson(thrown.failure));
  }
  const redacted = new Error(redactor.redact(thrown.message));
  redacted.name = thrown.name;
  if (thrown.stack !== undefined) redacted.stack = redactor.redact(thrown.stack);
  return redacted;
}

function failureOf(error: Error): Failure | undefined {
  return error instanceof KeelsonError ? error.failure : undefined;
}

function causesOf(error: Error): string {
  let told = "";
  let cause = error.cause;
  // A chain of causes may lead back to its beginning.
  for (let depth = 0; depth < 10 && cause !== undefined; depth++) {
    told += `\n${cause instanceof Error ? (cause.stack ?? cause.message) : typeof cause === "string" ? cause : ""}`;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return told;
}

/** Does it, and throws without secrets. */
export async function withoutSecretsThrown<Value>(redactor: Redactor, work: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (thrown) {
    throw redactError(thrown, redactor);
  }
}
