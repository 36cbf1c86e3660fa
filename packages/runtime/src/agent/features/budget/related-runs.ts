import { LogError, type SessionId } from "@keelson/protocol";
import { foldReadable } from "../../../session/fold-session.ts";
import { parentSession } from "../../../session/session-id.ts";
import type { RunState, SessionState } from "../../../session/session-state.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";

export interface RelatedRunsOptions {
  readonly services: Pick<RunnerServices, "log" | "blobs">;
  /** Whether those above it are among them, with all that is open below those; else only what is below the run itself. */
  readonly above: boolean;
  warn(message: string): void;
}

/**
 * The runs that share a tree with this one and are not accounted for in the totals of another: who started it, up to the first
 * of them, and every child that the log of whoever started it does not know to be over. Read as their logs have them, one at a
 * time. What can't be read is told of, and left out.
 */
export async function* relatedRuns({ id: session, run: own }: SessionState, options: RelatedRunsOptions): AsyncGenerator<RunState> {
  if (own === undefined) return;
  const seen = new Set<string>([own.id]);
  const open = openChildren(own);
  if (options.above) {
    let at: { readonly run: RunState; readonly session: SessionId } = { run: own, session };
    while (at.run.parent !== undefined) {
      const starter = at.run.parent.run;
      const above = parentSession(at.session);
      const run = above === undefined ? undefined : await read(above, options);
      if (above === undefined || run?.id !== starter || seen.has(run.id)) {
        options.warn(
          `What the run "${starter}" and its other children used is not counted: ${above === undefined ? "nothing says in which session it is" : `session "${above}" does not hold it`}.`,
        );
        break;
      }
      yield run;
      seen.add(run.id);
      open.push(...openChildren(run));
      at = { run, session: above };
    }
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next.id)) continue;
    seen.add(next.id);
    const run = await read(next.session, options);
    // Its start is in the log before it begins.
    if (run?.id !== next.id) continue;
    yield run;
    open.push(...openChildren(run));
  }
}

interface OpenChild {
  readonly id: string;
  readonly session: SessionId;
}

function openChildren({ children }: RunState): OpenChild[] {
  const open: OpenChild[] = [];
  for (const { id, session, status } of children?.all.values() ?? [])
    if (session !== undefined && status === "working") open.push({ id, session });
  return open;
}

/** The newest run of a session, as far as it can be read. A log that only can't be read for now fails whoever asks. */
async function read(session: SessionId, { services, warn }: RelatedRunsOptions): Promise<RunState | undefined> {
  const { state, damage } = await foldReadable(services.log, services.blobs, session);
  if (damage !== undefined) {
    if (LogError.is(damage) && (damage.retryable || damage.failure.kind === "closed")) throw damage;
    const why = damage instanceof Error ? damage.message : String(damage);
    warn(`What the run of session "${session}" used is counted only up to record ${state.seq}, behind which its log can't be read: ${why}`);
  }
  return state.run;
}
