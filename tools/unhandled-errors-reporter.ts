import { writeFileSync } from "node:fs";

interface UnhandledError {
  readonly name?: string;
  readonly message?: string;
}

/** A reporter for vitest. Writes the errors that no test caught, which its JSON report leaves out, to the file in KEELSON_UNHANDLED_ERRORS. */
export default class UnhandledErrorsReporter {
  onTestRunEnd(_modules: unknown, errors: readonly UnhandledError[]): void {
    const path = process.env["KEELSON_UNHANDLED_ERRORS"];
    if (path !== undefined) writeFileSync(path, JSON.stringify(errors.map(({ name, message }) => `${name ?? "Error"}: ${message ?? ""}`)));
  }
}
