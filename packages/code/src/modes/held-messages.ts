import type { AgentEvent } from "@keelson/protocol";

/** Holds messages until the run under way can read them. */
export interface HeldMessages {
  send(text: string): void;
  /** Keeps all messages until the run has ended, because it is being stopped. */
  hold(): void;
  /** Passes the events of a run, and delivers the messages when the run is about to read them. */
  following(events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent>;
  /** Removes all messages that wait. */
  takeAll(): readonly string[];
}
