import { type EventLog, isSuspendReason, type JsonValue, type LogRecord, type SessionId, sessionLog } from "@keelson/protocol";

/** What a session's log says happened, without what differs from one life to another: ids, times, estimates, and the traces of crashes and of questions about them. */
export async function normalisedLog(log: EventLog, session: string): Promise<readonly JsonValue[]> {
  const names = new Map<string, string>();
  const lines: JsonValue[] = [];
  for await (const record of log.read(sessionLog(session as SessionId))) {
    const kept = keep(record);
    if (kept === undefined) continue;
    lines.push({ type: record.type, ...(rename(kept, names) as object) });
    if (record.type === "child-start") lines.push({ child: await normalisedLog(log, record.data["session"] as string) });
  }
  return lines;
}

const FIELDS: { readonly [type: string]: readonly string[] } = {
  "run-start": ["agent", "model", "definition"],
  "message": ["message"],
  "instructions": ["text"],
  "turn-start": ["turn", "model"],
  "tool-calls-start": ["calls"],
  "tool-result": ["callId", "name", "output", "isError"],
  "tool-calls-complete": [],
  "state-update": ["patch"],
  "compaction": ["summary", "messages"],
  "child-start": ["agent", "callId"],
  "child-end": ["reason"],
  "strategy-state": ["state"],
  "signal": ["kind", "payload", "action", "callId"],
  "steer": ["message"],
  "directive": ["directive", "id", "causationId"],
  "effect": ["effect", "id", "causationId"],
  "effect-done": ["id", "value", "failure"],
  "output-repair": ["issues"],
  "inference-failed": ["failure"],
  "retry": ["attempt", "reason", "delayMs"],
  "turn-end": ["turn"],
  "run-result": ["reason", "text"],
  "run-complete": ["reason", "text", "turns", "output"],
  "error": ["failure"],
};

function keep(record: LogRecord): { readonly [name: string]: JsonValue | undefined } | undefined {
  const { type, data } = record;
  if (type === "approval-request") return data["question"] === "approval" ? pick(data, ["operation", "input", "callId"]) : undefined;
  const fields = FIELDS[type];
  return fields && pick(data, fields);
}

function pick(
  data: { readonly [name: string]: JsonValue | undefined },
  fields: readonly string[],
): { readonly [name: string]: JsonValue | undefined } {
  return Object.fromEntries(fields.map((field) => [field, data[field]]));
}

/** Ids by the order in which they come up. */
function rename(value: JsonValue | undefined, names: Map<string, string>): JsonValue {
  if (typeof value === "string")
    return value.replace(/\b[cekr]_[\w-]{16,}/g, (id) => names.get(id) ?? (names.set(id, `id${names.size}`), `id${names.size - 1}`));
  if (Array.isArray(value)) return value.map((item) => rename(item as JsonValue, names));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, rename(part, names)]));
  return value ?? null;
}

/** What must be so of any log: keys are single and name a place, each run ends at most once and nothing of it follows, every call has one result, every inference is settled. */
export async function faultsOf(log: EventLog, session: string): Promise<readonly string[]> {
  const faults: string[] = [];
  const keys = new Set<string>();
  const ended = new Set<string>();
  const finished = new Set<string>();
  const asked = new Set<string>();
  const inferences = new Set<string>();
  let suspended = false;
  for await (const { key, type, data } of log.read(sessionLog(session as SessionId))) {
    const run = key.slice(0, key.indexOf("/"));
    if (keys.has(key)) faults.push(`${key} stands twice`);
    if (key === `${run}/`) faults.push(`the place of ${type} has no name: ${key}`);
    keys.add(key);
    if (ended.has(run)) faults.push(`${type} (${key}) comes after the end of its run`);
    if (type === "inference") inferences.add(key);
    if (type === "usage") inferences.delete(key.slice(0, key.lastIndexOf("/")));
    if (type === "run-complete" || type === "error") {
      ended.add(run);
      for (const inference of inferences) faults.push(`${inference} was never settled`);
    }
    if (suspended && type !== "run-resume") faults.push(`${type} (${key}) comes after a suspension that nobody resumed`);
    suspended = type === "run-suspend";
    if (suspended && !isSuspendReason(String(data["reason"]))) faults.push(`${key} suspends for ${String(data["reason"])}`);
    if (type === "tool-calls-start") for (const call of data["calls"] as readonly { readonly callId: string }[]) asked.add(call.callId);
    if (type === "tool-result") {
      const id = data["callId"] as string;
      if (finished.has(id)) faults.push(`call ${id} has two results`);
      if (!asked.has(id)) faults.push(`call ${id} has a result and was never asked for`);
      finished.add(id);
    }
    if (type === "turn-end") for (const id of asked) if (!finished.has(id)) faults.push(`call ${id} has no result at the end of its turn`);
    if (type === "child-start") faults.push(...(await faultsOf(log, data["session"] as string)));
  }
  return faults;
}
