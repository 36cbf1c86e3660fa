import type { AgentEvent } from "@keelson/protocol";

/** Which calls of a run are under way, as its events tell. */
export interface RunningCalls {
  see(event: AgentEvent): void;
  /** Sees what passes. */
  following(events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent>;
  /** Whether any is, but for those that wait for an answer. */
  any(): boolean;
}

export function createRunningCalls(): RunningCalls {
  const running = new Set<string>();
  const waiting = new Set<string>();
  function see(event: AgentEvent): void {
    switch (event.type) {
      case "tool-calls-start":
        for (const { callId } of event.calls) running.add(callId);
        break;
      case "tool-result":
        running.delete(event.callId);
        waiting.delete(event.callId);
        break;
      case "approval-request":
        waiting.add(event.callId);
        break;
      case "approval-decision":
        waiting.delete(event.callId);
        break;
      default:
    }
  }

  return {
    see,
    async *following(events) {
      for await (const event of events) {
        see(event);
        yield event;
      }
    },
    any: () => [...running].some((callId) => !waiting.has(callId)),
  };
}
