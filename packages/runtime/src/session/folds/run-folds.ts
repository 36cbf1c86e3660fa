import type { LogRecord, RunId } from "@keelson/protocol";
import { emptyTotals, lastTextOf, NO_CALLS, NO_MESSAGES, NO_NAMES, NO_QUESTIONS, NO_WAITS } from "../session-state.ts";
import { type Folds, running } from "./fold.ts";
import { unitedSources } from "../untrusted-sources.ts";
import { keepShown, noteShown } from "./shown-events.ts";

export type RunRecordType =
  | "run-start"
  | "run-resume"
  | "run-suspend"
  | "run-terms"
  | "instructions"
  | "inbox-read"
  | "model-switch"
  | "permission-mode-switch"
  | "effort-switch"
  | "definition-change"
  | "run-context"
  | "events-shown"
  | "decision"
  | "output-repair"
  | "run-ending"
  | "run-complete"
  | "error";

/** Folds of the life of a run: its terms, its waits, its end. */
export const RUN_FOLDS: Folds<RunRecordType> = {
  "run-start": (state, record, data) => {
    state.agent = data.agent;
    state.run = {
      id: runIdOf(record),
      agent: data.agent,
      definition: data.definition,
      model: data.model,
      metadata: data.metadata ?? {},
      ...(data.parent && { parent: data.parent }),
      ...(data.effort !== undefined && { effort: data.effort }),
      startSeq: record.seq,
      startedAt: record.at,
      status: "working",
      turn: 0,
      turnOpen: false,
      responded: false,
      totals: emptyTotals(),
      open: new Map(),
      callsOpen: false,
      lastResponse: undefined,
      repairs: 0,
      calls: NO_CALLS,
      failedTurns: 0,
      turnBase: { calls: NO_CALLS, toolCalls: 0 },
      questions: NO_QUESTIONS,
      newGrants: NO_NAMES,
      inboxBase: 0,
      subDispatches: [],
      callsRun: 0,
      interrupted: false,
      unreadMessages: NO_MESSAGES,
      userMessages: 0,
      held: NO_MESSAGES,
      waits: NO_WAITS,
      resumes: 0,
      crashes: 0,
      stalls: 0,
    };
  },
  "run-resume": (state, _record, data) => {
    const run = running(state);
    run.status = "working";
    run.waits = NO_WAITS;
    delete run.suspendReason;
    run.resumes++;
    if (data.cause !== "recovery") return;
    run.crashes++;
    run.stalls++;
  },
  "run-suspend": (state, _record, data) => {
    const run = running(state);
    run.status = "suspended";
    run.suspendReason = data.reason;
    run.waits = data.waits;
  },
  "run-terms": (state, _record, data) => {
    const run = running(state);
    run.terms = data;
    run.inboxBase = data.inboxBase ?? 0;
    state.untrusted = unitedSources(state.untrusted, data.authority.untrusted);
    if (data.ledger !== undefined) run.ledger = data.ledger;
  },
  "instructions": (state, _record, data) => {
    running(state).instructions = data.text;
  },
  "inbox-read": (state, _record, data) => {
    state.inboxRead = data.upTo;
    if (data.compact) {
      state.compactAsked = true;
      if (data.compactKeep === undefined) delete state.compactKeep;
      else state.compactKeep = data.compactKeep;
    }
    if (data.setModel) state.models = new Map([...state.models, [data.setModel.agent, data.setModel.model]]);
    if (!state.run) return;
    if (data.setModel?.agent === state.run.agent && data.upTo > state.run.inboxBase) state.run.setModel = data.setModel.model;
    if (data.stopping !== "abort" && (data.stopping !== "stop" || state.run.stopping !== undefined)) return;
    state.run.stopping = data.stopping;
    if (data.why !== undefined) state.run.stoppedFor = data.why;
  },
  "model-switch": (state, _record, data) => {
    running(state).model = data.to;
  },
  "permission-mode-switch": (state, _record, data) => {
    const run = running(state);
    run.permissionMode = data.to;
    if (data.openCalls) run.callsPermissionMode = data.to;
  },
  "effort-switch": (state, _record, data) => {
    const run = running(state);
    if (data.to === null) delete run.effort;
    else run.effort = data.to;
  },
  "definition-change": (state, _record, data) => {
    const run = running(state);
    run.definition = data.to;
    if (run.turnOpen && run.responded) run.outdated = true;
  },
  "run-context": (state, _record, data) => {
    running(state).metadata = data.context;
  },
  "events-shown": (state, record, { upTo, types }) => {
    const run = running(state);
    if (run.shown === undefined) keepShown(run, record.key, upTo, types);
    else noteShown(run, record, upTo);
  },
  "decision": (state, record, { shownUpTo }) => {
    if (shownUpTo !== undefined) noteShown(running(state), record, shownUpTo);
  },
  "output-repair": (state) => {
    running(state).repairs++;
  },
  "run-ending": (state, _record, data) => {
    const run = running(state);
    run.ending = data;
    run.stalls = 0;
  },
  "run-complete": (state, _record, data) => {
    const run = running(state);
    run.status = "ended";
    run.end = {
      reason: data.reason,
      text: data.text,
      ...(data.output !== undefined && { output: data.output }),
      ...(data.halted && { halted: data.halted }),
      ...(data.limit && { limit: data.limit }),
      ...(data.why !== undefined && { why: data.why }),
    };
    run.open = new Map();
  },
  "error": (state, _record, data) => {
    const run = running(state);
    run.status = "ended";
    run.end = { reason: "error", text: lastTextOf(run), failure: data.failure };
    run.open = new Map();
  },
};

/** The key of a run's first record is its id and `/start`. */
function runIdOf(record: LogRecord): RunId {
  return record.key.slice(0, record.key.indexOf("/")) as RunId;
}
