import type { LogId } from "@keelson/protocol";
import { unpackTexts } from "keelson/state/kit";
import type { Row } from "./connection/connection.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { damagedLog } from "./postgres-record-row.ts";

/** The data of records that were sealed. The segment that was opened last stays open, since neighbours are read together. */
export interface PostgresSegments {
  /** @returns the row with its data, or nothing where no segment holds the record: its log was deleted meanwhile, or is damaged. @throws LogError `corrupt` */
  restore(log: LogId, id: string, row: Row): Promise<Row | undefined>;
}

interface OpenedSegment {
  readonly id: string;
  readonly first: number;
  readonly texts: readonly string[];
}

export function createPostgresSegments(database: PostgresDatabase): PostgresSegments {
  const find = `
    SELECT first, last, sha256, bytes FROM ${database.schema}.segments
    WHERE log = $1::text::bigint AND first <= $2::text::bigint AND last >= $2::text::bigint ORDER BY first DESC LIMIT 1`;
  let opened: OpenedSegment | undefined;

  async function open(log: LogId, id: string, seq: number): Promise<OpenedSegment | undefined> {
    const [row] = await database.query(find, [id, String(seq)]);
    if (row === undefined) return undefined;
    const { sha256, bytes } = row;
    const [first, last] = [Number(row["first"]), Number(row["last"])];
    const texts = sha256 instanceof Uint8Array && bytes instanceof Uint8Array ? await unpackTexts({ sha256, bytes }) : undefined;
    if (texts?.length === last - first + 1) return { id, first, texts };
    const reason = `the segment that holds records ${first} to ${last} is not what was sealed, and none of them can be read`;
    throw damagedLog(log, database.where, first, reason);
  }

  return {
    async restore(log, id, row) {
      const seq = Number(row["seq"]);
      if (opened?.id !== id || opened.texts[seq - opened.first] === undefined) opened = await open(log, id, seq);
      const data = opened?.texts[seq - opened.first];
      return data === undefined ? undefined : { ...row, data };
    },
  };
}
