import { withoutTabs } from "../text/display-width.ts";
import type { Paint } from "../text/style.ts";
import { wrapped } from "../text/wrapped.ts";
import type { LivePart } from "./live-part.ts";

/** Text that arrives in chunks. Its last row is open, all before it is finished. */
export interface OpenText {
  /** @returns the rows that are finished with this chunk */
  add(chunk: string, paint: Paint, columns: number): string[];
  /** Ends the open row. @returns it, if there is one */
  end(): string[];
  /** Breaks the open row for a terminal that has become narrower. @returns the rows that are finished with it */
  wrap(columns: number): string[];
  /** Shows the open row. */
  readonly part: LivePart;
}

export function createOpenText(): OpenText {
  let open = "";
  let paint: Paint = (text) => text;

  function end(): string[] {
    const line = open;
    open = "";
    return line === "" ? [] : [paint(line)];
  }

  function wrap(columns: number): string[] {
    const rows = wrapped(open, columns);
    open = rows.pop() ?? "";
    return rows.map((row) => paint(row));
  }

  return {
    add(chunk, chunkPaint, columns) {
      const finished = chunkPaint === paint ? [] : end();
      paint = chunkPaint;
      const lines = `${open}${withoutTabs(chunk)}`.split("\n");
      open = lines.pop() ?? "";
      for (const line of lines) for (const row of wrapped(line, columns)) finished.push(paint(row));
      finished.push(...wrap(columns));
      return finished;
    },
    end,
    wrap,
    part: { rows: () => ({ lines: open === "" ? [] : [paint(open)] }) },
  };
}
