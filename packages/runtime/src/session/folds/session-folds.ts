import type { JsonObject } from "@keelson/protocol";
import { applyJsonPatch } from "../../json/json-patch.ts";
import { NO_NAMES, NO_STATES, type SessionState } from "../session-state.ts";
import { withOffer } from "../offered-tool.ts";
import { addSteering, type Folds, running } from "./fold.ts";
import { noteShown } from "./shown-events.ts";

export type SessionRecordType =
  | "session-create"
  | "session-rename"
  | "session-tag"
  | "session-rewind"
  | "compaction"
  | "compaction-left"
  | "state-update"
  | "strategy-state"
  | "tools-offered"
  | "tools-loaded";

/** Folds of what belongs to the session: its name, its past, the state of its plugins, what sources of tools offer. */
export const SESSION_FOLDS: Folds<SessionRecordType> = {
  "session-create": (state, _record, data) => {
    if (data.name !== undefined) state.name = data.name;
    if (data.tags) state.tags = data.tags;
    if (data.agent !== undefined) state.agent = data.agent;
    if (data.parent) state.parent = data.parent;
    for (const message of data.closing ?? []) addSteering(state, message);
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
    if (border?.kept) state.kept = border.kept;
    else delete state.kept;
    if (data.agentState) {
      state.agentState = data.agentState;
      state.stateUpdate = border?.stateUpdate ?? "";
    }
    delete state.counted;
    delete state.request;
    delete state.vainCompactions;
    state.turnBorders = state.turnBorders.slice(0, turns);
    state.totals.turns = data.turns;
  },
  "compaction": (state, record, data) => {
    state.compaction = `${state.id}/${record.seq}`;
    delete state.counted;
    state.conversation.replace(data.messages.map((message, index) => ({ message, policy: data.policies?.[index] ?? "normal" })));
    if (data.request === undefined) delete state.request;
    else state.request = data.request;
    if (data.cause === "request") forgetRequest(state);
    if (data.vain === true) state.vainCompactions = (state.vainCompactions ?? 0) + 1;
    else if (data.level !== "refused") delete state.vainCompactions;
  },
  "compaction-left": (state, _record, data) => {
    if (data.cause === "request") forgetRequest(state);
    if (data.why === "no-gain") state.vainCompactions = (state.vainCompactions ?? 0) + 1;
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
  "tools-loaded": (state, _record, { agent, tools }) => {
    const loaded = [...(state.loadedTools?.get(agent) ?? []), ...tools];
    state.loadedTools = new Map([...(state.loadedTools ?? []), [agent, loaded]]);
  },
  "tools-offered": (state, _record, { agent, source, ...change }) => {
    state.offers = new Map([...(state.offers ?? []), [agent, withOffer(state.offers?.get(agent), source, change)]]);
  },
};

function forgetRequest(state: SessionState): void {
  delete state.compactAsked;
  delete state.compactKeep;
}
