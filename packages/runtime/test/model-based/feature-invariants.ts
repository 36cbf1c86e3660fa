import { type EndReason, type JsonValue, type LogRecord, type SessionId, sessionLog, toPicoUsd } from "@keelson/protocol";
import { expect } from "vitest";
import type { Features } from "./features.ts";
import { type Life, SESSION } from "./life.ts";

/** What holds of hooks, plugins, middleware, strategies, signals, effects, children, budgets and outputs, in every life. */
export function expectFeatures(life: Life): void {
  for (const [log, records] of life.records) {
    for (const run of runsOf(records)) {
      expectOneEnding(run);
      expectBlockedCallsNotRun(life, run);
      expectChildrenOver(run);
      expectEffectsCarriedOut(life, run);
      expectBudgetTold(run);
      expectObserversTold(life, log.slice("session/".length) as SessionId, run);
    }
    expectPluginStates(records);
  }
  expectStrategy(life);
  expectMiddleware(life);
  expectBudgets(life);
  expectOutput(life);
}

interface RunRecords {
  readonly id: string;
  readonly records: readonly LogRecord[];
  /** Absent: the log has no end of it. */
  readonly reason: EndReason | undefined;
  /** What is done between its result and its end may have been left for good: so often it was taken up again for that. */
  readonly leftAtEnd: boolean;
}

function runsOf(records: readonly LogRecord[]): readonly RunRecords[] {
  return records
    .filter(({ type }) => type === "run-start")
    .map(({ key }) => {
      const id = key.slice(0, key.indexOf("/"));
      const own = records.filter((record) => record.key.startsWith(`${id}/`));
      const end = own.find(({ type }) => type === "run-complete" || type === "error");
      const reason = end && (end.type === "error" ? "error" : (end.data["reason"] as EndReason));
      const atEnd = own.slice(own.findIndex(({ type }) => type === "run-ending"));
      const leftAtEnd = atEnd.filter(({ type }) => type === "run-resume").length > 3;
      return { id, records: own, reason, leftAtEnd };
    });
}

/** What is done at the end, and whatever goes wrong in it, does not change the result that was told. */
function expectOneEnding({ records, reason }: RunRecords): void {
  const result = records.find(({ type }) => type === "run-result");
  if (result !== undefined && reason !== undefined) expect(reason).toBe(result.data["reason"]);
}

/** A call that a hook aborted did not run, nor one to a machine's state that does not have it. */
function expectBlockedCallsNotRun({ witness }: Life, { id, records }: RunRecords): void {
  for (const { type, key, data } of records) {
    if (type !== "decision" || (data["value"] as { readonly type?: string } | undefined)?.type !== "abort") continue;
    const blocked = /\/call\/([^/]+)\/hooks\/pre\//.exec(key)?.[1];
    if (blocked === undefined) continue;
    expect(witness.deeds.filter(({ runId, callId }) => runId === id && callId === blocked)).toEqual([]);
  }
}

function expectChildrenOver({ records, reason }: RunRecords): void {
  const open = new Set<unknown>();
  for (const { type, data } of records) {
    if (type === "child-start") open.add(data["child"]);
    else if (type === "child-end") expect(open.delete(data["child"])).toBe(true);
    else if (type === "task" && data["kind"] === "started") open.add(data["taskId"]);
    else if (type === "task" && data["kind"] !== "progress") expect(open.delete(data["taskId"])).toBe(true);
  }
  if (reason !== undefined) expect([...open]).toEqual([]);
}

const WITHOUT_EFFECTS: ReadonlySet<unknown> = new Set(["error", "aborted", "circuit-breaker"]);

function expectEffectsCarriedOut({ witness, story, state, wasAborted }: Life, { id, records, reason, leftAtEnd }: RunRecords): void {
  if (reason === undefined) return;
  const done = new Map<unknown, LogRecord>();
  for (const record of records) {
    if (record.type !== "effect-done") continue;
    expect(done.has(record.data["id"])).toBe(false);
    done.set(record.data["id"], record);
  }
  const declared = new Set<unknown>();
  // A child may be aborted because its ancestors end.
  const isSafe = id === state.run?.id || state.run?.end?.reason === "complete";
  const hangs = story.features.effects?.executor.conduct === "hang";
  const wasInterrupted = hangs || wasAborted || story.limits.maxDurationMs !== undefined || !isSafe;
  for (const { type, data, seq } of records) {
    const isEmission = type === "directive" && (data["directive"] as { readonly type: string }).type === "emit";
    if ((type !== "effect" && type !== "directive") || isEmission) continue;
    const { id: effectId } = data;
    declared.add(effectId);
    const attempts = witness.effects.filter((attempt) => attempt.id === effectId);
    for (const attempt of attempts) expect(attempt.runId).toBe(id);
    if (type === "effect" && WITHOUT_EFFECTS.has(reason)) expect([attempts, done.get(effectId)]).toEqual([[], undefined]);
    const mark = done.get(effectId);
    if (mark) {
      expect(mark.seq).toBeGreaterThan(seq);
      if (attempts.length === 0) expect(mark.data["failure"]).toBeDefined();
      expect(attempts.length).toBeLessThanOrEqual(3);
    } else if (!WITHOUT_EFFECTS.has(reason)) expect(wasInterrupted || leftAtEnd).toBe(true);
    expect(new Set(attempts.map(({ attempt }) => attempt)).size).toBe(attempts.length);
  }
  for (const attempt of witness.effects) if (attempt.runId === id) expect([...declared]).toContain(attempt.id);
}

/** Each threshold of each limit is told once. */
function expectBudgetTold({ records }: RunRecords): void {
  const told = records.filter(({ type, data }) => type === "budget" && data["threshold"] !== undefined);
  const marks = told.map(({ data }) => JSON.stringify([data["limit"], data["scope"] ?? null, data["threshold"] ?? null]));
  expect(new Set(marks).size).toBe(marks.length);
}

function expectObserversTold({ witness, story }: Life, session: SessionId, { id, records, reason, leftAtEnd }: RunRecords): void {
  const { features } = story;
  if (reason === undefined || (session !== SESSION && !features.shared)) return;
  for (const [index, { point }] of features.hooks.entries())
    if (point === "session-end" && !leftAtEnd) expect(witness.wasTold(`hook ${index} at ${point}`, id as never, "the end")).toBe(true);
  // A turn that crashed again and again is closed without asking what may have been the cause.
  if (reason === "circuit-breaker") return;
  for (const { type, data } of records)
    if (type === "turn-end" && features.afterTurn)
      expect(witness.wasTold("afterTurn", id as never, `turn ${String(data["turn"])}`)).toBe(true);
}

/** Plugins count their callbacks: whoever forgets a change at a resume, or makes one twice, counts wrong. */
function expectPluginStates(records: readonly LogRecord[]): void {
  const counts = new Map<string, number>();
  for (const { type, data, key } of records) {
    if (type !== "state-update") continue;
    for (const { path, value } of data["patch"] as unknown as readonly { readonly path: string; readonly value: JsonValue }[]) {
      const now = countsAt(path, value);
      for (const [plugin, count] of now) {
        // A run that ended before its plugins began has no record of what they begin with.
        const before = counts.get(plugin) ?? (key.endsWith("/plugins/initial") ? -1 : 0);
        // A batch of events is one change.
        if (/\/events(?:\/state)?$/.test(key)) expect(count).toBeGreaterThan(before);
        else expect(count).toBe(before + 1);
        counts.set(plugin, count);
      }
    }
  }
}

/** What a change says of counts, by where they stand. */
function countsAt(path: string, value: JsonValue): ReadonlyMap<string, number> {
  if (typeof value === "number") return new Map([[path, value]]);
  const within = Object.entries((value ?? {}) as { readonly [key: string]: JsonValue });
  return new Map(within.flatMap(([key, inner]) => [...countsAt(`${path}/${key}`, inner)]));
}

/** In a state of a machine only its actions and tools ran, and it went where its transitions lead. */
function expectStrategy({ story: { features }, witness, records }: Life): void {
  const plan = features.strategy;
  if (plan?.kind !== "fsm") return;
  const own = records.get(sessionLog(SESSION)) ?? [];
  const runId = own.find(({ type }) => type === "run-start")?.key.split("/")[0];
  const isState = (state: string): boolean => plan.transitions.some(({ from, to }) => from === state || to === state) || state === "a";
  for (const deed of witness.deeds) {
    // What was begun before a crash is gone on with, wherever a signal moved the machine since.
    if (deed.runId !== runId || deed.attempt > 1) continue;
    const state = deed.state ?? "a";
    const possible = plan.transitions.filter(({ from }) => from === state).map(({ action }) => action);
    expect([...possible, ...plan.everywhere, ...(state === "a" ? plan.inA : [])]).toContain(deed.tool);
  }
  let state: unknown;
  for (const { type, data, key } of own) {
    if (type !== "strategy-state" || key === `${runId}/strategy`) {
      if (type === "strategy-state") state = data["state"];
      continue;
    }
    const to = data["state"];
    const leads = plan.transitions.some((transition) => transition.from === state && transition.to === to);
    if (!leads) {
      expect(key).toContain("/inbox/");
      expect(targetsOfSignals(features)).toContain(to);
      expect(isState(to as string)).toBe(true);
    }
    state = to;
  }
}

function targetsOfSignals({ signals, strategy }: Features): readonly string[] {
  const moves = signals?.routes.some(({ action }) => action === "transition") ? [strategy?.transitions[0]?.to ?? ""] : [];
  return signals?.handler.responds === "transition" ? [...moves, "c"] : moves;
}

/** Whom middleware turns away is not answered by a model. */
function expectMiddleware({ story: { features }, records, state }: Life): void {
  const own = records.get(sessionLog(SESSION)) ?? [];
  const turnedAway = own.some(
    ({ type, key, data }) =>
      type === "decision" &&
      key.includes("/prologue/middleware/") &&
      (data["value"] as { readonly type?: string } | undefined)?.type === "terminate",
  );
  if (!turnedAway) return;
  expect(features.middleware.length).toBeGreaterThan(0);
  expect(own.filter(({ type }) => type === "inference")).toEqual([]);
  expect(["halted", "aborted", "stopped", "timeout", "circuit-breaker"]).toContain(state.run?.end?.reason);
}

/** Nobody spends more than there is, whoever counts, and whoever died meanwhile. */
function expectBudgets({ story, witness, records }: Life): void {
  const { budgets } = story.features;
  if (budgets === undefined) return;
  const { maxCost, maxTokens, shared } = budgets;
  for (const limit of [maxCost, shared?.maxCost]) if (limit !== undefined) expect(witness.spent.cost).toBeLessThanOrEqual(toPicoUsd(limit));
  if (maxTokens !== undefined) expect(witness.spent.tokens).toBeLessThanOrEqual(maxTokens);
  if (shared?.maxModelCalls !== undefined) expect(witness.inferences).toBeLessThanOrEqual(shared.maxModelCalls);
  // That a read ran stands nowhere before its result: a ledger that dies with its process forgets it.
  if (shared?.maxToolCalls !== undefined && (budgets.lasts || story.crashes.length === 0))
    expect(new Set(witness.deeds.map(({ runId, callId }) => `${runId}/${callId}`)).size).toBeLessThanOrEqual(shared.maxToolCalls);
  if (shared?.maxTurns !== undefined)
    expect([...records.values()].flat().filter(({ type }) => type === "turn-start").length).toBeLessThanOrEqual(shared.maxTurns);
}

function expectOutput({ story: { features }, stretches, records }: Life): void {
  const { output } = features;
  const outcome = stretches.at(-1)?.outcome;
  if (output === undefined || outcome === undefined) return;
  if (outcome.reason === "complete") expect(outcome.output).toMatchObject({ n: expect.any(Number) as number });
  else expect(outcome.output).toBeUndefined();
  const repairs = records.get(sessionLog(SESSION))?.filter(({ type }) => type === "output-repair") ?? [];
  expect(repairs.length).toBeLessThanOrEqual(output.maxRepairs);
}
