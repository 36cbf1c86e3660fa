import type { CallId, RunId } from "@keelson/protocol";
import { shortHash } from "../../json/digest.ts";

/** Of five bits each: no two runs share them. */
const RUN_CHARACTERS = 16;

/** What the ids of all calls of a run begin with. */
export function callPrefixOf(run: RunId): string {
  return `c_${shortHash(run, RUN_CHARACTERS)}`;
}

/** What the ids of the calls of one answer begin with: its place alone, so that a replay finds the same ones. */
export function answerPrefixOf(callPrefix: string, turn: number, modelCall: number): string {
  return `${callPrefix}_${turn.toString(36)}_${modelCall.toString(36)}_`;
}

/** The id of the call at this index of an answer. Some 30 letters, digits and `_`: as every vendor accepts, or renames on his wire. */
export function callIdAt(answerPrefix: string, index: number): CallId {
  return `${answerPrefix}${index.toString(36)}` as CallId;
}
