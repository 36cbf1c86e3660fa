import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Digest } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { seed } from "../../../../test/tier.ts";
import { randomNumbers } from "./random-numbers.ts";
import { PAID, SCOPE, textOf, type WrittenStores } from "./write-without-end.ts";

export interface KilledWriters {
  readonly rounds: number;
  readonly open: () => Promise<WrittenStores> | WrittenStores;
  /** A program that writes to the same place, with what it is told beside its name and the number of its first round. */
  readonly program: string;
  readonly args: () => readonly string[];
  /** Resolves when nothing of the killed goes on. */
  readonly areGone?: () => Promise<void>;
  /** Beside what the stores themselves say. */
  readonly checkPlace?: () => void;
}

/** What a writer said before it was killed. */
interface Said {
  readonly writer: string;
  /** The last round of its own keys. */
  readonly own: number;
  readonly counted: number;
  readonly paid: number;
  readonly blobs: readonly { readonly round: number; readonly digest: Digest }[];
}

/** Two processes write to a place and are killed, again and again: what they said was written is there, and nothing in part. */
export function describeKilledWriters(title: string, { rounds, open, program, args, areGone, checkPlace }: KilledWriters): void {
  const writeUntilKilled = async (writer: string, from: number, lines: number): Promise<Said> => {
    const child = spawn(process.execPath, ["--conditions=source", program, ...args(), writer, String(from)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    return readSaid(child, writer, from, lines);
  };

  describe(title, () => {
    it(
      "keep each write that was resolved, and none in part, whenever the writers are killed [ST-01, ST-09]",
      { timeout: 60_000 + rounds * 6_000 },
      async () => {
        const random = randomNumbers(seed);
        const next = { a: 0, b: 0 };
        let counted = 0;
        let paid = 0;
        for (let round = 0; round < rounds; round++) {
          const where = `seed ${seed}, round ${round}`;
          const said = await Promise.all(
            (["a", "b"] as const).map((writer) => writeUntilKilled(writer, next[writer], 1 + Math.floor(random() * 60))),
          );
          await areGone?.();
          await using stores = await open();
          for (const { writer, own, blobs, ...one } of said) {
            counted += one.counted;
            paid += one.paid;
            const last = await lastRoundOf(stores, writer);
            // What was on its way may be there or not; what was said is.
            expect(last, where).toBeGreaterThanOrEqual(own);
            expect(last, where).toBeLessThanOrEqual(own + 1);
            next[writer as "a" | "b"] = last + 1;
            for (const { round: at, digest } of blobs)
              expect(Buffer.from((await stores.blobs?.get(digest)) ?? []).toString() === textOf(writer, at), where).toBe(true);
          }
          const count = Number((await stores.state.read(SCOPE, "count"))?.value ?? 0);
          expect(count, where).toBeGreaterThanOrEqual(counted);
          expect(count, where).toBeLessThanOrEqual(counted + 2);
          counted = count;
          if (stores.ledger !== undefined) {
            // Of each of the killed one payment may have been on its way.
            const spent = Number(await stores.ledger.spent(PAID.id));
            expect(spent, where).toBeGreaterThanOrEqual(paid);
            expect(spent, where).toBeLessThanOrEqual(paid + 2 * (round + 1));
          }
          expect((await stores.state.list(SCOPE, "")).length).toBeLessThanOrEqual(12);
          // The next round's writers are not kept out by what the last one's left.
          expect(await stores.state.write(SCOPE, "after", round)).toBe(round + 1);
        }
        checkPlace?.();
      },
    );
  });
}

async function readSaid(child: ChildProcess, writer: string, from: number, lines: number): Promise<Said> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (more: string) => {
    text += more;
    if (text.split("\n").length > lines) child.kill("SIGKILL");
  });
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  expect(signal).toBe("SIGKILL");
  const said = text.split("\n").slice(0, -1);
  const count = (word: string): number => said.filter((line) => line.startsWith(word)).length;
  return {
    writer,
    own: Number(said.findLast((line) => line.startsWith("own "))?.slice(4) ?? from - 1),
    counted: count("counted"),
    paid: count("paid "),
    blobs: said
      .map((line) => line.split(" "))
      .flatMap(([word, round, digest]) => (word === "blob" ? [{ round: Number(round), digest: digest as Digest }] : [])),
  };
}

async function lastRoundOf({ state }: WrittenStores, writer: string): Promise<number> {
  let last = -1;
  for (let slot = 0; slot < 5; slot++) {
    const kept = (await state.read(SCOPE, `${writer}/${slot}`))?.value as { round: number; text: string } | undefined;
    if (kept === undefined) continue;
    expect(kept.text === textOf(writer, kept.round)).toBe(true);
    expect(kept.round % 5).toBe(slot);
    last = Math.max(last, kept.round);
  }
  return last;
}
