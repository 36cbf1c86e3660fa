import type { BlobStore, BudgetLedger, BudgetScope, Scope, StateStore } from "@keelson/protocol";
import { StateError, usd } from "@keelson/protocol";

/** The stores of one place, as far as there are such. */
export interface WrittenStores extends AsyncDisposable {
  readonly state: StateStore;
  readonly blobs?: BlobStore;
  readonly ledger?: BudgetLedger;
}

export const SCOPE: Scope = { type: "global" };
export const PAID: BudgetScope = { id: "run", maxCost: usd("1000000") };
// Long enough for several writes to the file.
const FILL = "x".repeat(20_000);

export function textOf(writer: string, round: number): string {
  return `${FILL}${writer}${round}`;
}

/**
 * Writes to stores until it is killed: a writer's own keys, a number that all writers count up, a blob, and what it paid. Says each write that was
 * resolved.
 */
export async function writeWithoutEnd({ state, blobs, ledger }: WrittenStores, writer: string, from: number): Promise<never> {
  for (let round = from; ; round++) {
    await state.write(SCOPE, `${writer}/${round % 5}`, { round, text: textOf(writer, round) });
    await say(`own ${round}`);
    for (;;) {
      const count = await state.read(SCOPE, "count");
      try {
        await state.write(SCOPE, "count", Number(count?.value ?? 0) + 1, { ifVersion: count?.version ?? 0 });
        await say("counted");
        break;
      } catch (error) {
        if (!StateError.is(error, "conflict")) throw error;
      }
    }
    if (blobs !== undefined) await say(`blob ${round} ${await blobs.put(Buffer.from(textOf(writer, round)))}`);
    if (ledger === undefined) continue;
    const key = `${writer}/${round}`;
    const reservation = await ledger.reserve(key, [PAID], usd("1"));
    if (reservation.type !== "reserved") throw new Error(`Nothing is spent that much, and yet: ${reservation.type}`);
    await ledger.settle(key, usd("1"));
    await say(`paid ${round}`);
  }
}

/** Waits until it is handed over: whoever reads slowly would else be told of none of the writes that follow, which never let the event loop go on. */
function say(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}
