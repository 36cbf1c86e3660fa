import type { JsonObject } from "@keelson/protocol";
import { applyJsonPatch } from "../../json/json-patch.ts";
import { NO_NAMES, NO_STATES } from "../session-state.ts";
import { type Folds, running } from "./fold.ts";
import { noteShown } from "./shown-events.ts";

export type SessionRecordType =
  | "session-create"
  | "session-rename"
  | "session-tag"
  | "session-rewind"
  | "compaction"
  | "state-update"
  | "strategy-state";

/** Folds of what belongs to the session: its name, its past, the state of its plugins. */
export const SESSION_FOLDS: Folds<SessionRecordType> = {
  "session-create": (state, _record, data) => {
    if (data.name !== undefined) state.name = data.name;
    if (data.tags) state.tags = data.tags;
    if (data.agent !== undefined) state.agent = data.agent;
    if (data.parent) state.parent = data.parent;
  },
  "session-rename": (state, _record, data) => {
    state.name = data.name;
  },
  "session-tag": (state, _record, data) => {
    if (!state.tags.includes(data.tag)) state.tags = state.tags.concat(data.tag);
  },
  "session-rewind": (state, _record, data) => {
    if (data.restored) state.conversation.replace(data.restored);
    else state.conversation.truncate(data.length);
    const turns = data.turns - state.turnsBefore;
    const border = state.turnBorders[turns - 1];
    state.compaction = border?.compaction ?? "";
    state.strategyStates = border?.strategyStates ?? NO_STATES;
    state.untrusted = border?.untrusted ?? NO_NAMES;
    if (data.agentState) {
      state.agentState = data.agentState;
      state.stateUpdate = border?.stateUpdate ?? "";
    }
    delete state.counted;
    state.turnBorders = state.turnBorders.slice(0, turns);
    state.totals.turns = data.turns;
  },
  "compaction": (state, record, data) => {
    state.compaction = `${state.id}/${record.seq}`;
    delete state.counted;
    state.conversation.replace(data.messages.map((message, index) => ({ message, policy: data.policies?.[index] ?? "normal" })));
  },
  "state-update": (state, record, data) => {
    state.agentState = applyJsonPatch(state.agentState, data.patch) as JsonObject;
    state.stateUpdate = `${state.id}/${record.seq}`;
    const { run, turnBorders } = state;
    if (run !== undefined && data.shownUpTo !== undefined) noteShown(run, record, data.shownUpTo);
    const border = turnBorders.at(-1);
    // What changes once a run has its result belongs to its last turn: who goes back to the end of that has it all.
    if (run?.ending && border && run.totals.turns > 0)
      turnBorders[turnBorders.length - 1] = { ...border, session: state.id, seq: record.seq, stateUpdate: state.stateUpdate };
  },
  "strategy-state": (state, _record, data) => {
    running(state).strategyState = data.state;
    state.strategyStates = new Map([...state.strategyStates, [data.agent, data.state]]);
  },
};
