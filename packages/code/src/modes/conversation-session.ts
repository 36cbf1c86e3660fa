import type { EffortLevel } from "@keelson/protocol";
import type { Run, RunInput } from "keelson";
import type { RunTerms } from "../core/run-terms.ts";

/** The session of a conversation. It is made by its first run, and may be replaced by another one. */
export interface ConversationSession {
  /** The terms of the next run. */
  readonly terms: RunTerms;
  /** @throws if they are impossible, such as a model without a key */
  change(terms: Partial<RunTerms>): void;
  /** The levels of effort that a model takes. Empty: none. @throws for a model that is not known here */
  effortsOf(model: string): readonly EffortLevel[];
  /** Returns the part of the context window from which the conversation is shortened. */
  compactAt(): number;
  start(content: RunInput): Promise<Run<unknown>>;
  /** Resumes the run of the session, which waits. */
  resume(): Promise<Run<unknown>>;
  /** Keeps patterns of allow rules for later sessions in this project. */
  allowInProject(rules: readonly string[]): Promise<void>;
}
