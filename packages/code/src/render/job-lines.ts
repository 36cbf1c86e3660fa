import type { JobInfo } from "@keelson/protocol";
import { truncated } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { formatDuration } from "./figures.ts";

const MOST_ENDED = 5;

/** A line for each command in the background: those that run, then the last ones that ended. */
export function jobLines(
  jobs: readonly JobInfo[],
  { style, columns }: { readonly style: Style; readonly columns: number },
): readonly string[] {
  const running = jobs.filter(({ status }) => status === "running");
  const ended = jobs.filter(({ status }) => status !== "running").slice(-MOST_ENDED);
  return [...running, ...ended].map((job) => {
    const { id, command, status, exitCode, durationMs } = job;
    const isRunning = status === "running";
    const state = isRunning
      ? "runs"
      : status === "exited"
        ? `ended with ${exitCode === null || exitCode === undefined ? "a signal" : exitCode}`
        : status;
    const facts = [state, ...(durationMs === undefined ? [] : [formatDuration(durationMs)]), printableLine(id)].join(" · ");
    const mark = isRunning ? style.cyan("▸") : style.dim("·");
    return `${mark} ${truncated(printableLine(command), Math.max(10, columns - facts.length - 6))}  ${style.dim(facts)}`;
  });
}
