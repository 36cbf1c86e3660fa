import type { AgentEvent } from "@keelson/protocol";
import type { RunView } from "../render/run-view.ts";

const FRAME_MS = 120;

/** Shows a run until its stream ends; `live` keeps the status moving between events. @returns the type of the last event */
export async function watchRun(
  events: AsyncIterable<AgentEvent>,
  view: RunView,
  { live }: { readonly live: boolean },
): Promise<string | undefined> {
  const timer = live ? setInterval(() => view.tick(), FRAME_MS) : undefined;
  try {
    let last: string | undefined;
    for await (const event of events) {
      view.show(event);
      last = String(event.type);
    }
    return last;
  } finally {
    clearInterval(timer);
  }
}
