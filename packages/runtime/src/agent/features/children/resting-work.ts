import type { ChildState } from "../../../session/child-state.ts";
import type { Outside } from "../../../session/outside-reached.ts";
import type { Work } from "./work.ts";

/** A task or job in a rehearsal: it is left as it stands in the log, and its run waits for it. */
export function restingWork(state: ChildState, outside: Outside, ring: () => void): Work {
  if (state.settled === undefined) outside(`the ${state.kind} "${state.name}" beside its turns`);
  const work: Work = {
    state,
    ending: state.settled,
    waiting: state.settled === undefined ? { reason: "awaiting-child", waits: [] } : undefined,
    effects: [],
    handoff: undefined,
    done: Promise.resolve(),
    stop() {
      work.ending ??= { reason: "stopped", text: "" };
      ring();
    },
    leave() {},
  };
  return work;
}
