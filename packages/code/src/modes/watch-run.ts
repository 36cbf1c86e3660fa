import type { AgentEvent } from "@keelson/protocol";
import type { RunView } from "../render/run-view.ts";

const FRAME_MS = 120;

/** Shows a run until its stream ends; `live` keeps the status moving between events. */
export async function watchRun(events: AsyncIterable<AgentEvent>, view: RunView, { live }: { readonly live: boolean }): Promise<void> {
  const timer = live ? setInterval(() => view.tick(), FRAME_MS) : undefined;
  try {
    for await (const event of events) view.show(event);
  } finally {
    clearInterval(timer);
  }
}
