import { jsonValue } from "../json/index.ts";

/** A value as it comes back from the log: what a replay will read, from the first time on. */
export function asRecorded<T>(value: T): T {
  return value === undefined ? value : (jsonValue(value) as T);
}
