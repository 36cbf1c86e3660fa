import type { CallId } from "@keelson/protocol";
import { digestOf } from "../../json/digest.ts";
import type { RunState } from "../../session/session-state.ts";

const ALGORITHM = "sha256:";
/** Of four bits each. */
const ID_CHARACTERS = 24;

/** The ids of the calls of one answer, each made once. */
export function callIdsOf(run: Pick<RunState, "id" | "turn">, modelCall: number): (index: number) => CallId {
  const ids: CallId[] = [];
  const { id, turn } = run;
  return (index) => (ids[index] ??= callIdOf({ id, turn }, modelCall, index));
}

/** The id of a call, from its place alone: a replay finds the same one. 26 letters, digits and `_`, as every vendor accepts. */
function callIdOf(run: Pick<RunState, "id" | "turn">, modelCall: number, index: number): CallId {
  const digest = digestOf(`${run.id}/${run.turn}/${modelCall}/${index}`);
  return `c_${digest.slice(ALGORITHM.length, ALGORITHM.length + ID_CHARACTERS)}` as CallId;
}
