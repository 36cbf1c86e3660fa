/** A line that names a command of the prompt. */
export interface SlashLine {
  readonly name: string;
  readonly argument: string;
}

const LINE = /^\/(?<name>[a-z][\w.:-]*)(?:\s+(?<argument>[^]*))?$/i;

/** Reads a line as a command. @returns `undefined` if it is a message, such as one that begins with a path */
export function parseSlashLine(line: string): SlashLine | undefined {
  const { name, argument = "" } = LINE.exec(line.trimEnd())?.groups ?? {};
  return name === undefined ? undefined : { name, argument: argument.trim() };
}
