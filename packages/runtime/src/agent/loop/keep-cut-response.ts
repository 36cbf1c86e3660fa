import type { Loop } from "../turn/loop.ts";

/** At the end of a run: what the response said that ended with it, or that nobody asks for again, joins the conversation. */
export function keepCutResponse(loop: Loop): void {
  const { cut } = loop;
  if (cut === undefined) return;
  loop.cut = undefined;
  // Rules around a response are not asked: nothing goes on behind this one.
  loop.execution.put(`${cut.key}/message`, "message", { message: cut.message });
}
