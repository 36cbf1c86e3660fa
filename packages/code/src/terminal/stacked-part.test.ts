import { describe, expect, it } from "vitest";
import type { LivePart } from "./live-part.ts";
import { stackedPart } from "./stacked-part.ts";

const part = (lines: readonly string[], row?: number): LivePart => ({
  rows: () => ({ lines, ...(row !== undefined && { cursor: { row, column: 1 } }) }),
});

describe("stackedPart", () => {
  it("joins rows, and moves the cursor with them", () => {
    expect(stackedPart(part(["a", "b"]), part(["c", "d"], 1)).rows({ columns: 10, rows: 9 })).toEqual({
      lines: ["a", "b", "c", "d"],
      cursor: { row: 3, column: 1 },
    });
    expect(stackedPart(part(["a"], 0), part(["c"])).rows({ columns: 10, rows: 9 })).toEqual({
      lines: ["a", "c"],
      cursor: { row: 0, column: 1 },
    });
  });

  it("gives the last part its room first", () => {
    expect(stackedPart(part(["a", "b"]), part(["c", "d"], 0)).rows({ columns: 10, rows: 3 }).lines).toEqual(["b", "c", "d"]);
    expect(stackedPart(part(["a", "b"]), part(["c", "d"], 1)).rows({ columns: 10, rows: 1 })).toEqual({
      lines: ["d"],
      cursor: { row: 0, column: 1 },
    });
  });
});
