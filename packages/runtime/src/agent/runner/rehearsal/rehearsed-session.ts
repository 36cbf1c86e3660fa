import type { RunId, SessionId } from "@keelson/protocol";

/**
 * What resuming a session with this build would come to first:
 * - `goes-on`: the run goes on to `reason`, with what the log holds;
 * - `waits`: it waits for what it waited for before;
 * - `asks`: it would suspend with a question that nobody was asked yet;
 * - `ends`: it would end;
 * - `refused`: this build can't go on with it, and leaves it as it is;
 * - `differs`: the log, folded from its beginning, gives something else than what stands behind its records, or holds what this build doesn't know.
 */
export type RehearsalVerdict = "goes-on" | "waits" | "asks" | "ends" | "refused" | "differs";

/** What was found of one session. */
export interface RehearsedSession {
  readonly session: SessionId;
  readonly run?: RunId;
  readonly agent?: string;
  readonly verdict: RehearsalVerdict;
  /** In words: what comes first, is asked, is wrong. */
  readonly reason: string;
  /** What somebody should do, where something is to be done. */
  readonly action?: string;
  /** The record that it is about, where it is about one. */
  readonly seq?: number;
  /** The definition of its agent is another than that which the run last went on with. */
  readonly changed: boolean;
  /**
   * Whether this build can be deployed as far as this session is concerned: not where it is refused, differs, would end with an error,
   * or would ask somebody only because the definition changed.
   */
  readonly isSafe: boolean;
}
