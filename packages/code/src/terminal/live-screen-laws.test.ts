import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { createXtermDevice, XTERM_ENVIRONMENT, type XtermDevice } from "../../test/xterm-device.ts";
import { sampleSize } from "../../../../test/tier.ts";
import { fitting } from "../text/display-width.ts";
import { LIVE_PLACES, type LivePart, type LivePlace } from "./live-part.ts";
import { createLiveScreen, type LiveScreen } from "./live-screen.ts";

/** Only live rows have these letters, one of which is wide. */
const LIVE = /[~界]/;
const LIVE_TEXT = "~界~~界".repeat(40);
/** The text of a finished line, a wide letter in some. */
const FINISHED_TEXT = "word 日本 another-word and ".repeat(12);

interface LivePartShape {
  readonly widths: readonly number[];
  /** Part of the height and the width at which the cursor is, if there is one. */
  readonly cursor: readonly [row: number, column: number] | undefined;
}

type Action =
  | { readonly type: "block" | "finished"; readonly lengths: readonly number[] }
  | { readonly type: "text"; readonly length: number; readonly ends: boolean }
  | { readonly type: "part"; readonly place: LivePlace; readonly shape: LivePartShape | undefined }
  | { readonly type: "resize"; readonly columns?: number; readonly rows?: number }
  | { readonly type: "time"; readonly ms: number };

const share = fc.double({ min: 0, max: 1, noNaN: true });
const shape: fc.Arbitrary<LivePartShape> = fc.record({
  widths: fc.array(fc.oneof(share, fc.constant(1)), { maxLength: 3 }),
  cursor: fc.option(fc.tuple(fc.double({ min: 0, max: 0.99, noNaN: true }), share), { nil: undefined }),
});
const lengths = fc.array(fc.nat(150), { maxLength: 4 });
const columns = fc.constantFrom(40, 80, 120, 20);
const rows = fc.integer({ min: 5, max: 60 });
const setPart = fc.record({
  type: fc.constant("part" as const),
  place: fc.constantFrom(...LIVE_PLACES),
  shape: fc.option(shape, { nil: undefined, freq: 5 }),
});

const oneSize = fc.oneof(
  { arbitrary: fc.record({ type: fc.constant("resize" as const), columns }), weight: 2 },
  { arbitrary: fc.record({ type: fc.constant("resize" as const), rows }), weight: 1 },
);
const bothSizes = fc.record({ type: fc.constant("resize" as const), columns, rows });

/** @param resize the changes of size among the actions */
const actionsWith = (resize: fc.Arbitrary<Action>): fc.Arbitrary<readonly Action[]> =>
  fc.array(
    fc.oneof(
      { arbitrary: fc.record({ type: fc.constantFrom("block" as const, "finished" as const), lengths }), weight: 2 },
      { arbitrary: fc.record({ type: fc.constant("text" as const), length: fc.nat(120), ends: fc.boolean() }), weight: 2 },
      { arbitrary: setPart, weight: 4 },
      { arbitrary: resize, weight: 6 },
      { arbitrary: fc.record({ type: fc.constant("time" as const), ms: fc.nat(50) }), weight: 2 },
    ),
    { maxLength: 30 },
  );

function partOf({ widths, cursor }: LivePartShape): LivePart {
  return {
    rows({ columns }) {
      const lines = widths.map((width) => fitting(LIVE_TEXT, Math.max(1, Math.round(width * columns))));
      if (cursor === undefined || lines.length === 0) return { lines };
      return { lines, cursor: { row: Math.floor(cursor[0] * lines.length), column: Math.floor(cursor[1] * columns) } };
    },
  };
}

interface Setting {
  readonly columns: number;
  readonly rows: number;
  readonly environment: { readonly [name: string]: string };
}

interface Outcome {
  readonly device: XtermDevice;
  readonly screen: LiveScreen;
  readonly parts: ReadonlyMap<LivePlace, LivePart>;
  /** Finished text in order. */
  readonly expected: string;
  /** Lines that were given to `finished`. */
  readonly whole: readonly string[];
  /** Live rows that the terminal itself moved into its scrollback, which no program can erase. */
  readonly stuck: number;
}

async function perform(actions: readonly Action[], { environment, ...options }: Setting): Promise<Outcome> {
  const device = createXtermDevice(options);
  const clock = createManualClock();
  let stuck = 0;
  /** End of the text that is still open, and so in a live row. */
  let open: string | undefined;
  device.on?.("resize", () => {
    stuck += device.scrolledAway().filter((row) => LIVE.test(row) || (open !== undefined && row.includes(open))).length;
  });
  const screen = createLiveScreen(device, { environment, after: clock.after, now: clock.now });
  const parts = new Map<LivePlace, LivePart>();
  const whole: string[] = [];
  let expected = "";
  let count = 0;
  const finishedText = (length: number): string => {
    count += 1;
    const text = `${fitting(FINISHED_TEXT, length)}${count}!`;
    expected += text;
    return text;
  };
  for (const act of actions) {
    if (act.type === "time") clock.advance(act.ms);
    else if (act.type === "resize") await device.resize(act.columns ?? device.columns, act.rows);
    else if (act.type === "part") {
      const part = act.shape && partOf(act.shape);
      if (part === undefined) parts.delete(act.place);
      else parts.set(act.place, part);
      screen.part(act.place, part);
    } else if (act.type === "text") {
      screen.text(`${finishedText(act.length)}${act.ends ? "\n" : " "}`);
      open = act.ends ? undefined : `${count}!`;
    } else {
      open = undefined;
      const lines = act.lengths.map(finishedText);
      if (act.type === "finished") whole.push(...lines);
      screen[act.type](lines);
    }
  }
  screen.endText();
  screen.flush();
  return { device, screen, parts, expected: expected.replaceAll(" ", ""), whole, stuck };
}

/** Returns the rows of the same parts in a terminal that shows nothing else, and the place of the cursor among them. */
async function freshDrawing({ device: { columns, rows }, parts }: Outcome) {
  const device = createXtermDevice({ columns, rows });
  const screen = createLiveScreen(device, { environment: XTERM_ENVIRONMENT });
  for (const [place, part] of parts) screen.part(place, part);
  screen.flush();
  const shown = await device.shown();
  const cursor = device.cursor();
  device.dispose();
  return { shown, cursor };
}

/** @param copies true if rows of the live region may remain above it */
async function expectLaw(outcome: Outcome, { copies }: { readonly copies: boolean }): Promise<void> {
  const { device, expected, whole } = outcome;
  const fresh = await freshDrawing(outcome);
  await device.settled();
  const shown = device.allRows();
  const top = device.cursorLine() - fresh.cursor[0];
  expect(shown.slice(top)).toEqual(fresh.shown);
  expect(device.cursor()[1]).toBe(fresh.cursor[1]);
  const above = shown.slice(0, top);
  const finished = joinedWithoutSpaces(above.filter((row) => !LIVE.test(row)));
  if (copies) return expect(isSubsequence(expected, finished)).toBe(true);
  expect(above.filter((row) => LIVE.test(row))).toEqual([]);
  expect(finished).toBe(expected);
  // A wide letter that fits no longer leaves an empty cell before the end of its row.
  const lines = (await device.transcript()).map((line) => joinedWithoutSpaces([line]));
  let from = 0;
  for (const line of whole) {
    const index = lines.indexOf(joinedWithoutSpaces([line]), from);
    expect(index, `"${line}" is one line`).toBeGreaterThanOrEqual(from);
    from = index + 1;
  }
}

function joinedWithoutSpaces(rows: readonly string[]): string {
  return rows.join("").replaceAll(" ", "");
}

/** True if the letters of `part` are letters of `whole`, in the same order. */
function isSubsequence(part: string, whole: string): boolean {
  let from = 0;
  for (const letter of part) {
    from = whole.indexOf(letter, from) + 1;
    if (from === 0) return false;
  }
  return true;
}

const size = fc.record({ columns, rows: fc.integer({ min: 5, max: 40 }) });

/** Checks the law for many actions. @param mayCopy true if rows of the live region may always remain above it */
function assertLaw(
  actions: fc.Arbitrary<readonly Action[]>,
  environment: { readonly [name: string]: string },
  { mayCopy, numRuns }: { readonly mayCopy: boolean; readonly numRuns: number },
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(actions, size, async (performed, started) => {
      const outcome = await perform(performed, { ...started, environment });
      try {
        await expectLaw(outcome, { copies: mayCopy || outcome.stuck > 0 });
      } finally {
        outcome.device.dispose();
      }
    }),
    { numRuns },
  );
}

describe("the live screen, after any actions and changes of size", () => {
  it("shows every finished line once and in order, and below them the live region as a fresh drawing", async () => {
    const numRuns = sampleSize("changes of the size of a live screen", { test: 60, ci: 300, soak: 2_000 });
    await assertLaw(actionsWith(oneSize), XTERM_ENVIRONMENT, { mayCopy: false, numRuns });
  });

  it("loses no finished line if columns and rows change together, or in a terminal that is not known", async () => {
    const numRuns = sampleSize("changes of both sizes of a live screen", { test: 20, ci: 100, soak: 1_000 });
    await assertLaw(actionsWith(bothSizes), XTERM_ENVIRONMENT, { mayCopy: true, numRuns });
    await assertLaw(actionsWith(fc.oneof(oneSize, bothSizes)), {}, { mayCopy: true, numRuns });
  });
});
