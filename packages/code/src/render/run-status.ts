import { UNKNOWN_USAGE, ZERO_USD } from "@keelson/protocol";
import { truncated } from "../text/display-width.ts";
import type { Screen } from "../terminal/screen.ts";
import { formatDuration } from "./figures.ts";
import { figureWords, type RunFigures } from "./run-footer.ts";

/** The line that says what a run does now, with its figures so far. */
export interface RunStatus {
  /** The figures, without the duration. */
  readonly figures: Omit<RunFigures, "durationMs">;
  update(figures: Partial<Omit<RunFigures, "durationMs">>): void;
  begin(activity: string): void;
  /** Draws the line again; the spinner moves and the seconds count. */
  tick(): void;
  /** Takes the line away for good. */
  end(): void;
}

export interface RunStatusOptions {
  readonly screen: Screen;
  readonly now: () => number;
  readonly model: string;
  /** Returns the time at which the run began; `undefined` before its first event. */
  readonly startedAt: () => number | undefined;
  /** False if a status line shows the figures of the run: then the line of activity is without them. Default true. */
  readonly showsFigures?: boolean;
}

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export function createRunStatus({ screen, now, model, startedAt, showsFigures = true }: RunStatusOptions): RunStatus {
  let figures: RunStatus["figures"] = { model, turns: 0, usage: UNKNOWN_USAGE, cost: ZERO_USD };
  let doing = "starting";
  let doingSince = now();
  let frame = 0;
  let isOver = false;

  function draw(): void {
    if (isOver) return screen.status(undefined);
    const at = now();
    const durationMs = at - (startedAt() ?? at);
    const doingMs = at - doingSince;
    // An activity since the beginning of the run takes as long as the run, whose time is shown beside it.
    const waited = doingMs >= 1_000 && durationMs - doingMs >= 1_000 ? ` ${formatDuration(doingMs)}` : "";
    const words = showsFigures ? figureWords({ ...figures, durationMs }) : [formatDuration(durationMs)];
    screen.status(truncated(`${SPINNER[frame % SPINNER.length]} ${doing}${waited} · ${words.join(" · ")}`, screen.columns));
  }

  return {
    get figures() {
      return figures;
    },
    update(changed) {
      figures = { ...figures, ...changed };
    },
    begin(activity) {
      if (activity !== doing) doingSince = now();
      doing = activity;
      draw();
    },
    tick() {
      frame += 1;
      draw();
    },
    end() {
      isOver = true;
      screen.status(undefined);
    },
  };
}
