import type { SessionId } from "@keelson/protocol";
import type { Policy } from "keelson/security";
import type { Launch } from "../core/launch.ts";
import type { ProjectRule } from "../core/project-rules.ts";
import type { RunTerms } from "../core/run-terms.ts";
import type { FindingLinesOptions } from "../render/finding-lines.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";

/** Everything that a conversation needs to know of a session before it opens it. */
export interface SessionPlan {
  readonly launch: Launch;
  readonly policy?: Policy | undefined;
  readonly projectRules: readonly ProjectRule[];
  /** Shown once. */
  readonly notices: readonly string[];
  /** The trust in what the project brings. */
  readonly trust: ProjectTrust;
  /** The session to continue. Absent: a new one, which its first message makes. */
  readonly session?: SessionId | undefined;
  /** True if it has a run that is not finished. */
  readonly resume: boolean;
}

/** A session that a person asked for in a conversation. */
export type WantedSession =
  | { readonly type: "new"; readonly cwd: string; readonly terms: RunTerms }
  /** The id or its beginning. The terms hold where the session says nothing of them. */
  | { readonly type: "named"; readonly id: string; readonly terms: RunTerms };

/** Plans sessions as the command line did that started the conversation, and checks what they need. */
export interface SessionPlanner {
  /** @throws UsageError if there is no such session, or its folder is gone */
  plan(wanted: WantedSession): Promise<SessionPlan>;
  /** The lines of `keelson doctor` for a folder. */
  findings(folder: string, view: FindingLinesOptions): Promise<readonly string[]>;
}
