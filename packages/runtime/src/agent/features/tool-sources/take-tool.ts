import type { Tool } from "@keelson/protocol";
import { refuse, type ArrivedCall, type SettledCall } from "../../turn/pending-call.ts";
import type { Loop } from "../../turn/loop.ts";
import { isRecordedTool, type RecordedTool } from "./recorded-tool.ts";
import { pinAllowed, whyChanged } from "./known-version.ts";
import type { RunSource } from "./run-source.ts";
import { openedSources, type OpenedSources } from "./run-sources.ts";
import { sourceTool } from "../../turn/source-tool.ts";
import { waitFor } from "./wait-for.ts";

/** How long a call waits at least for its tool, from when this process took the run up. */
const PATIENCE_MS = 10_000;

/**
 * The tool that a call is held against and executed with: of a source, the live one. It is waited for where its source is not there yet.
 * @param found by its name among the tools of the turn
 */
export async function takeTool(loop: Loop, call: ArrivedCall, found: Tool): Promise<Tool | SettledCall> {
  // A rehearsal ends before anything is executed.
  if (!isRecordedTool(found) || loop.execution.outside !== undefined) return found;
  const { source: sourceName, offered } = found.recordedOf;
  const opened = openedSources(loop);
  const source = opened?.all.find(({ name }) => name === sourceName);
  const live = opened && source && (await liveTool(loop, found, opened, source));
  if (live === undefined) return { ...refuse(call, notThere(found, source), "no-such-tool"), tool: found };
  const pins = source?.pins;
  const changed = await whyChanged(loop, call, live, { told: offered.version, pins });
  return sourceTool(found.recordedOf, live, { changed, beforeCall: () => pinAllowed(loop, call, live, pins) });
}

async function liveTool(loop: Loop, { name }: RecordedTool, opened: OpenedSources, source: RunSource): Promise<Tool | undefined> {
  const live = source.find(name);
  if (live !== undefined || !source.mayCome(name)) return live;
  const patience = opened.openedAt + Math.max(PATIENCE_MS, source.startupWaitMs) - loop.execution.clock.now();
  await waitFor(loop.execution, source.coming(name), patience);
  return source.find(name);
}

function notThere({ name, recordedOf }: RecordedTool, source: RunSource | undefined): string {
  const why = source?.problems.join(" ") ?? "";
  return `The tool "${name}" is not there now: its source "${recordedOf.source}" does not offer it.${why === "" ? "" : ` ${why}`} Go on without it, or try again in a later turn.`;
}
