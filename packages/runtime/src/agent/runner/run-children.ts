import type { InboxMessage, SessionId } from "@keelson/protocol";
import { atAgentBoundary } from "../../session/log-failure.ts";
import type { SessionState } from "../../session/session-state.ts";
import type { ChildView } from "../definition/child-view.ts";
import { listChildren } from "../features/children/list-children.ts";
import { retryChild, stopChild, type Supervision } from "../features/children/supervise.ts";
import type { LiveRun } from "../turn/live-run.ts";
import type { RunnerServices } from "../turn/runner-services.ts";

export interface RunChildrenOptions {
  readonly session: SessionId;
  readonly services: RunnerServices;
  /** Of the session, while the run is its newest. */
  readonly stateOf: () => SessionState | undefined;
  /** @returns whether the run could still read it */
  readonly tell: (message: InboxMessage) => Promise<boolean>;
  /** Resolves when the session is open. */
  readonly opened: Promise<void>;
}

/** The children of a run as those see them who hold its handle. */
export class RunChildren {
  readonly #options: RunChildrenOptions;
  /** Those at work in this process. */
  readonly #live = new Map<string, LiveRun>();

  constructor(options: RunChildrenOptions) {
    this.#options = options;
  }

  /** @returns what to call when it is over */
  adopt(child: LiveRun): () => void {
    this.#live.set(child.id, child);
    return () => void this.#live.delete(child.id);
  }

  list(): Promise<readonly ChildView[]> {
    return this.#look(({ services, state }) => listChildren(services, state));
  }

  stop(id: string): Promise<boolean> {
    return this.#look((supervision) => stopChild(id, supervision));
  }

  retry(id: string): Promise<boolean> {
    return this.#look((supervision) => retryChild(id, supervision));
  }

  async #look<T>(look: (supervision: Supervision) => Promise<T>): Promise<T> {
    const { session, services, stateOf, tell, opened } = this.#options;
    await opened;
    return atAgentBoundary(session, () => look({ services, state: stateOf(), live: this.#live, tell }));
  }
}
