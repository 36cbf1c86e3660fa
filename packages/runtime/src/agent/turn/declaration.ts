import type { Effect, SerializedError } from "@keelson/protocol";

/** What became of a declaration. A suppressed directive leaves no trace. */
export type Declaration =
  | { readonly type: "declared"; readonly id: string; readonly effect: Effect }
  | { readonly type: "suppressed"; readonly id: string; readonly by: string }
  | { readonly type: "rejected"; readonly id: string; readonly by: string; readonly error: SerializedError };

/** An effect that was admitted, and the key it will be recorded under. */
export type Admission = Declaration & { readonly key: string };
