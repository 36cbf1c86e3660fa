import { describe, expect, it } from "vitest";
import type { Finding } from "../commands/finding.ts";
import { createStyle } from "../text/style.ts";
import { findingLines } from "./finding-lines.ts";

const style = createStyle(false);
const FINDINGS: readonly Finding[] = [
  { what: "Node", state: "ok", detail: "24" },
  { what: "ripgrep", state: "missing", detail: "searches are slower; install it, or use npm install" },
];

describe("findingLines", () => {
  it("lines the details up, each finding in one line where no width is given", () => {
    expect(findingLines(FINDINGS, { style })).toEqual(["✔ Node     24", "– ripgrep  searches are slower; install it, or use npm install"]);
  });

  it("indents the rows of a detail in a terminal", () => {
    expect(findingLines(FINDINGS, { style, columns: 45 })).toEqual([
      "✔ Node     24",
      "– ripgrep  searches are slower; install it,",
      "           or use npm install",
    ]);
  });

  it("puts the details below the names in a narrow terminal", () => {
    expect(findingLines(FINDINGS, { style, columns: 34 })).toEqual([
      "✔ Node",
      "    24",
      "– ripgrep",
      "    searches are slower; install",
      "    it, or use npm install",
    ]);
  });
});
