/** What a callback returned, for a message that says why it can't be used. Never throws, whatever the value is. */
export function describeValue(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return `a value of type ${typeof value} that can't be written as JSON`;
  }
}
