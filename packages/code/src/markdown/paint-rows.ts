import type { Look, Row } from "./span.ts";
import type { Theme } from "./theme.ts";

/** Rows as text for a terminal. Spaces at the end of a row are dropped. */
export function paintRows(rows: readonly Row[], theme: Theme): string[] {
  return rows.map((row) => paintRow(trimmed(row), theme));
}

export function paintRow(row: Row, theme: Theme): string {
  let painted = "";
  let text = "";
  let look: Look | undefined;
  const flush = (): void => {
    if (look !== undefined && text !== "") painted += linked(theme.paint(text, look), look.href);
    text = "";
  };
  for (const span of row) {
    if (span.look !== look) flush();
    look = span.look;
    text += span.text;
  }
  flush();
  return painted;
}

function trimmed(row: Row): Row {
  const last = row.at(-1);
  const text = last?.text.trimEnd();
  if (last === undefined || text === undefined || text === last.text) return row;
  const rest = row.slice(0, -1);
  return text === "" ? trimmed(rest) : [...rest, { ...last, text }];
}

/** A hyperlink (OSC 8) around a text. */
function linked(painted: string, href: string | undefined): string {
  return href === undefined ? painted : `\u001b]8;;${href}\u001b\\${painted}\u001b]8;;\u001b\\`;
}
