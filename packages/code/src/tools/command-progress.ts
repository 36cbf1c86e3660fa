import type { ToolCall } from "@keelson/protocol";

// A person follows this; more would only cost.
const PROGRESS_INTERVAL_MS = 100;
const PROGRESS_CHARACTERS = 2000;

/** Shows what is printed while it is printed, not more often than a person can follow. */
export function createProgress(call: Pick<ToolCall, "progress">): { tell(settled: string): void; end(): void } {
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;
  const show = (): void => {
    timer = undefined;
    if (waiting === "") return;
    const message = waiting;
    waiting = "";
    call.progress(message);
    timer = setTimeout(show, PROGRESS_INTERVAL_MS);
  };
  return {
    tell(settled) {
      if (settled === "") return;
      waiting = (waiting + settled).slice(-PROGRESS_CHARACTERS);
      if (timer === undefined) show();
    },
    end() {
      clearTimeout(timer);
      timer = undefined;
      waiting = "";
    },
  };
}
