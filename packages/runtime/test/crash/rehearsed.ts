import {
  type BlobStore,
  type EventLog,
  isSuspendReason,
  type LogId,
  type LogRecord,
  type RunReason,
  type SessionId,
  sessionLog,
} from "@keelson/protocol";
import { rehearseSession } from "../../src/agent/runner/rehearsal/rehearse-session.ts";
import type { RehearsedSession } from "../../src/agent/runner/rehearsal/rehearsed-session.ts";
import { runnerInternals } from "../../src/agent/runner/runner-internals.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { createLogLayer, type LogLayer } from "../../src/session/log-layer.ts";

/** The log, for whoever must only read it. */
export function readOnlyLog(log: EventLog): EventLog {
  const refuse = (what: string) => async (): Promise<never> => {
    throw new Error(`somebody wanted to ${what}`);
  };
  return {
    append: refuse("append"),
    delete: refuse("delete"),
    acquire: refuse("acquire"),
    read: (id, options) => log.read(id, options),
    head: (id) => log.head(id),
    list: (options) => log.list(options),
    [Symbol.asyncDispose]: async () => {},
  };
}

export function readOnlyBlobs(blobs: BlobStore): BlobStore {
  return {
    put: async () => {
      throw new Error("somebody wanted to put a blob");
    },
    get: (digest, range) => blobs.get(digest, range),
    [Symbol.asyncDispose]: async () => {},
  };
}

export interface Rehearsed {
  readonly found: RehearsedSession;
  readonly layer: LogLayer;
  /** Where the log of the session ended then. */
  readonly head: number;
}

/** With what the rehearsal wrote to its layer, which no user sees. Nothing where the run is over. */
export async function rehearsed(runner: SingleRunner, session: string): Promise<Rehearsed | undefined> {
  const inner = runnerInternals(runner);
  const layer = createLogLayer(inner.services.log, () => inner.services.clock.now());
  const head = await inner.services.log.head(sessionLog(session));
  const found = await rehearseSession(inner, session as SessionId, layer);
  return found && { found, layer, head };
}

/** What a session does before it is looked at again. */
export interface Resumed {
  /** Nothing where the session was refused. */
  readonly reason: RunReason | undefined;
}

/**
 * How what a resume really did belies what its rehearsal said.
 * @param log as it is behind the resume
 * @param options.exactly whether all that the rehearsal wrote must stand there: where code of the user decides, it says what that comes to
 */
export async function beliedBy(
  log: EventLog,
  { found, layer, head }: Rehearsed,
  { reason }: Resumed,
  { exactly = true }: { readonly exactly?: boolean } = {},
): Promise<readonly string[]> {
  const faults: string[] = [];
  const own = sessionLog(found.session);
  const foretold = Map.groupBy(
    layer.added.filter(({ record: { type } }) => type !== "run-suspend"),
    ({ log }) => log,
  );
  const bases = new Map<LogId, number>([[own, head]]);
  for (const { log: id, record } of layer.added) if (!bases.has(id)) bases.set(id, record.seq - 1);
  let beyond = 0;
  for (const [id, base] of bases) {
    const records: LogRecord[] = [];
    let isInstructed = false;
    for await (const record of log.read(id, { after: base })) {
      if (isAboutInstructions(record)) isInstructed = true;
      else if (isOfHooks(record)) continue;
      else if (record.type !== "run-suspend") records.push(record);
    }
    const actual = records.map((record) => told(record, isInstructed));
    const expected = (foretold.get(id) ?? []).map(({ record }) => told(record, isInstructed));
    // In their order: what a call comes to that was not made may stand between them.
    let at = -1;
    for (const line of expected) {
      const next = actual.indexOf(line, at + 1);
      if (next < 0 && exactly)
        faults.push(`${id}: ${line} was foretold, and behind record ${at} stands ${actual.slice(at + 1, at + 4).join(", ")}`);
      else if (next >= 0) at = next;
    }
    beyond += records.length - expected.length;
  }
  const suspends = reason !== undefined && isSuspendReason(reason);
  switch (found.verdict) {
    case "refused":
      if ((reason !== undefined && reason !== "error") || beyond > 0)
        faults.push(`it was to be refused, and came to ${reason}, with ${beyond} records more`);
      break;
    case "waits":
    case "asks":
      if (!suspends || beyond > 0) faults.push(`it was to wait (${found.verdict}), and came to ${reason}, with ${beyond} records more`);
      break;
    case "ends":
      if (reason === undefined || suspends) faults.push(`it was to end, and came to ${reason}`);
      break;
    case "goes-on":
      if (reason === undefined || beyond === 0) faults.push(`it was to go on, and came to ${reason}, with ${beyond} records more`);
      break;
    case "differs":
      faults.push(`it differs: ${found.reason}`);
  }
  return faults;
}

/** A rehearsal asks for no instructions, and has no hook decide: it goes on as if they had. */
function isAboutInstructions({ key }: LogRecord): boolean {
  return /^[^/]+\/instructions/.test(key);
}

function isOfHooks({ key, type }: LogRecord): boolean {
  return type === "decision" && key.includes("/hooks/");
}

/** Without what goes by the time of day. */
function told({ key, type, data }: LogRecord, isInstructed: boolean): string {
  // The ledgers of these lives die with them.
  if (type === "budget-ledger") return `${key} ${type}`;
  const { token: _token, nonce: _nonce, expiresAt: _expiresAt, durationMs: _durationMs, ...rest } = data;
  const { inputBound: _inputBound, ...others } = rest;
  return JSON.stringify({ key, type, data: isInstructed ? others : rest });
}
