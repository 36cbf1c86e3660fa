import { expect, it, vi } from "vitest";
import { hasTmux, openTmux } from "./tmux.ts";

// A real process in a real terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const PROGRAM = new URL("region-program.ts", import.meta.url).pathname;
const PATIENCE = { timeout: 60_000, interval: 50 };
/** Every size has room for the rows of the size before it, as the terminal wraps them. */
const SIZES = [
  [40, 24],
  [100, 24],
  [60, 18],
  [30, 40],
  [80, 24],
  [120, 50],
  [45, 20],
] as const;

const regionAt = (columns: number): readonly string[] => [
  "~".repeat(columns - 1),
  "~~~~~",
  "=".repeat(columns - 1),
  "^".repeat(columns - 1),
  "^^^^^",
];

it.skipIf(!hasTmux)(
  `keeps one copy of the live region and every finished line in tmux, which wraps all rows${hasTmux ? "" : " (skipped: tmux is not installed)"}`,
  async () => {
    await using terminal = await openTmux([process.execPath, "--conditions=source", PROGRAM], { columns: 80, rows: 24 });
    let finished = 0;
    const check = async (columns: number): Promise<void> => {
      const region = regionAt(columns);
      const isDrawn = (rows: readonly string[]): boolean => rows.slice(-region.length).join("\n") === region.join("\n");
      await vi.waitUntil(async () => isDrawn(await terminal.rows()), PATIENCE);
      finished += 1;
      await terminal.type("f");
      const isFinished = (rows: readonly string[]): boolean => rows.join(" ").includes(`line ${finished}.`) && isDrawn(rows);
      await vi.waitUntil(async () => isFinished(await terminal.rows()), PATIENCE);
      const above = (await terminal.rows()).slice(0, -region.length);
      const expected = Array.from({ length: finished }, (_, index) => `line${index + 1}.${"word".repeat((index + 1) * 3)}end`);
      expect(above.join("").replaceAll(" ", "")).toBe(expected.join(""));
    };
    // tmux moves rows of a screen that is not full into its history, where they cannot be erased.
    for (let line = 0; line < 12; line += 1) await check(80);
    for (const [columns, rows] of SIZES) {
      await terminal.resize(columns, rows);
      await check(columns);
    }
  },
);
