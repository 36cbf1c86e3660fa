import type { JsonValue } from "@keelson/protocol";

/** One executed call as the loop guard remembers it. `key` names tool and canonical arguments. */
export interface RecordedCall {
  readonly key: string;
  readonly output: string;
  readonly isError: boolean;
}

const WINDOW = 32;

/** Adds a call to the window, oldest first. A successful change of the world that is new makes earlier repetitions legitimate, so it empties the window. */
export function recordedCall(
  calls: readonly RecordedCall[],
  call: { readonly key: string; readonly output: JsonValue; readonly isError: boolean; readonly clears: boolean },
): RecordedCall[] {
  const known = calls.some((earlier) => earlier.key === call.key);
  const kept = call.clears && !call.isError && !known ? [] : calls.slice(-(WINDOW - 1));
  return [...kept, { key: call.key, output: fingerprint(call.output), isError: call.isError }];
}

/** Short enough to keep, and different for different outputs for all practical purposes: this guards against loops, not attackers. */
function fingerprint(output: JsonValue): string {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  let a = 0x811c9dc5;
  let b = 0x1000193;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b + code, 0x85ebca6b) ^ (b >>> 13);
  }
  return `${text.length}:${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`;
}
