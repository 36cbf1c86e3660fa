import type { Decision, EstimatedCalls, Message } from "@keelson/protocol";
import { canonicalJson } from "../../json/canonical-json.ts";
import { exactRule } from "../exact-rule.ts";
import { recordedCall } from "../recorded-call.ts";
import { MAX_SUB_DISPATCHES, NO_CALLS, NO_MESSAGES, NO_NAMES, NO_QUESTIONS, type Question, type RunState } from "../session-state.ts";
import { unitedSources } from "../untrusted-sources.ts";
import { addSteering, addTo, type Folds, running } from "./fold.ts";

export type TurnRecordType =
  | "turn-start"
  | "inference"
  | "message"
  | "steer"
  | "signal"
  | "tool-calls-start"
  | "tool-calls-complete"
  | "tool-result"
  | "tool-version"
  | "tool-kept"
  | "approval-request"
  | "approval-decision"
  | "question-closed"
  | "usage"
  | "turn-end";

/** Folds of what happens in a turn: the conversation, calls and their results, questions, usage. */
export const TURN_FOLDS: Folds<TurnRecordType> = {
  "turn-start": (state, _record, data) => {
    const run = running(state);
    run.turn = data.turn;
    run.turnOpen = true;
    run.responded = false;
    run.turnBase = { calls: run.calls, toolCalls: run.totals.toolCalls };
    run.model = data.model;
  },
  "inference": (state) => {
    running(state).totals.modelCalls++;
    state.totals.modelCalls++;
  },
  "message": (state, record, data) => {
    state.conversation.append(data.message, data.policy);
    state.untrusted = unitedSources(state.untrusted, data.untrusted);
    const { run } = state;
    if (run === undefined) return;
    if (data.message.role === "assistant") {
      run.lastResponse = data.message;
      // What was cut off completes no turn.
      if (data.message.cut !== true) run.responded = true;
      if (run.outdated) delete run.outdated;
      run.unreadMessages = NO_MESSAGES;
    }
    if (data.message.role === "user") {
      run.calls = NO_CALLS;
      // What rules and the loop itself put there was not said by the user.
      if (record.key.startsWith("/input", run.id.length)) {
        hear(run, data.message);
        state.request = state.conversation.length - 1;
      }
    }
  },
  "steer": (state, _record, data) => {
    const run = running(state);
    run.calls = NO_CALLS;
    if (data.message.role === "user") hear(run, data.message);
    if (data.interrupt && run.turnOpen) run.interrupted = true;
    if (run.callsOpen) run.held = run.held.concat(data.message);
    else addSteering(state, data.message);
  },
  // Whatever is done about it: handlers and waiting calls tell the model of it, too.
  "signal": (state, _record, data) => {
    state.untrusted = unitedSources(state.untrusted, data.untrusted);
  },
  "tool-calls-start": (state) => {
    const run = running(state);
    run.callsOpen = true;
    if (run.strategyState !== undefined) run.callsState = run.strategyState;
    if (state.untrusted.length > 0) run.callsUntrusted = state.untrusted;
    else if (run.callsUntrusted) delete run.callsUntrusted;
    if (run.permissionMode !== undefined) run.callsPermissionMode = run.permissionMode;
    if (state.kept !== undefined) run.callsKept = state.kept;
    else if (run.callsKept) delete run.callsKept;
  },
  "tool-calls-complete": (state) => {
    const run = running(state);
    run.callsOpen = false;
    for (const message of run.held) addSteering(state, message);
    run.held = NO_MESSAGES;
  },
  "tool-result": (state, _record, data) => {
    const run = running(state);
    state.untrusted = unitedSources(state.untrusted, data.untrusted);
    run.totals.toolCalls++;
    state.totals.toolCalls++;
    if (!data.isError) run.turnCalls = "answered";
    else run.turnCalls ??= "failed";
    if (data.executed !== undefined) run.callsRun++;
    if (data.executed !== undefined && run.subDispatches.length < MAX_SUB_DISPATCHES)
      run.subDispatches.push({ name: data.name, durationMs: data.durationMs, success: !data.isError });
    if (data.executed !== undefined)
      run.calls = recordedCall(run.calls, { key: data.executed, output: data.output, isError: data.isError }, data.changed === true);
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
  "tool-kept": (state, _record, { values }) => {
    state.kept = { ...state.kept, ...values };
  },
  "tool-version": (state, _record, { tool, version }) => {
    const run = running(state);
    run.newVersions = new Map([...(run.newVersions ?? []), [tool, version]]);
  },
  "approval-request": (state, _record, data) => {
    const run = running(state);
    const { nonce, question: type, ...request } = data;
    run.questions = new Map([...run.questions, [nonce, { ...request, type }]]);
  },
  "approval-decision": (state, _record, data) => {
    const run = running(state);
    const question = run.questions.get(data.nonce);
    if (question) question.decision = data.decision;
    if (data.decision.type === "allow-always") run.newGrants = run.newGrants.concat(grantedBy(data, question));
  },
  "question-closed": (state, _record, data) => {
    const run = running(state);
    run.questions = new Map([...run.questions].filter(([nonce]) => nonce !== data.nonce));
  },
  "usage": (state, _record, data) => {
    const { inputTokens, cacheReadTokens, cacheCreationTokens } = data.usage;
    if (inputTokens !== null && data.estimated !== true && data.purpose === undefined)
      state.counted = {
        inputTokens,
        messages: state.conversation.length,
        ...(cacheReadTokens !== null && { cacheReadTokens }),
        ...(cacheCreationTokens !== null && { cacheCreationTokens }),
      };
    const { usage, cost, withoutUsage = "reserve" } = data;
    const estimated: EstimatedCalls | undefined = data.estimated === true ? { modelCalls: 1, cost, withoutUsage } : undefined;
    addTo(state.totals, usage, cost, estimated);
    addTo(running(state).totals, usage, cost, estimated);
  },
  "turn-end": (state, record) => {
    const run = running(state);
    run.turnOpen = false;
    run.interrupted = false;
    run.failedTurns = run.turnCalls === "failed" ? run.failedTurns + 1 : 0;
    if (run.turnCalls) delete run.turnCalls;
    if (run.outdated) delete run.outdated;
    run.crashes = run.stalls = 0;
    if (run.responded) {
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
        untrusted: state.untrusted,
        ...(state.kept && { kept: state.kept }),
      });
    }
    run.open = new Map();
    run.questions = NO_QUESTIONS;
    if (run.newVersions !== undefined) {
      state.toolVersions = new Map([...(state.toolVersions ?? []), ...run.newVersions]);
      delete run.newVersions;
    }
    if (run.newGrants.length > 0) {
      state.grants = new Set([...state.grants, ...run.newGrants]);
      run.newGrants = NO_NAMES;
    }
  },
};

interface DecisionData {
  readonly nonce: string;
  readonly decision: Decision;
  readonly rules?: readonly string[];
  readonly grant?: string;
}

/** The first release kept the name of the tool only. The person saw one call: what they allowed for good is that one. */
function grantedBy({ rules, grant }: DecisionData, question: Question | undefined): readonly string[] {
  if (rules !== undefined) return rules;
  return grant === undefined || question === undefined ? NO_NAMES : [exactRule(grant, canonicalJson(question.input))];
}

function hear(run: RunState, message: Message): void {
  run.unreadMessages = run.unreadMessages.concat(message);
  run.userMessages++;
}
