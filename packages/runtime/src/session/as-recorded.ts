/** A value as it comes back from the log: what a replay will read, from the first time on. @throws TypeError when it can't be written there */
export function asRecorded<T>(value: T): T {
  return typeof value === "object" && value !== null ? (JSON.parse(JSON.stringify(value)) as T) : value;
}
