/** Lines without their ends; an end of line at the end of the text begins no further line. */
export function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** True when every line ends with CR LF, and there is one. */
export function usesCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
}

/** The same text with CR LF at the end of every line. */
export function withCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** `1 line`, `1,234 bytes`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : noun.endsWith("match") ? "es" : "s"}`;
}
