import type { Run, RunInput } from "keelson";
import type { RunTerms } from "../core/run-terms.ts";

/** The session of a conversation. It is made by its first run, and may be replaced by another one. */
export interface ConversationSession {
  /** The terms of the next run. */
  readonly terms: RunTerms;
  /** @throws if they are impossible, such as a model without a key */
  change(terms: Partial<RunTerms>): void;
  start(content: RunInput): Promise<Run<unknown>>;
  /** Resumes the run of the session, which waits. */
  resume(): Promise<Run<unknown>>;
  /** Keeps patterns of allow rules for later sessions in this project. */
  allowInProject(rules: readonly string[]): Promise<void>;
}
