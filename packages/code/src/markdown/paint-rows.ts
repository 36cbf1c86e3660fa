import type { Look, Row } from "./span.ts";
import type { Theme } from "./theme.ts";

/** Rows as text for a terminal. Spaces at the end of a row are dropped. */
export function paintRows(rows: readonly Row[], theme: Theme): string[] {
  return rows.map((row) => paintRow(row, theme));
}

export function paintRow(row: Row, theme: Theme): string {
  let painted = "";
  let text = "";
  let look: Look | undefined;
  const flush = (isLast: boolean): void => {
    const shown = isLast ? text.trimEnd() : text;
    if (look !== undefined && shown !== "") painted += linked(theme.paint(shown, look), look.href);
    text = "";
  };
  for (const span of row) {
    if (span.look !== look) flush(false);
    look = span.look;
    text += span.text;
  }
  flush(true);
  return painted;
}

/** A hyperlink (OSC 8) around a text. */
function linked(painted: string, href: string | undefined): string {
  return href === undefined ? painted : `\u001b]8;;${href}\u001b\\${painted}\u001b]8;;\u001b\\`;
}
