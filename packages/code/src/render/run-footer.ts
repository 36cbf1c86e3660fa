import type { RunReason, Usage, Usd } from "@keelson/protocol";
import { type Ending, endingWords } from "./ending-words.ts";
import { formatCost, formatDuration, formatTokens } from "./figures.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

export interface RunFigures {
  readonly model: string;
  readonly turns: number;
  readonly usage: Usage;
  readonly cost: Usd | null;
  readonly durationMs: number;
  /** The part of the context window that the last request took. */
  readonly contextUtilization?: number | undefined;
}

const GOOD: ReadonlySet<string> = new Set(["complete", "no-action", "handed-off"]);

/** The last lines of a run: how it ended and what it took, then why, where that says more. */
export function runFooter(reason: RunReason, figures: RunFigures, ending: Ending, style: Style): string[] {
  const mark = GOOD.has(reason)
    ? style.green(`✔ ${reason}`)
    : reason.startsWith("awaiting-")
      ? style.yellow(`‖ ${reason}`)
      : style.red(`✗ ${reason}`);
  return [`${mark} ${style.dim(`· ${figureWords(figures).join(" · ")}`)}`, ...endingWords(ending).map((words) => `  ${words}`)];
}

export function figureWords({ model, turns, usage, cost, durationMs, contextUtilization }: RunFigures): string[] {
  return [
    printableLine(model),
    `${turns} ${turns === 1 ? "turn" : "turns"}`,
    formatTokens(usage),
    ...(contextUtilization === undefined ? [] : [`context ${Math.round(100 * contextUtilization)}%`]),
    formatCost(cost),
    formatDuration(durationMs),
  ];
}
