import {
  addUsage,
  addUsd,
  isDurableEventType,
  type CallId,
  type CompactionPolicy,
  type Content,
  type Decision,
  type Digest,
  type EndReason,
  type Failure,
  type JsonObject,
  type JsonValue,
  type LogRecord,
  type Message,
  type RunId,
  type SuspendReason,
  type TaskEventKind,
  type Usage,
  type Usd,
  type Wait,
} from "@keelson/protocol";
import { addChild, addTask, endChild, markSettled, markStopping, type ChildEnding, type ChildStart } from "./child-state.ts";
import { addDeclared, markAttempt, markDone, type DeclarationData, type EffectDone } from "./outbox.ts";
import { loadedJsonPatch } from "../json/json-patch.ts";
import { budgetMark } from "./budget-mark.ts";
import { recordedCall, type RecordedCall } from "./recorded-call.ts";
import {
  emptyTotals,
  MAX_SUB_DISPATCHES,
  NO_STATES,
  type Question,
  type RunEnd,
  type RunState,
  type SessionState,
  type Totals,
} from "./session-state.ts";

/**
 * Folds one record. The same function runs when a session is opened and when a run commits, so that what a run knows is
 * always what a resume would know. Unknown types are kept by the log and skipped here.
 */
export function applyRecord(state: SessionState, record: LogRecord): void {
  if (state.seq === 0) state.createdAt = record.at;
  state.seq = record.seq;
  state.at = record.at;
  const fold = FOLDS[record.type];
  if (fold !== undefined) fold(state, record, record.data as never);
  const { run } = state;
  if (run === undefined) return;
  run.open.set(record.key, record);
  if (run.shown !== undefined && isShown(record)) run.shown.events.push(record);
}

type Fold = (state: SessionState, record: LogRecord, data: never) => void;

// The shapes of `data` are those of the durable events in the protocol, less `type`; records of other types are named here.
const FOLDS: { readonly [type: string]: Fold | undefined } = {
  "session-create": (
    state,
    _record,
    data: { readonly name?: string; readonly tags?: readonly string[]; readonly parent?: SessionState["parent"]; readonly agent?: string },
  ) => {
    if (data.name !== undefined) state.name = data.name;
    if (data.tags) state.tags = [...data.tags];
    if (data.agent !== undefined) state.agent = data.agent;
    if (data.parent) state.parent = data.parent;
  },
  "session-rename": (state, _record, data: { readonly name: string }) => {
    state.name = data.name;
  },
  "session-tag": (state, _record, data: { readonly tag: string }) => {
    if (!state.tags.includes(data.tag)) state.tags.push(data.tag);
  },
  "session-rewind": (
    state,
    _record,
    data: {
      readonly length: number;
      readonly turns: number;
      /** What stood before a compaction, which can't be had back by truncating. */
      readonly restored?: readonly { readonly message: Message; readonly policy: CompactionPolicy }[];
      /** The agent's state as it was, where it changed since. */
      readonly agentState?: JsonObject;
    },
  ) => {
    if (data.restored) state.conversation.replace(data.restored);
    else state.conversation.truncate(data.length);
    const border = state.turnBorders[data.turns - 1];
    state.compaction = border?.compaction ?? "";
    state.strategyStates = border?.strategyStates ?? NO_STATES;
    if (data.agentState) {
      state.agentState = data.agentState;
      state.stateUpdate = border?.stateUpdate ?? "";
    }
    delete state.counted;
    state.turnBorders = state.turnBorders.slice(0, data.turns);
    state.totals.turns = data.turns;
  },
  "run-start": (
    state,
    record,
    data: {
      readonly agent: string;
      readonly definition: string;
      readonly model: string;
      readonly metadata?: RunState["metadata"];
      readonly parent?: { readonly run: RunId; readonly call?: CallId };
    },
  ) => {
    state.agent = data.agent;
    state.run = {
      id: runIdOf(record),
      agent: data.agent,
      definition: data.definition,
      model: data.model,
      metadata: data.metadata ?? {},
      ...(data.parent && { parent: data.parent }),
      startSeq: record.seq,
      startedAt: record.at,
      status: "working",
      turn: 0,
      turnOpen: false,
      answered: false,
      totals: emptyTotals(),
      open: new Map(),
      callsOpen: false,
      text: "",
      repairs: 0,
      calls: [],
      turnBase: { calls: [], toolCalls: 0 },
      questions: new Map(),
      newGrants: [],
      inboxBase: 0,
      subDispatches: [],
      callsRun: 0,
      interrupted: false,
      unanswered: [],
      userMessages: 0,
      held: [],
      waits: [],
      resumes: 0,
      crashes: 0,
    };
  },
  "run-resume": (state, _record, data: { readonly cause: string }) => {
    const run = running(state);
    run.status = "working";
    run.waits = [];
    delete run.suspendReason;
    run.resumes++;
    if (data.cause === "recovery") run.crashes++;
  },
  "run-suspend": (state, _record, data: { readonly reason: SuspendReason; readonly waits: readonly Wait[] }) => {
    const run = running(state);
    run.status = "suspended";
    run.suspendReason = data.reason;
    run.waits = data.waits;
  },
  "run-terms": (state, _record, data: NonNullable<RunState["terms"]> & { readonly inboxBase?: number; readonly ledger?: string }) => {
    const run = running(state);
    run.terms = data;
    run.inboxBase = data.inboxBase ?? 0;
    if (data.ledger !== undefined) run.ledger = data.ledger;
  },
  "instructions": (state, _record, data: { readonly text: string }) => {
    running(state).instructions = data.text;
  },
  "turn-start": (state, _record, data: { readonly turn: number; readonly model: string }) => {
    const run = running(state);
    run.turn = data.turn;
    run.turnOpen = true;
    run.answered = false;
    run.turnBase = { calls: run.calls, toolCalls: run.totals.toolCalls };
    run.model = data.model;
  },
  "inference": (state) => {
    running(state).totals.modelCalls++;
    state.totals.modelCalls++;
  },
  "message": (state, record, data: { readonly message: Message; readonly policy?: CompactionPolicy }) => {
    state.conversation.append(data.message, data.policy);
    const { run } = state;
    if (run === undefined) return;
    if (data.message.role === "assistant") {
      run.text = textParts(data.message.content);
      run.answered = true;
      if (run.unanswered.length > 0) run.unanswered = [];
    }
    if (data.message.role === "user") {
      run.calls = [];
      // What rules and the loop itself put there was not said by the user.
      if (record.key.startsWith("/input", run.id.length)) hear(run, data.message);
    }
  },
  "steer": (state, _record, data: { readonly message: Message; readonly interrupt?: boolean }) => {
    const run = running(state);
    run.calls = [];
    if (data.message.role === "user") hear(run, data.message);
    if (data.interrupt && run.turnOpen) run.interrupted = true;
    if (run.callsOpen) run.held.push(data.message);
    else state.conversation.append(data.message);
  },
  "tool-calls-start": (state) => {
    const run = running(state);
    run.callsOpen = true;
    if (run.strategyState !== undefined) run.callsState = run.strategyState;
  },
  "strategy-state": (state, _record, data: { readonly agent: string; readonly state: string }) => {
    running(state).strategyState = data.state;
    state.strategyStates = new Map([...state.strategyStates, [data.agent, data.state]]);
  },
  "tool-calls-complete": (state) => {
    const run = running(state);
    run.callsOpen = false;
    for (const message of run.held) state.conversation.append(message);
    run.held = [];
  },
  "tool-result": (
    state,
    _record,
    data: {
      readonly callId: CallId;
      readonly name: string;
      readonly output: JsonValue;
      readonly isError: boolean;
      readonly durationMs: number;
      readonly blob?: Digest;
      readonly executed?: RecordedCall["key"];
      readonly changed?: boolean;
    },
  ) => {
    const run = running(state);
    run.totals.toolCalls++;
    state.totals.toolCalls++;
    if (data.executed !== undefined) run.callsRun++;
    if (data.executed !== undefined && run.subDispatches.length < MAX_SUB_DISPATCHES)
      run.subDispatches.push({ name: data.name, durationMs: data.durationMs, success: !data.isError });
    if (data.executed !== undefined)
      run.calls = recordedCall(run.calls, {
        key: data.executed,
        output: data.output,
        isError: data.isError,
        clears: data.changed === true,
      });
    state.conversation.append({
      role: "tool",
      content: [
        {
          type: "tool-result",
          id: data.callId,
          name: data.name,
          output: data.output,
          ...(data.isError && { isError: true }),
          ...(data.blob && { blob: data.blob }),
        },
      ],
    });
  },
  "approval-request": (state, _record, data: Omit<Question, "type"> & { readonly question: Question["type"]; readonly nonce: string }) => {
    running(state).questions.set(data.nonce, { callId: data.callId, token: data.token, operation: data.operation, type: data.question });
  },
  "approval-decision": (state, _record, data: { readonly nonce: string; readonly decision: Decision; readonly grant?: string }) => {
    const question = running(state).questions.get(data.nonce);
    if (question) question.decision = data.decision;
    if (data.decision.type === "allow-always" && data.grant !== undefined) running(state).newGrants.push(data.grant);
  },
  "inbox-read": (state, _record, data: { readonly upTo: number; readonly stopping?: "stop" | "abort" }) => {
    state.inboxRead = data.upTo;
    if (!state.run) return;
    if (data.stopping === "abort" || (data.stopping === "stop" && state.run.stopping === undefined)) state.run.stopping = data.stopping;
  },
  "model-switch": (state, _record, data: { readonly to: string }) => {
    running(state).model = data.to;
  },
  "definition-change": (state, _record, data: { readonly to: string }) => {
    running(state).definition = data.to;
  },
  "usage": (state, _record, data: { readonly usage: Usage; readonly cost: Usd | null; readonly estimated?: true }) => {
    const { inputTokens } = data.usage;
    if (inputTokens !== null && data.estimated !== true) state.counted = { inputTokens, messages: state.conversation.length };
    addTo(state.totals, data.usage, data.cost);
    addTo(running(state).totals, data.usage, data.cost);
  },
  "child-start": (state, _record, data: ChildStart) => {
    const run = running(state);
    run.children = addChild(run.children, data);
  },
  "child-end": (
    state,
    _record,
    data: {
      readonly child: RunId;
      readonly reason: EndReason;
      readonly usage: Usage;
      readonly cost: Usd | null;
      readonly counts?: NonNullable<RunState["below"]>;
    },
  ) => {
    const run = running(state);
    if (data.counts) run.below = addCounts(run.below, data.counts);
    endChild(run.children, data.child, data.reason);
    addTo(state.totals, data.usage, data.cost);
    addTo(run.totals, data.usage, data.cost);
  },
  "child-stop": (state, _record, data: { readonly child: string }) => {
    markStopping(running(state).children, data.child);
  },
  "child-settled": (state, _record, data: { readonly child: string; readonly ending: ChildEnding }) => {
    markSettled(running(state).children, data.child, data.ending);
  },
  "task": (state, _record, data: { readonly taskId: string; readonly kind: TaskEventKind; readonly payload: JsonValue }) => {
    const run = running(state);
    if (data.kind === "started") run.children = addTask(run.children, data.taskId, data.payload);
    else if (data.kind === "completed") endChild(run.children, data.taskId, "complete");
    else if (data.kind === "failed") endChild(run.children, data.taskId, (data.payload as { readonly reason: EndReason }).reason);
  },
  "budget": (state, _record, data: { readonly limit: string; readonly threshold?: number; readonly scope?: string }) => {
    const { threshold } = data;
    if (threshold !== undefined) (running(state).budgetMarks ??= new Set()).add(budgetMark({ ...data, threshold }));
  },
  "budget-ledger": (state, _record, data: { readonly ledger: string }) => {
    running(state).ledger = data.ledger;
  },
  "compaction": (state, record, data: { readonly messages: readonly Message[] }) => {
    state.compaction = `${state.id}/${record.seq}`;
    delete state.counted;
    state.conversation.replace(data.messages.map((message) => ({ message })));
  },
  "directive": (state, record, data: DeclarationData) => {
    const run = running(state);
    run.outbox = addDeclared(run.outbox, record, data);
  },
  "effect": (state, record, data: DeclarationData & { readonly effect?: { readonly type?: string } }) => {
    const run = running(state);
    run.outbox = addDeclared(run.outbox, record, data);
    if (data.effect?.type === "handoff") run.handedOff = true;
  },
  "effect-attempt": (state, _record, data: EffectDone) => {
    markAttempt(running(state).outbox, data.id);
  },
  "effect-done": (state, _record, data: EffectDone) => {
    markDone(running(state).outbox, data.id, data.failure === undefined ? "done" : "failed");
  },
  "turn-end": (state, record) => {
    const run = running(state);
    run.turnOpen = false;
    run.interrupted = false;
    run.crashes = 0;
    if (run.answered) {
      run.totals.turns++;
      state.totals.turns++;
      state.turnBorders.push({
        turn: state.totals.turns,
        session: state.id,
        seq: record.seq,
        length: state.conversation.length,
        compaction: state.compaction,
        stateUpdate: state.stateUpdate,
        strategyStates: state.strategyStates,
      });
    }
    run.open = new Map();
    run.questions = new Map();
    for (const tool of run.newGrants) state.grants.add(tool);
    run.newGrants = [];
  },
  "state-update": (state, record, data: { readonly patch: JsonValue }) => {
    state.agentState = loadedJsonPatch().apply(state.agentState, data.patch) as JsonObject;
    state.stateUpdate = `${state.id}/${record.seq}`;
    const { run, turnBorders } = state;
    const border = turnBorders.at(-1);
    // What changes once a run has its result belongs to its last turn: who goes back to the end of that has it all.
    if (run?.ending && border && run.totals.turns > 0)
      turnBorders[turnBorders.length - 1] = { ...border, session: state.id, seq: record.seq, stateUpdate: state.stateUpdate };
  },
  "run-context": (state, _record, data: { readonly context: JsonObject }) => {
    running(state).metadata = data.context;
  },
  "events-shown": (state, _record, { upTo }: { readonly upTo: number }) => {
    const run = running(state);
    const { upTo: from, events } = run.shown ?? { upTo: 0, events: [...run.open.values()].filter(isShown) };
    run.shown = { from, upTo, events: events.filter(({ seq }) => seq > from) };
  },
  "output-repair": (state) => {
    running(state).repairs++;
  },
  "run-ending": (state, _record, data: RunEnd) => {
    running(state).ending = data;
  },
  "run-complete": (state, _record, data: RunEnd) => {
    const run = running(state);
    run.status = "ended";
    run.end = {
      reason: data.reason,
      text: data.text,
      ...(data.output !== undefined && { output: data.output }),
      ...(data.halted && { halted: data.halted }),
    };
    run.open = new Map();
  },
  "error": (state, _record, data: { readonly failure: Failure }) => {
    const run = running(state);
    run.status = "ended";
    run.end = { reason: "error", text: run.text, failure: data.failure };
    run.open = new Map();
  },
};

function hear(run: RunState, message: Message): void {
  run.unanswered.push(message);
  run.userMessages++;
}

function addTo(totals: Totals, usage: Usage, cost: Usd | null): void {
  totals.usage = addUsage(totals.usage, usage);
  if (cost === null) totals.costKnown = false;
  else totals.cost = addUsd(totals.cost, cost);
}

/** Whether plugins are shown a record. Changes of state are not: those of one plugin are no business of another. */
function isShown({ type }: LogRecord): boolean {
  return type !== "state-update" && isDurableEventType(type);
}

type Counts = NonNullable<RunState["below"]>;

function addCounts(sum: Counts | undefined, { turns, toolCalls, modelCalls }: Counts): Counts {
  if (sum === undefined) return { turns, toolCalls, modelCalls };
  return { turns: sum.turns + turns, toolCalls: sum.toolCalls + toolCalls, modelCalls: sum.modelCalls + modelCalls };
}

function running(state: SessionState): RunState {
  if (state.run === undefined) throw new RangeError(`record ${state.seq} of session "${state.id}" belongs to a run that never started`);
  return state.run;
}

/** The key of a run's first record is its id and `/start`. */
function runIdOf(record: LogRecord): RunId {
  return record.key.slice(0, record.key.indexOf("/")) as RunId;
}

function textParts(content: readonly Content[]): string {
  let text = "";
  for (const part of content) if (part.type === "text") text += part.text;
  return text;
}
