import { printable } from "../text/printable.ts";

/** Lines of a text that arrives in pieces, made safe for a terminal. They depend on the text only, not on its pieces. */
export interface LineReader {
  /** Takes more text. @returns the lines that are whole */
  push(delta: string): string[];
  /** The text is over. @returns the last line, if it has no newline */
  end(): string[];
  /** Returns the line that is open. */
  open(): string;
}

/** Characters after which a line without a newline is cut, at a space if it has one. */
const MAX_LENGTH = 16_000;
const TAB = 4;

export function createLineReader(): LineReader {
  let open = "";

  /** Takes the whole lines and the parts of long ones out of what is open. */
  function takeLines(): string[] {
    const lines = open.split("\n");
    open = lines.pop() ?? "";
    const taken = lines.flatMap((line) => {
      const { parts, rest } = cutLong(line);
      return [...parts, rest];
    });
    const { parts, rest } = cutLong(open);
    open = rest;
    return [...taken, ...parts].map(safeLine);
  }

  return {
    push(delta) {
      open += delta;
      return delta.includes("\n") || open.length > MAX_LENGTH ? takeLines() : [];
    },
    end() {
      const lines = open === "" ? [] : [safeLine(open)];
      open = "";
      return lines;
    },
    // Half of a character, and half of a line end, are not shown before the other half is there.
    open: () => safeLine(open.replace(/[\ud800-\udbff]$/, "")),
  };
}

function cutLong(line: string): { readonly parts: string[]; readonly rest: string } {
  const parts: string[] = [];
  let rest = line;
  while (rest.length > MAX_LENGTH) {
    const space = rest.lastIndexOf(" ", MAX_LENGTH - 1);
    const isPair = /[\ud800-\udbff]/.test(rest.charAt(MAX_LENGTH - 1));
    const end = space > 0 ? space : isPair ? MAX_LENGTH - 1 : MAX_LENGTH;
    parts.push(rest.slice(0, end));
    rest = rest.slice(space > 0 ? end + 1 : end);
  }
  return { parts, rest };
}

function safeLine(line: string): string {
  return expandTabs(printable(line.replace(/\r$/, "").toWellFormed()));
}

function expandTabs(line: string): string {
  if (!line.includes("\t")) return line;
  let expanded = "";
  for (const [index, part] of line.split("\t").entries()) {
    if (index > 0) expanded += " ".repeat(TAB - (expanded.length % TAB));
    expanded += part;
  }
  return expanded;
}
