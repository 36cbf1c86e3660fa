import type { CallId, RunId } from "@keelson/protocol";
import { shortHash } from "../../json/digest.ts";

/** Of five bits each: no two runs share them. */
const RUN_CHARACTERS = 16;

/** What the ids of all calls of a run begin with. */
export function callPrefixOf(run: RunId): string {
  return `c_${shortHash(run, RUN_CHARACTERS)}`;
}

/**
 * The id of a call, from its place alone: a replay finds the same one. Some 30 letters, digits and `_`, which every vendor accepts, or
 * is given another name for on his wire.
 */
export function callIdAt(callPrefix: string, turn: number, modelCall: number, index: number): CallId {
  return `${callPrefix}_${turn.toString(36)}_${modelCall.toString(36)}_${index.toString(36)}` as CallId;
}
