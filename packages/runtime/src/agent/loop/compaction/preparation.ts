import type { Foldable } from "../../../context/room/fold-into-summary.ts";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

/** A summary that is made beside the turn. */
export interface Preparation {
  readonly parts: Foldable;
  /** Never rejects. Nothing where it was ended before it was there. */
  readonly summary: Promise<string | undefined>;
  end(): void;
}

export const PREPARATION: PartKey<Preparation> = new PartKey<Preparation>("preparation of a compaction");

export function besideKey(turn: string): string {
  return `${turn}/compact/beside`;
}

/** A run that ends has no use for it; one that waits for others waits for it first. */
export async function leavePreparation({ parts }: Loop, how: "end" | "wait"): Promise<void> {
  const preparation = parts.get(PREPARATION);
  if (how === "end") preparation?.end();
  await preparation?.summary;
}
