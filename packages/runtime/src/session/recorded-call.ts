import type { JsonValue } from "@keelson/protocol";

/** One executed call as the loop guard remembers it. `key` names tool and canonical arguments. */
export interface RecordedCall {
  readonly key: string;
  /** As it stands in the conversation, which holds it anyway; compared by value. */
  readonly output: JsonValue;
  readonly isError: boolean;
}

const WINDOW = 32;

/** Adds a call to the window, oldest first. A successful change of the world that is new makes earlier repetitions legitimate, so it empties the window. */
export function recordedCall(calls: readonly RecordedCall[], call: RecordedCall, clears: boolean): readonly RecordedCall[] {
  if (clears && !call.isError && !calls.some((earlier) => earlier.key === call.key)) return [call];
  return (calls.length < WINDOW ? calls : calls.slice(-(WINDOW - 1))).concat(call);
}
