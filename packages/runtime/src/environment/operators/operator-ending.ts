import { EnvironmentError, OperatorError } from "@keelson/protocol";

/** Bytes of what it printed that stand in the error where it ends too early. */
export const LAST_WORDS = 2000;

/** The error for an operator whose process ended before it had answered. */
export function endedEarly(code: number | null, signal: string | null, output: string): Error {
  const printed = output.trim();
  if (/(heap|process) out of memory/.test(printed)) return heldTooMuch();
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const lastWords = printed === "" ? "It printed nothing." : `It printed last:\n${printed}`;
  return new OperatorError({
    kind: "other",
    message: `The process of the operator ended ${how} before the operator had answered. ${lastWords}`,
  });
}

export function heldTooMuch(): EnvironmentError {
  return new EnvironmentError({
    kind: "resource-exceeded",
    resource: "memory",
    message: "The operator held more memory than its process may. Give it a larger `resources.memory`, or less to hold.",
  });
}

/** The error for an operator that could not be given work. */
export function notStarted(args: readonly string[], error: unknown): EnvironmentError {
  const why = error instanceof Error ? error.message : String(error);
  return new EnvironmentError(
    { kind: "provision-failed", message: `The process of the operator did not start (node ${args.join(" ")}): ${why}` },
    { cause: error },
  );
}
