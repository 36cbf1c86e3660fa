import type { EffortLevel } from "@keelson/protocol";

/** How much a model thinks, from the least to the most. */
export const EFFORT_LEVELS: readonly EffortLevel[] = ["low", "medium", "high", "max"];
