import {
  UNKNOWN_USAGE,
  ZERO_USD,
  type ApprovalRequest,
  type CallId,
  type Decision,
  type EffortLevel,
  type EstimatedCalls,
  type JsonObject,
  type JsonValue,
  type LogRecord,
  type Message,
  type PermissionMode,
  type RunId,
  type SessionId,
  type SubDispatchRecord,
  type SuspendReason,
  type Usage,
  type Usd,
  type Wait,
} from "@keelson/protocol";
import { Conversation } from "../context/conversation.ts";
import { textOf } from "../providers/infer.ts";
import type { Children } from "./child-state.ts";
import type { Outbox } from "./outbox.ts";
import type { RaisedLimits, RunEnd, RunTerms } from "./record-data.ts";
import type { ToolOffers } from "./offered-tool.ts";
import type { RecordedCall } from "./recorded-call.ts";

/** Sums over model calls. `cost` holds what is known; `costKnown` is false once a call had no price. */
export interface Totals {
  usage: Usage;
  cost: Usd;
  costKnown: boolean;
  /** Absent as long as every call told its usage. */
  estimated?: EstimatedCalls;
  turns: number;
  modelCalls: number;
  toolCalls: number;
}

/** The newest run of a session. Its read-only lists are never changed in place, so that those that are empty can be one. */
export interface RunState {
  readonly id: RunId;
  readonly agent: string;
  definition: string;
  model: string;
  /** The model that somebody set while it was at work. */
  setModel?: string;
  /** The permission mode that was set since it began; absent while the modes in `terms` hold. */
  permissionMode?: PermissionMode;
  /** The same before the first of the last calls was judged: gates read this, so that a replay decides alike. */
  callsPermissionMode?: PermissionMode;
  /** The effort that holds instead of the agent's; absent if that of the agent holds. */
  effort?: EffortLevel;
  /** What it was started with, or what prompt middleware made of that. */
  metadata: { readonly [key: string]: JsonValue | undefined };
  readonly parent?: { readonly run: RunId; readonly call?: CallId; readonly session?: SessionId };
  readonly startSeq: number;
  /** Unix ms; from the log. */
  startedAt: number;
  status: "working" | "suspended" | "ended";
  /** The turn that is open, or the last one; 0 before the first. */
  turn: number;
  turnOpen: boolean;
  /** The open turn has a response of the model: only then it counts as one. */
  responded: boolean;
  readonly totals: Totals;
  /** What stands in the log for the open turn (or, between turns, since the last), by key: what a replay finds done. */
  open: Map<string, LogRecord>;
  /** Patterns of allow rules that people added while this turn was open. They count from the next turn on, so that a replay asks what was asked. */
  newGrants: readonly string[];
  /** Those that ran in this turn, for the first time in this version. They count from the next turn on, like grants. */
  newVersions?: ReadonlyMap<string, string>;
  /** Where the inbox ended when the run began: what was told to earlier runs is not for this one. */
  inboxBase: number;
  /** What it was started with; a resume goes by this, not by what the definition says by then. */
  terms?: RunTerms;
  /** The limits that a person raised beyond those in `terms`. */
  raisedLimits?: RaisedLimits;
  /** What the agent's `instructions` function returned for this run. */
  instructions?: string;
  /** Not all calls of the last message have results. */
  callsOpen: boolean;
  /** The state of the agent's state machine, when it has one. */
  strategyState?: string;
  /** The same when the calls of the last message were asked for: the gate looks at this, so that a replay decides alike. */
  callsState?: string;
  /** What stood in `untrusted` when the calls of the last message were asked for: gates look at this, so that a replay decides alike. */
  callsUntrusted?: readonly string[];
  /** The values that tools kept when the calls of the last message were asked for: all of these calls, and a replay, see the same. */
  callsKept?: JsonObject;
  /** The agent's definition changed since the last response of the open turn: its calls may not fit the new one. */
  outdated?: true;
  /** The last assistant message. */
  lastResponse: Message | undefined;
  /** Responses that were given back to the model, since they did not give the structured output. */
  repairs: number;
  /** The last calls with their outcomes, newest last: what the loop guard looks at. */
  calls: readonly RecordedCall[];
  /** How the calls of the open turn came out so far; absent while there are none. */
  turnCalls?: "failed" | "answered";
  /** Turns in a row whose every call failed or was refused. */
  failedTurns: number;
  /** `calls` and the number of tool calls when the open turn began: gates look at these, so that a replay decides alike. */
  turnBase: { readonly calls: readonly RecordedCall[]; readonly toolCalls: number };
  /** Questions of the open turn by nonce. Never changed in place. */
  questions: ReadonlyMap<string, Question>;
  /** The calls that ran, for whoever dispatched this run; the first {@link MAX_SUB_DISPATCHES} of them. */
  readonly subDispatches: SubDispatchRecord[];
  /** How many calls ran. */
  callsRun: number;
  /** What children that are over used of what budgets count. */
  below?: { readonly turns: number; readonly toolCalls: number; readonly modelCalls: number };
  /** The budget ledger that knows what this run used. */
  ledger?: string;
  /** The parts of limits whose using up was told. */
  budgetMarks?: Set<string>;
  /** A steering message wants the rest of this turn's calls skipped. */
  interrupted: boolean;
  /** What the user said, input and steering, that no model has responded to yet. */
  unreadMessages: readonly Message[];
  /** How much of that there was in all. */
  userMessages: number;
  /** What plugins are shown of its events. Absent until one wants to see them. */
  shown?: ShownEvents;
  /** Steering that came while calls were open: it joins the conversation when they have their results. */
  held: readonly Message[];
  waits: readonly Wait[];
  suspendReason?: SuspendReason;
  /** How often the run was resumed. */
  resumes: number;
  /** Recoveries since the last turn that came to its end: what was called since may be called again. */
  crashes: number;
  /** Recoveries since it last got on (a turn ended, an effect was done, its ending was known): what the circuit breaker counts. */
  stalls: number;
  stopping?: "stop" | "abort";
  /** The reason that was given for it. */
  stoppedFor?: string;
  /** The agents and tasks that it started; absent while there are none. */
  children?: Children;
  /** It passed its task on to another agent, and ends once its calls have results. */
  handedOff?: true;
  /** The effects that it declared; absent while there are none. */
  outbox?: Outbox;
  /** How it is going to end, while what comes before its terminal event is done. */
  ending?: RunEnd;
  end?: RunEnd;
}

/** The durable events of a run that plugins are shown in batches: the last batch is what stands behind `from` and up to `upTo`. */
export interface ShownEvents {
  /** The record that says so. */
  readonly key: string;
  readonly from: number;
  readonly upTo: number;
  /** Those behind `from`, in order. */
  readonly events: LogRecord[];
  /** The types of events that some plugin wants; absent where one wants all of them. */
  readonly types: readonly string[] | undefined;
}

/** Calls that an account of a run names one by one. */
export const MAX_SUB_DISPATCHES: number = 1000;

export interface Question extends ApprovalRequest {
  decision?: Decision;
}

export interface TurnBorder {
  readonly turn: number;
  /** Where the end of the turn stands: in this session's log, or in that of one it is a fork of. */
  readonly session: SessionId;
  readonly seq: number;
  /** Length of the conversation there. It says nothing once another compaction replaced the conversation. */
  readonly length: number;
  readonly compaction: string;
  /** The last change of the agent's state before it. */
  readonly stateUpdate: string;
  readonly strategyStates: SessionState["strategyStates"];
  readonly untrusted: SessionState["untrusted"];
  readonly kept?: JsonObject;
}

/** The fold of a session's log. Only `applyRecord` changes it. */
export interface SessionState {
  readonly id: SessionId;
  /** Seq and time of the last record folded. */
  seq: number;
  at: number;
  name?: string;
  tags: readonly string[];
  agent: string;
  createdAt: number;
  parent?: { readonly session: SessionId; readonly seq: number };
  readonly conversation: Conversation;
  readonly totals: Totals;
  /** Ends of turns, for rewinding and forking: those behind `turnsBefore`. */
  turnBorders: TurnBorder[];
  /** How many turns ended before those. Where a snapshot was read, it held the last one alone; `foldWhole` has all. */
  turnsBefore: number;
  /** The last compaction of the conversation as it is; "" before the first. */
  compaction: string;
  /** Where the user's last request stands in the conversation; absent where that is not known. */
  request?: number;
  /** Compactions in a row that gained nothing; absent while there are none. */
  vainCompactions?: number;
  /** Somebody asked for a compaction, which is not done yet. */
  compactAsked?: true;
  /** The subject that its summary is to keep in particular. */
  compactKeep?: string;
  /** What plugins keep, by their keys under `plugins`. Never changed in place. */
  agentState: JsonObject;
  /** The last change of it; "" before the first. */
  stateUpdate: string;
  /** The input tokens that a model last counted, and how many messages they stood for; absent where the conversation was replaced since. */
  counted?: {
    readonly inputTokens: number;
    readonly messages: number;
    readonly cacheReadTokens?: number;
    readonly cacheCreationTokens?: number;
  };
  /** The states of state machines, by agent. Never changed in place. */
  strategyStates: ReadonlyMap<string, string>;
  /** The models that were set for the session, by agent. Never changed in place. */
  models: ReadonlyMap<string, string>;
  /** Patterns of allow rules that people added for the whole session. Never changed in place. */
  grants: ReadonlySet<string>;
  /** Where text in the conversation comes from that nobody vouches for; a summary of such text counts as such. Never changed in place. */
  untrusted: readonly string[];
  /** What sources offer, by agent; absent while there is nothing. Never changed in place. */
  offers?: ReadonlyMap<string, ToolOffers>;
  /** Names of tools of sources that a model was told of whole, by agent; absent while there are none. Never changed in place. */
  loadedTools?: ReadonlyMap<string, readonly string[]>;
  /** The values that tools keep for the session, by name; absent while there are none. Never changed in place. */
  kept?: JsonObject;
  /** In which version tools of sources last ran; absent while none did. Never changed in place. */
  toolVersions?: ReadonlyMap<string, string>;
  /** Seq of the last inbox entry that was read. */
  inboxRead: number;
  run: RunState | undefined;
}

export const NO_NAMES: readonly string[] = [];
export const NO_CALLS: readonly RecordedCall[] = [];
export const NO_MESSAGES: readonly Message[] = [];
export const NO_WAITS: readonly Wait[] = [];
export const NO_STATES: ReadonlyMap<string, string> = new Map();
export const NO_MODELS: ReadonlyMap<string, string> = new Map();
export const NO_GRANTS: ReadonlySet<string> = new Set();
export const NO_QUESTIONS: ReadonlyMap<string, Question> = new Map();

export function emptySession(id: SessionId): SessionState {
  return {
    id,
    seq: 0,
    at: 0,
    tags: NO_NAMES,
    agent: "",
    createdAt: 0,
    conversation: new Conversation(),
    totals: emptyTotals(),
    turnBorders: [],
    turnsBefore: 0,
    compaction: "",
    agentState: {},
    stateUpdate: "",
    strategyStates: NO_STATES,
    models: NO_MODELS,
    grants: NO_GRANTS,
    untrusted: NO_NAMES,
    inboxRead: 0,
    run: undefined,
  };
}

/** A session that begins with the conversation of another. Its own costs begin at zero. */
export function forkedSession(id: SessionId, parent: SessionState): SessionState {
  const {
    conversation,
    turnBorders,
    turnsBefore,
    compaction,
    agentState,
    stateUpdate,
    strategyStates,
    models,
    untrusted,
    request,
    offers,
    loadedTools,
    toolVersions,
    kept,
  } = parent;
  const state = emptySession(id);
  state.totals.turns = parent.totals.turns;
  return {
    ...state,
    conversation,
    turnBorders,
    turnsBefore,
    compaction,
    agentState,
    stateUpdate,
    strategyStates,
    models,
    untrusted,
    ...(request !== undefined && { request }),
    ...(offers && { offers }),
    ...(loadedTools && { loadedTools }),
    ...(toolVersions && { toolVersions }),
    ...(kept && { kept }),
  };
}

/** Text of the last assistant message. */
export function lastTextOf(run: RunState | undefined): string {
  return run?.lastResponse === undefined ? "" : textOf(run.lastResponse);
}

export function emptyTotals(): Totals {
  return { usage: UNKNOWN_USAGE, cost: ZERO_USD, costKnown: true, turns: 0, modelCalls: 0, toolCalls: 0 };
}
