import type { AgentEvent } from "@keelson/protocol";
import type { LivePart } from "../terminal/live-part.ts";
import { truncated } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

export interface MessageQueueOptions {
  readonly style: Style;
  /** `part` shows something else. */
  onChange(): void;
  /** Hands a message to the run, which cannot give it back. */
  deliver(text: string): void;
}

/**
 * Messages that were sent while the agent works. A run reads messages between its turns. So a message waits here while a response
 * streams, and can be edited, until the calls of that response begin. While calls run a message is handed over immediately.
 */
export interface MessageQueue {
  /** The messages that wait. */
  readonly part: LivePart;
  send(text: string): void;
  /** Keeps all messages until the run has ended, because it is being stopped and would not respond to them. */
  hold(): void;
  /** Passes the events of a run on, and hands over the messages when the run is about to read them. */
  following(events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent>;
  /** Removes the last message that waits, so that it can be edited. @returns `undefined` if the run has all of them */
  takeLast(): string | undefined;
  /** Removes all messages that wait: those of a run that has ended. */
  takeAll(): readonly string[];
}

const MAX_SHOWN = 3;

export function createMessageQueue({ style, onChange, deliver }: MessageQueueOptions): MessageQueue {
  let waiting: readonly string[] = [];
  /** True between the calls of a response and the next response. */
  let isReading = false;
  let isHeld = false;

  function handOver(): void {
    if (isHeld) return;
    isReading = true;
    const due = waiting;
    waiting = [];
    for (const text of due) deliver(text);
    if (due.length > 0) onChange();
  }

  function follow({ type, path = [] }: AgentEvent): void {
    if (path.length > 0) return;
    if (type === "tool-calls-start" || type === "run-suspend") handOver();
    else if (type === "turn-start" || type === "run-start") isReading = false;
  }

  return {
    part: {
      rows({ columns, rows }) {
        const shown = waiting.slice(-Math.max(1, Math.min(MAX_SHOWN, rows)));
        const more = waiting.length - shown.length;
        const lines = shown.map((text, index) => {
          const note = index === shown.length - 1 ? " (Alt-Up edits)" : "";
          const lead = index === 0 && more > 0 ? `waits (+${more}) › ` : "waits › ";
          const room = Math.max(1, columns - lead.length - note.length);
          return style.dim(`${lead}${truncated(printableLine(text), room)}${note}`);
        });
        return { lines };
      },
    },
    send(text) {
      if (isReading && !isHeld) return deliver(text);
      waiting = [...waiting, text];
      onChange();
    },
    hold() {
      isHeld = true;
    },
    async *following(events) {
      isReading = false;
      for await (const event of events) {
        follow(event);
        yield event;
      }
      isReading = false;
    },
    takeLast() {
      const last = waiting.at(-1);
      waiting = waiting.slice(0, -1);
      if (last !== undefined) onChange();
      return last;
    },
    takeAll() {
      const all = waiting;
      waiting = [];
      isHeld = false;
      if (all.length > 0) onChange();
      return all;
    },
  };
}
