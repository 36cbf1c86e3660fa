import type { JsonValue } from "@keelson/protocol";
import type { OutputForm } from "../../definition/output/output-form.ts";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

/** How far a run is with its structured output. */
export interface RunOutput {
  /** How it is asked for, where the agent has one. */
  readonly form: OutputForm | undefined;
  /** The model was just told that its response is not accepted. */
  repairing: boolean;
  /** Once the run has it, as the log keeps it. */
  output: JsonValue | undefined;
  /** The same as the schema gave it, for who waits in this process. */
  value: unknown;
}

const OUTPUT = new PartKey<RunOutput>("structured output");

export function outputOf({ parts }: Loop): RunOutput {
  return parts.need(OUTPUT);
}

export function bindOutput({ parts, agent }: Loop): void {
  parts.set(OUTPUT, { form: agent.outputForm, repairing: false, output: undefined, value: undefined });
}
