import {
  type AgentEvent,
  type Content,
  type Decision,
  isDurableEventType,
  isFinal,
  isSuspendReason,
  type LogRecord,
  type Message,
  type RunId,
  type SessionId,
  sessionLog,
} from "@keelson/protocol";
import { expect } from "vitest";
import { textOf } from "keelson/providers";
import { eventOf } from "../../src/agent/turn/events/event-source.ts";
import type { SessionState } from "../../src/session/session-state.ts";
import { effectOf } from "./cast.ts";
import { type Life, SESSION, type Stretch } from "./life.ts";
import { expectFeatures } from "./feature-invariants.ts";
import type { Story } from "./story.ts";
import { TOOL_NAMES } from "./tool-names.ts";
import type { Watching } from "./watching.ts";

const ENDINGS: ReadonlySet<unknown> = new Set(["run-suspend", "run-complete", "error", "detached"]);

/** All that holds of every life, whatever its story. */
export async function expectInvariants(life: Life): Promise<void> {
  expect(life.oddities).toEqual([]);
  expect(life.listeners).toBe(0);
  expectOneEnding(life);
  expectPlaces(life);
  for (const stretch of life.stretches) {
    expectOutcome(life, stretch);
    for (const watching of stretch.watchings) {
      expectWatched(life, stretch, watching);
      expectKept(life, stretch, watching);
    }
    for (const journal of stretch.journals)
      if (stretch.outcome && journal.failure === undefined && journal === lastOf(life, journal.state.id)) {
        const whole = await life.foldWhole(journal.state.id);
        for (const state of [journal.state, await life.fold(journal.state.id)]) expect(plain(state)).toEqual(plain(since(whole, state)));
      }
  }
  for (const [log] of life.records) {
    const session = log.slice("session/".length) as SessionId;
    const state = session === SESSION ? life.state : await life.fold(session);
    expectWholeHistory(state);
    expectLimits(life, state);
  }
  expectCutResponses(life);
  expectChains(life);
  expectAuthority(life);
  expectFeatures(life);
  if (life.next) expect(life.next.reason).toBe("complete");
}

/** The journal that wrote last to a session, over the whole life. */
function lastOf(life: Life, session: SessionId): unknown {
  return life.stretches.flatMap(({ journals }) => journals).findLast((journal) => journal.state.id === session);
}

/** Whoever takes a run up again finds what was done by where it stands: each place has its name, and its own. */
function expectPlaces(life: Life): void {
  for (const [, records] of life.records) {
    const keys = records.map(({ key }) => key);
    expect(keys.filter((key) => key.indexOf("/") === key.length - 1)).toEqual([]);
    expect(new Set(keys).size).toBe(keys.length);
  }
}

function expectOneEnding(life: Life): void {
  for (const [log, records] of life.records) {
    const ends = records.filter((record) => isFinal(record));
    const isOver = log !== sessionLog(SESSION) || life.state.run !== undefined;
    if (isOver && log === sessionLog(SESSION)) expect(life.state.run?.status).toBe("ended");
    const starts = records.filter(({ type }) => type === "run-start");
    expect(ends.length).toBeLessThanOrEqual(starts.length);
    if (log === sessionLog(SESSION)) expect(ends).toHaveLength(starts.length);
    for (const end of ends) {
      const runId = end.key.slice(0, end.key.indexOf("/"));
      expect(records.filter((record) => record.seq > end.seq && record.key.startsWith(`${runId}/`))).toEqual([]);
    }
  }
}

function expectOutcome(life: Life, stretch: Stretch): void {
  const { outcome, watchings } = stretch;
  if (outcome === undefined) return;
  for (const { events, left, error, since } of watchings) {
    expect(error).toBeUndefined();
    // Whoever came when it was over sees at most the past.
    if (left || (since !== undefined && (events.length === 0 || isCut(stretch)))) continue;
    const own = events.filter((event) => event.path === undefined);
    const endings = own.filter((event) => ENDINGS.has(event.type));
    // A watcher of the past sees how the run was suspended before; what ends its stream comes last.
    const last = own.at(-1);
    expect(ENDINGS.has(last?.type)).toBe(true);
    expect(endings.filter((event) => event.type !== "run-suspend").length).toBeLessThanOrEqual(1);
    switch (last?.type) {
      case "run-suspend":
        expect(outcome.reason).toBe(last.reason);
        break;
      case "run-complete":
        expect([outcome.reason, outcome.text, outcome.turns]).toEqual([last.reason, last.text, last.turns]);
        break;
      case "error":
        expect(outcome.error?.failure).toEqual(last.failure);
        break;
      default:
        expect(["detached", "backend"]).toContain(outcome.error?.failure.kind);
    }
    expect(events.at(-1)).toBe(last);
  }
  if (outcome.reason !== "error" && !isSuspendReason(outcome.reason)) expect(life.state.run?.end?.reason).toBe(outcome.reason);
  expect(outcome.error?.failure.kind).not.toBe("bug");
  if (outcome.error?.failure.kind === "panic") expect(mayPanic(life.story)).toBe(true);
}

/** Whether a callback of the story throws, or returns what can't be used. */
function mayPanic({ callbacks: { instructions, onModelError, rule }, approvals, features }: Story): boolean {
  if (/"(throw|reject|nonsense)"/.test(JSON.stringify(features))) return true;
  if (!["text", "function"].includes(instructions) || ["throw", "nonsense"].includes(onModelError)) return true;
  if (rule.form !== "none" && rule.trouble !== "none" && rule.trouble !== "inject") return true;
  return approvals.by === "callback" && approvals.decisions.some((decision) => !["allow", "deny", "hang", "nothing"].includes(decision));
}

function expectWatched(life: Life, stretch: Stretch, { after, since, events, left }: Watching): void {
  for (const [log, records] of life.records) {
    const depth = log.split("~").length - 1;
    for (const [runId, path] of runsIn(life, log)) {
      const seen = events.filter((event) => "seq" in event && event.runId === runId);
      for (const event of seen) expect(event.path).toEqual(path);
      const from = depth === 0 && after !== undefined ? after : (stretch.before.get(log) ?? 0);
      const there = records.filter(
        (record) =>
          isDurableEventType(record.type) &&
          record.key.startsWith(`${runId}/`) &&
          record.seq > from &&
          record.seq <= (stretch.after.get(log) ?? 0),
      );
      const expected = there.map((record) => restored(record, runId, path));
      const whole = since === undefined || (depth === 0 && after !== undefined);
      // Who came later saw a tail of it, with all that was committed since.
      const tail = whole ? expected : expected.slice(expected.length - seen.length);
      // Of an append whose acknowledgement was lost nobody is told here; it shows when the run is taken up again.
      // A child that ends because the run that waits for it is aborted may do so behind the end of the stream.
      const told =
        isCut(stretch) || left || (depth > 0 && isSuspendReason(stretch.outcome?.reason ?? "complete")) ? tail.slice(0, seen.length) : tail;
      if (!whole && (left || isCut(stretch))) expectSomewhereIn(expected, seen);
      else expect(seen.map(withoutBlobs)).toEqual(told.map(withoutBlobs));
      if (!whole && depth === 0 && !left && !isCut(stretch))
        expect(seen.length).toBeGreaterThanOrEqual(expected.filter((event) => "seq" in event && event.seq > since).length);
    }
  }
}

/** The runs of a log, each with what leads to it from the main run. */
function runsIn(life: Life, log: string): ReadonlyMap<RunId, readonly string[] | undefined> {
  const starts = life.records.get(log as never)?.filter(({ type }) => type === "run-start") ?? [];
  return new Map(
    starts.map(({ key }) => {
      const runId = runIdOf(key);
      const path = pathTo(life, runId);
      return [runId, path.length === 0 ? undefined : path];
    }),
  );
}

function pathTo(life: Life, runId: RunId): readonly string[] {
  for (const records of life.records.values()) {
    const start = records.find(({ type, data }) => type === "child-start" && data["child"] === runId);
    if (start === undefined) continue;
    const background = start.data["background"] as { readonly name: string } | undefined;
    return [...pathTo(life, runIdOf(start.key)), background?.name ?? (start.data["agent"] as string)];
  }
  return [];
}

function runIdOf(key: string): RunId {
  return key.slice(0, key.indexOf("/")) as RunId;
}

/** Who goes on where it was in the stretch before sees each event of the run once, in order, to the end. */
function expectChains(life: Life): void {
  const records = life.records.get(sessionLog(SESSION)) ?? [];
  for (const [index, { after }] of life.story.watchers.entries()) {
    if (after !== "seen") continue;
    const seen = life.stretches.flatMap(({ watchings }) =>
      (watchings[index]?.events ?? []).flatMap((event) => ("seq" in event && event.path === undefined ? [event.seq] : [])),
    );
    const there = records.filter(({ type }) => isDurableEventType(type)).map(({ seq }) => seq);
    const last = life.stretches.at(-1);
    const whole = last !== undefined && !isCut(last) && last.watchings[index]?.left === false;
    expect(seen).toEqual(whole ? there : there.slice(0, seen.length));
  }
}

function expectSomewhereIn(expected: readonly AgentEvent[], seen: readonly AgentEvent[]): void {
  const start = expected.findIndex((event) => "seq" in event && "seq" in (seen[0] ?? {}) && event.seq === (seen[0] as { seq: number }).seq);
  if (seen.length > 0) expect(seen.map(withoutBlobs)).toEqual(expected.slice(start, start + seen.length).map(withoutBlobs));
}

/** Whether this process knew less in the end than the log. */
function isCut({ outcome }: Stretch): boolean {
  const kind = outcome?.error?.failure.kind;
  return outcome === undefined || kind === "detached" || kind === "backend";
}

function restored(record: LogRecord, runId: RunId, path: readonly string[] | undefined): AgentEvent {
  const event = eventOf(record, runId);
  return (path ? { ...event, path } : event) as AgentEvent;
}

/** Large records stand in the log as a reference; watchers see them whole. Where they stand is compared, not what they say. */
function withoutBlobs(event: AgentEvent): unknown {
  const plainEvent = JSON.parse(JSON.stringify(event)) as {
    readonly seq?: number;
    readonly type: string;
    readonly path?: readonly string[];
  };
  return JSON.stringify(event).length > 20_000 || "~blob" in plainEvent
    ? { seq: plainEvent.seq, type: plainEvent.type, path: plainEvent.path }
    : plainEvent;
}

/** Every call of every response has exactly one result, before the next response. */
function expectWholeHistory(state: SessionState): void {
  if (state.run?.status !== "ended") return;
  let open = new Map<string, number>();
  const close = (): void => expect([...open.values()].every((results) => results === 1)).toBe(true);
  for (const { role, content } of state.conversation.messages) {
    if (role === "assistant") {
      close();
      open = new Map(
        content.filter((part): part is Extract<Content, { type: "tool-call" }> => part.type === "tool-call").map(({ id }) => [id, 0]),
      );
    } else
      for (const part of content) if (part.type === "tool-result" && open.has(part.id)) open.set(part.id, (open.get(part.id) ?? 0) + 1);
  }
  close();
}

/** What a run leaves of a response that was cut off: what it said, as the last that the model said in this run. */
function expectCutResponses({ records }: Life): void {
  for (const list of records.values()) {
    const responses = list.filter(({ type, data }) => type === "message" && (data["message"] as unknown as Message).role === "assistant");
    for (const [index, { key, data }] of responses.entries()) {
      const { content, cut } = data["message"] as unknown as Message;
      if (cut === undefined) continue;
      const runId = runIdOf(key);
      expect(content.every((part) => part.type === "text" || part.type === "refusal")).toBe(true);
      expect(responses.slice(index + 1).filter((later) => runIdOf(later.key) === runId)).toEqual([]);
      const end = list.find((record) => record.key.startsWith(`${runId}/`) && isFinal(record));
      expect(["complete", "no-action", "handed-off", undefined]).not.toContain(end?.data["reason"] ?? end?.type);
    }
  }
}

/** Who watched a run to its end finds in its outcome what the model said last, unless that was told to be void. */
function expectKept({ story }: Life, stretch: Stretch, { after, since, events, left }: Watching): void {
  const { outcome } = stretch;
  const own = events.filter(({ path }) => path === undefined);
  if (outcome === undefined || left || isCut(stretch) || (after ?? since) !== undefined) return;
  // A rule that halts there keeps the response out, which is what it is for.
  if (story.callbacks.rule.moment === "append-response" || own.some(({ type }) => type === "gap")) return;
  let said = "";
  for (const event of own) {
    if (event.type === "text-delta") said += event.text;
    else if (event.type === "retry") said = "";
    else if (event.type === "message" && event.message.role === "assistant") {
      if (event.message.cut) expect([textOf(event.message), outcome.text, outcome.cut]).toEqual([said, said, true]);
      said = "";
    }
  }
  expect(said.trim()).toBe("");
}

function expectLimits({ story: { limits } }: Life, state: SessionState): void {
  const run = state.run;
  if (run === undefined || state.id !== SESSION) return;
  expect(run.totals.turns).toBeLessThanOrEqual(limits.maxTurns);
  expect(run.totals.modelCalls).toBeLessThanOrEqual(limits.maxModelCalls ?? 4 * limits.maxTurns);
}

/** What was denied, declined, unknown or never allowed did not run; what ran twice was told to. */
function expectAuthority({ story, witness, records }: Life): void {
  const decisions = new Map<string, Decision["type"][]>();
  for (const list of records.values()) {
    for (const { type, data } of list) {
      if (type !== "approval-decision") continue;
      const { callId, decision } = data as unknown as { readonly callId: string; readonly decision: Decision };
      decisions.set(callId, [...(decisions.get(callId) ?? []), decision.type]);
    }
  }
  const runs = new Map<string, number>();
  for (const { tool, callId, runId } of witness.deeds) {
    const verdict = story.verdicts[tool as keyof typeof story.verdicts];
    const decided = decisions.get(callId) ?? [];
    expect(TOOL_NAMES).toContain(tool);
    expect(verdict).not.toBe("deny");
    if (story.mode === "plan-only") expect(effectOf(tool)).toBe("read");
    for (const type of decided) expect(["allow", "allow-always", "allow-modified", "retry", "supply", "fail"]).toContain(type);
    // What a rule asks about is asked about each time, whatever a person allowed for good.
    if (verdict === "ask") expect(decided.length).toBeGreaterThan(0);
    const key = `${runId}/${callId}`;
    runs.set(key, (runs.get(key) ?? 0) + 1);
    if (effectOf(tool) === "write" && (runs.get(key) ?? 0) > 1) expect(decided).toContain("retry");
  }
  if (story.limits.maxToolCalls !== undefined) {
    const main = [...records].find(([log]) => log === sessionLog(SESSION))?.[1].find(({ type }) => type === "run-start");
    const calls = new Set(witness.deeds.filter(({ runId }) => main?.key.startsWith(`${runId}/`)).map(({ callId }) => callId));
    expect(calls.size).toBeLessThanOrEqual(story.limits.maxToolCalls);
  }
}

/** The whole of a state as data. */
/** The state as one knows it that began with a snapshot: the ends of earlier turns it does not hold. */
function since(whole: SessionState, { turnsBefore }: SessionState): SessionState {
  return { ...whole, turnsBefore, turnBorders: whole.turnBorders.slice(turnsBefore) };
}

function plain(state: SessionState): unknown {
  const { conversation, grants, run, ...rest } = state;
  return JSON.parse(
    JSON.stringify({
      ...rest,
      messages: conversation.messages.map((message, index) => [message, conversation.policyAt(index)]),
      tokenBound: conversation.tokenBound,
      grants: [...grants],
      run: run && {
        ...run,
        open: [...run.open.values()],
        questions: [...run.questions],
        children: [...(run.children?.all.values() ?? [])],
      },
    }),
  );
}
