import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { createXtermDevice, XTERM_ENVIRONMENT, type XtermDevice, type XtermDeviceOptions } from "../../test/xterm-device.ts";
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

const action: fc.Arbitrary<Action> = fc.oneof(
  { arbitrary: fc.record({ type: fc.constantFrom("block" as const, "finished" as const), lengths }), weight: 2 },
  { arbitrary: fc.record({ type: fc.constant("text" as const), length: fc.nat(120), ends: fc.boolean() }), weight: 2 },
  { arbitrary: setPart, weight: 4 },
  { arbitrary: fc.record({ type: fc.constant("resize" as const), columns }), weight: 4 },
  { arbitrary: fc.record({ type: fc.constant("resize" as const), rows }), weight: 2 },
  { arbitrary: fc.record({ type: fc.constant("time" as const), ms: fc.nat(50) }), weight: 2 },
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

async function perform(actions: readonly Action[], options: XtermDeviceOptions, environment = XTERM_ENVIRONMENT as Record<string, string>): Promise<Outcome> {
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

async function expectLaw(outcome: Outcome): Promise<void> {
  const { device, expected, whole, stuck } = outcome;
  const fresh = await freshDrawing(outcome);
  await device.settled();
  const rows = device.allRows();
  const top = device.cursorLine() - fresh.cursor[0];
  expect(rows.slice(top)).toEqual(fresh.shown);
  expect(device.cursor()[1]).toBe(fresh.cursor[1]);
  const above = rows.slice(0, top);
  const finished = above
    .filter((row) => !LIVE.test(row))
    .join("")
    .replaceAll(" ", "");
  if (stuck > 0) return expect(isSubsequence(expected, finished)).toBe(true);
  expect(above.filter((row) => LIVE.test(row))).toEqual([]);
  expect(finished).toBe(expected);
  // A wide letter that fits no longer leaves an empty cell before the end of its row.
  const lines = (await device.transcript()).map((line) => line.replaceAll(" ", ""));
  let from = 0;
  for (const line of whole) {
    const index = lines.indexOf(line.replaceAll(" ", ""), from);
    expect(index, `"${line}" is one line`).toBeGreaterThanOrEqual(from);
    from = index + 1;
  }
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

describe("the live screen, after any actions and changes of size", () => {
  it("shows every finished line once and in order, and below them the live region as a fresh drawing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), fc.constantFrom(40, 80, 120), fc.integer({ min: 5, max: 40 }), async (actions, columns, rows) => {
        const outcome = await perform(actions, { columns, rows });
        try {
          await expectLaw(outcome);
        } finally {
          outcome.device.dispose();
        }
      }),
      { numRuns: Number(process.env["RUNS"] ?? 60) },
    );
  });
});
