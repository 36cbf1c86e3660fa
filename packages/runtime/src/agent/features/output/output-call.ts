import type { ToolCallPart } from "@keelson/protocol";
import type { OutputForm } from "../../definition/output/output-form.ts";
import { undisguiseName } from "../../../tools/undisguise-name.ts";

/** What the model is told of a response that came with other calls. */
export const OUTPUT_TOO_EARLY =
  "Not taken as your answer: it came together with other calls, so it was written without their results. Read those first, then give your answer by itself.";

/** Whether a call gives the output. Models write names in another case now and then. */
export function isOutputCall({ tool }: OutputForm, { name }: Pick<ToolCallPart, "name">): boolean {
  return (
    tool !== undefined &&
    (name === tool.name ||
      name.toLowerCase() === tool.name.toLowerCase() ||
      undisguiseName(name, (bare) => bare === tool.name) !== undefined)
  );
}

/** Whether a response asks for nothing but to take its output. */
export function givesOutput(form: OutputForm, calls: readonly ToolCallPart[]): boolean {
  return calls.every((call) => isOutputCall(form, call));
}
