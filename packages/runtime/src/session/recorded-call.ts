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
export function recordedCall(
  calls: readonly RecordedCall[],
  call: { readonly key: string; readonly output: JsonValue; readonly isError: boolean; readonly clears: boolean },
): RecordedCall[] {
  const isNew = call.clears && !call.isError && !calls.some((earlier) => earlier.key === call.key);
  const kept = isNew ? [] : calls.length < WINDOW ? calls : calls.slice(-(WINDOW - 1));
  return [...kept, { key: call.key, output: call.output, isError: call.isError }];
}
