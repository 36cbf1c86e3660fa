import type { EffortLevel } from "@keelson/protocol";

/** The levels of effort, from the least to the most. */
export const EFFORT_LEVELS: readonly EffortLevel[] = ["low", "medium", "high", "max"];
