/** A message that is a command for the shell of the project. */
export interface ShellLine {
  readonly command: string;
}

/** Reads a message as a command: it begins with `!`. @returns `undefined` for other messages, and for `!` alone */
export function parseShellLine(text: string): ShellLine | undefined {
  if (!text.startsWith("!")) return undefined;
  const command = text.slice(1).trim();
  return command === "" ? undefined : { command };
}
