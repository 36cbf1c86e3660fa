import type { ContextMetrics, OperationType, Rule } from "./rule.ts";

/** A rule that reports each operation after it and alters nothing: a `record` that throws is only noted. */
export function telemetryRecorder(
  record: (entry: { readonly operation: OperationType; readonly metrics: ContextMetrics }) => void,
  priority = 10,
): Rule {
  return {
    name: "telemetry-recorder",
    trigger: { type: "after-any" },
    priority,
    pure: true,
    run({ context, operation }) {
      try {
        record({ operation, metrics: context.metrics });
      } catch (error) {
        context.warn(`telemetry failed at "${operation}": ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  };
}
