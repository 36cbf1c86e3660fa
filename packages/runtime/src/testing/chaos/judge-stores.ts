import { compareUsd, LogError, sessionLog, type SessionId } from "@keelson/protocol";
import { foldSession } from "../../session/fold-session.ts";
import { sessionLogs } from "../../session/session-logs.ts";
import { LEASE_TTL_MS, type RunWorld } from "./chaos-process.ts";
import { judgeLog } from "./judge-log.ts";

export interface StoresAtEnd {
  readonly isOver: boolean;
  /** Number of the process that worked last. */
  readonly lastProcess: number;
  readonly dead: ReadonlySet<string>;
  /** Whether somebody may have got a lease and never heard of it: that one runs out. */
  readonly lostLeases: boolean;
}

/** What is wrong with what a run left in its stores. */
export async function judgeStores(world: RunWorld, { isOver, lastProcess, dead, lostLeases }: StoresAtEnd): Promise<readonly string[]> {
  const { stores, witness } = world;
  const problems: string[] = [...(await witness.lost(stores.log))];
  for await (const { session } of sessionLogs(stores.log)) {
    problems.push(...(await judgeLog(stores.log, session, isOver)));
    problems.push(...(await judgeFold(world, session, isOver)));
    if (isOver && !lostLeases && !dead.has(`process-${lastProcess}`)) problems.push(...(await judgeLease(world, session)));
  }
  problems.push(...(await judgeBudgets(world)));
  if (isOver)
    for (const [key, process] of witness.reserved)
      if (process === lastProcess && !dead.has(`process-${process}`))
        problems.push(`process ${process} reserved ${key} on the budget ledger, and neither settled it nor gave it back`);
  return problems;
}

async function judgeFold({ stores: { log, blobs } }: RunWorld, session: SessionId, isOver: boolean): Promise<readonly string[]> {
  try {
    const { run } = await foldSession(log, blobs, session);
    if (isOver && run !== undefined && run.status !== "ended")
      return [`the run is over, and that of ${session}, which it started, is ${run.status}`];
    return [];
  } catch (error) {
    return [`the log of ${session} does not fold: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** Whoever worked on it has given it back. */
async function judgeLease({ stores: { log } }: RunWorld, session: SessionId): Promise<readonly string[]> {
  try {
    await (await log.acquire(sessionLog(session), { owner: "chaos", ttlMs: LEASE_TTL_MS })).release();
    return [];
  } catch (error) {
    if (!LogError.is(error, "lease-held")) throw error;
    return [`the run is over, and the lease of ${session} was not given back`];
  }
}

async function judgeBudgets({ stores: { ledger }, witness }: RunWorld): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const scope of witness.scopes.values()) {
    const used = await ledger.used(scope.id);
    if (scope.maxCost !== undefined && compareUsd(used.cost, scope.maxCost) > 0)
      problems.push(`$${used.cost} were spent on the budget ${scope.id}, which allows $${scope.maxCost}`);
    // What the vendor counted, whatever the ledger says.
    if (witness.tokens > (scope.maxTokens ?? Number.POSITIVE_INFINITY))
      problems.push(`models used ${witness.tokens} tokens, and the budget ${scope.id} allows ${scope.maxTokens}`);
    for (const [limit, name] of [
      ["maxTokens", "tokens"],
      ["maxTurns", "turns"],
      ["maxToolCalls", "toolCalls"],
      ["maxModelCalls", "modelCalls"],
    ] as const)
      if (used[name] > (scope[limit] ?? Number.POSITIVE_INFINITY))
        problems.push(`${used[name]} ${name} were used of the budget ${scope.id}, which allows ${scope[limit]}`);
  }
  return problems;
}
