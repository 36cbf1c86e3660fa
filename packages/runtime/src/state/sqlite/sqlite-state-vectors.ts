import { parseJson } from "../../json/parse-json.ts";
import { isLinkKey } from "../kit/state-link.ts";
import { embeddedText, type MeaningSearch } from "../kit/search-by-meaning.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** Texts for one request of the embedder, and vectors that are looked at in one go: other work gets its turn in between. */
const BATCH = 200;
/** What SQLite compares itself takes a tenth of the time. */
const NATIVE_BATCH = 2000;

const MISSING = `
  SELECT id, version, key, value FROM state_entries e
  WHERE scope = ?1 AND embedding_model IS NOT ?2 AND id > ?3 ORDER BY id LIMIT ${BATCH}`;
const KEEP = "UPDATE state_entries SET embedding_model = ?3, embedding = ?4 WHERE id = ?1 AND version = ?2";
const SCAN = (wanted: string): string => `
  SELECT e.id, e.embedding FROM state_entries e
  WHERE ${wanted} AND e.embedding_model = ?5 AND e.id > ?6 ORDER BY e.id LIMIT ${BATCH}`;
/** Of vectors of another size, which can't be compared, there is no likeness. */
const SCAN_NATIVE = (wanted: string): string => `
  SELECT e.id, iif(length(e.embedding) = length(?7), 1 - vec_distance_cosine(e.embedding, ?7), 0) AS likeness FROM state_entries e
  WHERE ${wanted} AND e.embedding_model = ?5 AND e.id > ?6 ORDER BY e.id LIMIT ${NATIVE_BATCH}`;

/** Makes vectors of what has none of this model yet: also of what another model made them of before. */
export async function embedMissing(
  database: SqliteDatabase,
  scope: number,
  model: string,
  embed: Parameters<MeaningSearch<number>["embedMissing"]>[0],
): Promise<void> {
  for (let last = 0; ;) {
    const rows = database.read(() => database.prepare(MISSING).all(scope, model, last));
    if (rows.length === 0) return;
    last = rows.at(-1)?.["id"] as number;
    const entries = rows.filter((row) => !isLinkKey(row["key"] as string));
    const texts = entries.map((row) => embeddedText(row["key"] as string, parseJson(row["value"] as string)));
    if (texts.length === 0) continue;
    const vectors = await embed(texts);
    await database.write("process", () => {
      for (const [index, row] of entries.entries()) {
        const vector = vectors[index];
        if (vector !== undefined)
          database.prepare(KEEP).run(row["id"] as number, row["version"] as number, model, bytesOf(normalised(vector)));
      }
    });
    if (vectors.includes(undefined)) return;
  }
}

interface Scored {
  readonly id: number;
  readonly likeness: number;
}

/** What SQLite's own comparisons, of 32-bit floats, may be off. */
const NATIVE_ERROR = 1e-4;

/**
 * The ids of the entries whose vectors point where the query's does, nearest first; those that point away are left out.
 * @param isNative whether SQLite looks for those that come into question: see `hasVectorFunctions`. Which of them are nearest is decided here either way
 */
export async function nearest(
  database: SqliteDatabase,
  wanted: { readonly sql: string; readonly values: readonly (string | number | null)[] },
  model: string,
  query: readonly number[],
  { most, isNative }: { readonly most: number; readonly isNative: boolean },
): Promise<readonly number[]> {
  const sought = normalised(query);
  const scored = (row: { readonly [column: string]: unknown }): Scored => ({
    id: row["id"] as number,
    likeness: isNative ? ((row["likeness"] as number | null) ?? 0) : likenessOf(sought, row["embedding"] as Uint8Array),
  });
  const slack = isNative ? NATIVE_ERROR : 0;
  const sql = isNative ? SCAN_NATIVE(wanted.sql) : SCAN(wanted.sql);
  const more = isNative ? [bytesOf(sought)] : [];
  let best: readonly Scored[] = [];
  for (let last = 0; ;) {
    const rows = database.read(() => database.prepare(sql).all(...wanted.values, model, last, ...more));
    if (rows.length === 0) break;
    last = rows.at(-1)?.["id"] as number;
    best = bestOf([...best, ...rows.map(scored)], most, slack);
    const { promise, resolve } = Promise.withResolvers<void>();
    setImmediate(resolve);
    await promise;
  }
  if (isNative)
    best = bestOf(
      database.read(() => best.flatMap(({ id }) => rescored(database, id, sought))),
      most,
      0,
    );
  return best.map(({ id }) => id);
}

/** Nothing where somebody wrote it anew meanwhile. */
function rescored(database: SqliteDatabase, id: number, sought: Float32Array): readonly Scored[] {
  const embedding = database.prepare("SELECT embedding FROM state_entries WHERE id = ?").get(id)?.["embedding"];
  return embedding instanceof Uint8Array ? [{ id, likeness: likenessOf(sought, embedding) }] : [];
}

/** The `most` best, and those that may be as good for all that `slack` leaves open. */
function bestOf(all: readonly Scored[], most: number, slack: number): readonly Scored[] {
  const sorted = all
    .filter(({ likeness }) => likeness > -slack)
    .toSorted((left, right) => right.likeness - left.likeness || left.id - right.id);
  const last = sorted[most - 1]?.likeness ?? Number.NEGATIVE_INFINITY;
  return sorted.filter(({ likeness }, index) => index < most || likeness > last - 2 * slack);
}

/** The cosine of the angle between two vectors of length 1; nothing of vectors that differ in size. */
function likenessOf(sought: Float32Array, bytes: Uint8Array): number {
  if (bytes.byteLength !== sought.byteLength) return 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = 0;
  for (let index = 0; index < sought.length; index++) sum += (sought[index] as number) * view.getFloat32(index * 4, true);
  return sum;
}

function normalised(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (part) => (length === 0 ? 0 : part / length));
}

function bytesOf(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.byteLength);
  const view = new DataView(bytes.buffer);
  for (const [index, part] of vector.entries()) view.setFloat32(index * 4, part, true);
  return bytes;
}
