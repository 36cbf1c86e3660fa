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

export interface RunFooterOptions {
  readonly style: Style;
  /** True if a status line shows the model and the context. Default: false. */
  readonly isShort?: boolean;
}

/** The last lines of a run: how it ended and what it took, then why, where that says more. */
export function runFooter(reason: RunReason, figures: RunFigures, ending: Ending, { style, isShort = false }: RunFooterOptions): string[] {
  const mark = GOOD.has(reason)
    ? style.green(`✔ ${reason}`)
    : reason.startsWith("awaiting-")
      ? style.yellow(`‖ ${reason}`)
      : style.red(`✗ ${reason}`);
  return [
    `${mark} ${style.dim(`· ${(isShort ? ownWords(figures) : figureWords(figures)).join(" · ")}`)}`,
    ...endingWords(ending).map((words) => `  ${words}`),
  ];
}

export function figureWords({ model, contextUtilization, ...figures }: RunFigures): string[] {
  const [turns, tokens, ...rest] = ownWords(figures);
  const context = contextUtilization === undefined ? [] : [`context ${Math.round(100 * contextUtilization)}%`];
  return [printableLine(model), turns, tokens, ...context, ...rest];
}

/** The figures of the run alone: turns, tokens, cost, duration. */
function ownWords({
  turns,
  usage,
  cost,
  durationMs,
}: Omit<RunFigures, "model" | "contextUtilization">): readonly [string, string, string, string] {
  return [`${turns} ${turns === 1 ? "turn" : "turns"}`, formatTokens(usage), formatCost(cost), formatDuration(durationMs)];
}
