import type { EffortLevel, ThinkingConfig } from "@keelson/protocol";

/**
 * How hard a model is to think on a wire that knows levels. Who switches thinking on without a level gets `high`; who says nothing
 * gets what the model does by itself.
 */
export function thinkingEffort({
  effort,
  thinking,
}: {
  readonly effort?: EffortLevel | undefined;
  readonly thinking?: ThinkingConfig | undefined;
}): EffortLevel | undefined {
  if (effort !== undefined) return effort;
  return thinking === undefined || thinking.type === "disabled" ? undefined : "high";
}
