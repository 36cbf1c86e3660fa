import type { EffortLevel, PermissionMode, Usd } from "@keelson/protocol";
import type { LivePart } from "../terminal/live-part.ts";
import { printableLine } from "../text/printable.ts";
import type { Paint, Style } from "../text/style.ts";
import { formatCost } from "./figures.ts";
import { fittingFacts, type RankedFact } from "./fitting-facts.ts";

/** The figures of a conversation that are always in sight. */
export interface StatusFacts {
  readonly model: string;
  /** Absent: the effort is that of the model. */
  readonly effort?: EffortLevel | undefined;
  /** The part of the context window that the last request took. Absent: it is unknown. */
  readonly context?: number | undefined;
  /** The part of the context window from which the conversation is shortened. */
  readonly compactAt: number;
  /** The cost of the session. `null`: a part of it has no known price. */
  readonly cost: Usd | null;
  readonly mode: PermissionMode;
  readonly inSandbox: boolean;
  /** The number of commands that run in the background. */
  readonly jobs: number;
  /** The git branch, or the beginning of the commit. Absent: the folder is in no repository. */
  readonly branch?: string | undefined;
}

export interface StatusLineOptions {
  readonly style: Style;
  /** Asked at each frame. */
  facts(): StatusFacts;
}

/** The part of the way to the compaction from which the context is warned about. */
const NEAR_COMPACTION = 0.8;
/** The modes in which calls run that would be asked about by default. */
const LOOSE: ReadonlySet<PermissionMode> = new Set(["accept-edits", "bypass-all"]);

/** The last row of the live region. It shows as many facts as there is room for. */
export function createStatusLine({ style, facts }: StatusLineOptions): LivePart {
  return {
    rows: ({ columns }) => ({ lines: [statusText(facts(), { style, columns })] }),
  };
}

function statusText(
  { model, effort, context, compactAt, cost, mode, inSandbox, jobs, branch }: StatusFacts,
  { style, columns }: Pick<StatusLineOptions, "style"> & { readonly columns: number },
): string {
  const name = printableLine(model);
  const percent = context === undefined ? "" : `${Math.round(100 * context)}%`;
  const all: readonly RankedFact[] = [
    { text: mode, rank: 0, paint: modePaint(mode, style) },
    { text: name, short: name.slice(name.indexOf("/") + 1), rank: 1, paint: style.dim },
    ...(effort === undefined ? [] : [{ text: `effort ${effort}`, short: effort, rank: 7, paint: style.dim }]),
    ...(context === undefined
      ? []
      : [{ text: `context ${percent}`, short: percent, rank: 2, paint: contextPaint(context / compactAt, style) }]),
    { text: formatCost(cost), rank: 3, paint: style.dim },
    ...(jobs === 0 ? [] : [{ text: jobs === 1 ? "1 job" : `${jobs} jobs`, rank: 5, paint: style.cyan }]),
    inSandbox ? { text: "sandbox", rank: 8, paint: style.dim } : { text: "no sandbox", rank: 4, paint: style.yellow },
    ...(branch === undefined ? [] : [{ text: printableLine(branch), rank: 6, paint: style.dim }]),
  ];
  return fittingFacts(all, { columns }).join(style.dim(" · "));
}

function modePaint(mode: PermissionMode, style: Style): Paint {
  if (mode === "bypass-all") return style.red;
  if (LOOSE.has(mode)) return style.yellow;
  return mode === "plan-only" ? style.cyan : style.dim;
}

function contextPaint(wayToCompaction: number, style: Style): Paint {
  if (wayToCompaction >= 1) return style.red;
  return wayToCompaction >= NEAR_COMPACTION ? style.yellow : style.dim;
}
