import type { Authority, JsonObject, LogRecord, NewRecord, SessionId } from "@keelson/protocol";
import type { Missed, ScheduleId } from "./scheduler.ts";

/** What was asked for, checked and with nothing left open. */
export type ScheduleTerms = {
  readonly id: ScheduleId;
  readonly session: SessionId;
  readonly agent: string;
  readonly action: string;
  readonly key: string;
  readonly missed: Missed;
  readonly authority?: Authority;
  /** Unix ms, of one that fires once. */
  readonly at?: number;
  readonly cron?: string;
  readonly timeZone?: string;
};

export interface ScheduleState {
  readonly terms: ScheduleTerms;
  /** Instants up to here are dealt with. Unix ms. */
  dealtUpTo: number;
  firedAt?: number;
  /** Instants that fired and that no run has read yet, with their places in the session's inbox. */
  readonly pending: Map<number, number>;
}

/** The fold of the schedules' log. */
export interface ScheduleTable {
  readonly live: Map<string, ScheduleState>;
  /** When those that are over ended (Unix ms), so that asking for one again is known as such. */
  readonly over: Map<string, number>;
  /** The log was closed at this time: what follows stands in the next one. */
  closedAt?: number;
}

/** How long a schedule that is over is known, at least, and how many of them at most. */
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;
const MAX_REMEMBERED = 10_000;

export function emptyTable(): ScheduleTable {
  return { live: new Map(), over: new Map() };
}

type FiredData = {
  readonly id: string;
  readonly at: number;
  readonly entry: number;
  readonly delivered: boolean;
};

const folds: { readonly [type: string]: (table: ScheduleTable, data: JsonObject, record: LogRecord) => void } = {
  "schedule": (table, data) => {
    const { terms, dealtUpTo, firedAt, pending } = data as {
      readonly terms: ScheduleTerms;
      readonly dealtUpTo: number;
      readonly firedAt?: number;
      readonly pending: readonly (readonly [number, number])[];
    };
    if (table.live.has(terms.id) || table.over.has(terms.id)) return;
    table.live.set(terms.id, {
      terms,
      dealtUpTo,
      ...(firedAt !== undefined && { firedAt }),
      pending: new Map(pending),
    });
  },
  "schedule-fired": (table, data, record) => {
    const { id, at, entry, delivered } = data as FiredData;
    const schedule = table.live.get(id);
    if (schedule === undefined) return;
    schedule.dealtUpTo = Math.max(schedule.dealtUpTo, at);
    schedule.firedAt = at;
    if (!delivered) schedule.pending.set(at, entry);
    finish(table, schedule, record.at);
  },
  "schedule-delivered": (table, data, record) => {
    const schedule = table.live.get(data["id"] as string);
    schedule?.pending.delete(data["at"] as number);
    if (schedule) finish(table, schedule, record.at);
  },
  "schedule-given-up": (table, data, record) => {
    const schedule = table.live.get(data["id"] as string);
    if (schedule === undefined) return;
    schedule.dealtUpTo = Math.max(schedule.dealtUpTo, data["upTo"] as number);
    finish(table, schedule, record.at);
  },
  "schedule-cancelled": (table, data, record) => {
    if (table.live.delete(data["id"] as string)) table.over.set(data["id"] as string, record.at);
  },
  "schedules-over": (table, data) => {
    for (const [id, at] of data["over"] as readonly (readonly [string, number])[]) table.over.set(id, at);
  },
  "schedules-closed": (table, _data, record) => {
    table.closedAt = record.at;
  },
};

export function applyScheduleRecord(table: ScheduleTable, record: LogRecord): void {
  folds[record.type]?.(table, record.data, record);
}

/** One that fires once is over when it has fired, was read, or was given up. */
function finish(table: ScheduleTable, { terms, dealtUpTo, pending }: ScheduleState, at: number): void {
  if (terms.at === undefined || dealtUpTo < terms.at || pending.size > 0) return;
  table.live.delete(terms.id);
  table.over.set(terms.id, at);
}

/** @param now when it is asked for: the instants of a cron expression begin after it. A time of its own may lie in the past. */
export function scheduleRecord(terms: ScheduleTerms, now: number): NewRecord {
  const dealtUpTo = terms.at === undefined ? now : terms.at - 1;
  return { key: `create/${terms.id}`, type: "schedule", data: { terms, dealtUpTo, pending: [] } };
}

export function cancelRecord(id: string): NewRecord {
  return { key: `cancel/${id}`, type: "schedule-cancelled", data: { id } };
}

export function closingRecord(): NewRecord {
  return { key: "closed", type: "schedules-closed", data: {} };
}

export function firedRecord(data: FiredData): NewRecord {
  return { key: `fired/${data.id}/${data.at}`, type: "schedule-fired", data: { ...data } };
}

export function deliveredRecord(id: string, at: number): NewRecord {
  return { key: `delivered/${id}/${at}`, type: "schedule-delivered", data: { id, at } };
}

export function givenUpRecord(id: string, upTo: number): NewRecord {
  return { key: `given-up/${id}/${upTo}`, type: "schedule-given-up", data: { id, upTo } };
}

/** What the next log begins with: it follows from a closed table alone, so that whoever writes it writes the same. */
export function summaryOf({ live, over, closedAt = 0 }: ScheduleTable): readonly NewRecord[] {
  const remembered = [...over].filter(([, at]) => closedAt - at <= REMEMBERED_MS).slice(-MAX_REMEMBERED);
  return [
    { key: "over", type: "schedules-over", data: { over: remembered } },
    ...[...live.values()].map(({ terms, dealtUpTo, firedAt, pending }): NewRecord => ({
      key: `create/${terms.id}`,
      type: "schedule",
      data: { terms, dealtUpTo, ...(firedAt !== undefined && { firedAt }), pending: [...pending] },
    })),
  ];
}
