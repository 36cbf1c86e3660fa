import type { JsonObject, JsonValue, LogRecord } from "@keelson/protocol";
import type { SessionRecords } from "./session-records.ts";

/** What two engines may write differently although they did the same, and why. */
export interface Erasure {
  readonly what: string;
  readonly why: string;
}

/** A member of records, wherever in their data it stands: its value becomes `"*"`. */
interface ErasedMember extends Erasure {
  readonly member: string;
  /** Types of records. */
  readonly of: readonly string[];
}

const QUESTIONS = ["approval-request", "approval-decision", "run-suspend"];

const ERASED_MEMBERS: readonly ErasedMember[] = [
  { what: "nonces of questions", member: "nonce", of: QUESTIONS, why: "they are drawn by chance" },
  { what: "tokens of questions", member: "token", of: QUESTIONS, why: "the nonce and the time are in them" },
  { what: "when questions expire", member: "expiresAt", of: QUESTIONS, why: "it is a time" },
  { what: "until when a call, or a retry, waits", member: "until", of: ["signal-wait", "slept"], why: "it is a time" },
  { what: "when a step began", member: "startedAt", of: ["step"], why: "it is a time" },
  { what: "when a step ended", member: "endedAt", of: ["step"], why: "it is a time" },
  { what: "the name of the ledger", member: "ledger", of: ["run-terms"], why: "each ledger has its own" },
  { what: "the time that a run waits for", member: "at", of: ["run-suspend"], why: "it is a time" },
  { what: "how long a call took", member: "durationMs", of: ["tool-result"], why: "it is a duration" },
];

/** Everything that {@link normaliseLog} takes away; what is not on this list must be equal. */
export const ERASURES: readonly Erasure[] = [
  ...ERASED_MEMBERS.map(({ what, why }) => ({ what, why })),
  { what: "the seq of a record", why: "it moves where a record before it is taken away" },
  { what: "the time of a record", why: "it is a time" },
  {
    what: "the waits for children in a suspension, and a suspension and its resume where it has no other",
    why: "a parent waits without suspending for a child that works in its process, says itself what such a child waits for, and waits for the child as a whole where that works elsewhere; what the child waits for stands in the log of the child",
  },
  { what: "the number in the key of a suspension and its resume", why: "it moves where one before it is taken away" },
  {
    what: "the reservation of a call that started a child, behind a suspension that the call was reserved before",
    why: "the call is taken up again after each wait",
  },
  {
    what: "in which order children that one response started end, and their calls have results",
    why: "where they work elsewhere, whichever is done first has its parent woken first",
  },
];

/** A record without what engines may write differently. */
export type NormalisedRecord = JsonObject & { readonly key: string; readonly type: string; readonly data: JsonObject };

/** A session and, behind it, the children that it started. */
export interface NormalisedLog {
  readonly session: string;
  readonly records: readonly NormalisedRecord[];
  readonly children: readonly NormalisedLog[];
}

/** What a session and its children's say happened, without what {@link ERASURES} lists. */
export function normaliseLog({ session, records, children }: SessionRecords): NormalisedLog {
  return { session, records: normaliseRecords(records), children: children.map(normaliseLog) };
}

function normaliseRecords(records: readonly LogRecord[]): readonly NormalisedRecord[] {
  const kept: NormalisedRecord[] = [];
  const callsOfChildren = new Set(records.filter(({ type }) => type === "child-start").map(({ data }) => data["callId"]));
  /** Calls with a reservation, and of those that were suspended since. */
  const reserved = new Map<JsonValue | undefined, "reserved" | "suspended">();
  let isWaitForChildren = false;
  for (const { key, type, data } of records) {
    if (type === "run-suspend") {
      const waits = (data["waits"] as readonly JsonObject[]).filter((wait) => wait["type"] !== "child" && wait["path"] === undefined);
      isWaitForChildren = waits.length === 0;
      for (const call of reserved.keys()) reserved.set(call, "suspended");
      if (!isWaitForChildren) kept.push({ key: withoutNumber(key), type, data: erase(type, { ...data, waits }) });
      continue;
    }
    if (type === "run-resume") {
      if (!isWaitForChildren) kept.push({ key: withoutNumber(key), type, data });
      isWaitForChildren = false;
      continue;
    }
    if (type === "tool-reserved" && callsOfChildren.has(data["callId"])) {
      const isAgain = reserved.get(data["callId"]) === "suspended";
      reserved.set(data["callId"], "reserved");
      if (isAgain) continue;
    }
    kept.push({ key, type, data: erase(type, data) });
  }
  return inOrderOfCalls(kept, ({ type, data }) => type === "child-end" || (type === "tool-result" && callsOfChildren.has(data["callId"])));
}

/** Puts those of a turn that are chosen into the order of their calls, in the places that they have; those of one call stay in order. */
function inOrderOfCalls(
  records: readonly NormalisedRecord[],
  isChosen: (record: NormalisedRecord) => boolean,
): readonly NormalisedRecord[] {
  const turnOf = ({ key }: NormalisedRecord): string => key.split("/call/")[0] as string;
  const callOf = ({ key }: NormalisedRecord): string => key.split("/call/")[1]?.split("/")[0] ?? "";
  const chosen = Map.groupBy(records.filter(isChosen), turnOf);
  for (const ofTurn of chosen.values()) ofTurn.sort((a, b) => (callOf(a) < callOf(b) ? -1 : callOf(a) > callOf(b) ? 1 : 0));
  return records.map((record) => (isChosen(record) ? (chosen.get(turnOf(record))?.shift() as NormalisedRecord) : record));
}

function withoutNumber(key: string): string {
  return key.replace(/\d+$/, "*");
}

function erase(type: string, data: JsonObject): JsonObject {
  const members = ERASED_MEMBERS.filter(({ of }) => of.includes(type)).map(({ member }) => member);
  return members.length === 0 ? data : (without(data, members) as JsonObject);
}

function without(value: JsonValue, members: readonly string[]): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => without(item, members));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, members.includes(name) ? "*" : without(part ?? null, members)]),
  );
}
